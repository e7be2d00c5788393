package clientconfig

import (
	"slices"

	"github.com/tailscale/hujson"
)

// found is one server entry of a document.
type found struct {
	project string // the key of its projects block; only where inProject
	inProj  bool
	name    string
	key     []byte // the name as it is spelled in the file
	keyAt   int
	value   hujson.Value
}

// foreign are the layouts of other clients. A file of one of these is refused by name rather than called empty.
var foreign = []struct{ key, whose string }{
	{"servers", "VS Code"},
	{"context_servers", "Zed"},
	{"mcp", "opencode or Crush"},
	{"amp.mcpServers", "Amp"},
	{"mcp_servers", "Codex"},
	{"extensions", "Goose"},
}

// entries returns every server entry of the file, in file order: those of mcpServers, and those of each project block
// that Claude Code keeps. Two members of one name anywhere on the way to an entry are refused (C19): clients disagree
// on which one wins, so half of the file would run unwrapped.
func (d *document) entries() ([]found, error) {
	if d.empty {
		return nil, nil
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, d.refuse(d.root.StartOffset, "it is not a JSON object")
	}
	servers, err := d.only(root, "mcpServers")
	if err != nil {
		return nil, err
	}
	projects, err := d.only(root, "projects")
	if err != nil {
		return nil, err
	}
	out, err := d.block(nil, servers, found{})
	if err != nil {
		return nil, err
	}
	if out, err = d.projects(out, projects); err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b found) int { return a.keyAt - b.keyAt })
	if len(out) > 0 || servers != nil {
		return out, nil
	}
	return nil, d.refuseForeign()
}

// projects adds the entries of Claude Code's project blocks.
func (d *document) projects(out []found, member *hujson.ObjectMember) ([]found, error) {
	if member == nil {
		return out, nil
	}
	all, ok := member.Value.Value.(*hujson.Object)
	if !ok {
		return out, nil // some other program's projects
	}
	if err := d.unique(all); err != nil {
		return nil, err
	}
	for i := range all.Members {
		project, ok := all.Members[i].Value.Value.(*hujson.Object)
		if !ok {
			continue
		}
		servers, err := d.only(project, "mcpServers")
		if err != nil {
			return nil, err
		}
		in := found{inProj: true, project: textOf(all.Members[i].Name)}
		if out, err = d.block(out, servers, in); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// block adds the entries of one mcpServers object; like says which block it is.
func (d *document) block(out []found, member *hujson.ObjectMember, like found) ([]found, error) {
	if member == nil || isNull(member.Value) {
		return out, nil
	}
	servers, ok := member.Value.Value.(*hujson.Object)
	if !ok {
		return nil, d.refuse(member.Value.StartOffset, "mcpServers is not an object")
	}
	if err := d.unique(servers); err != nil {
		return nil, err
	}
	for i := range servers.Members {
		m := &servers.Members[i]
		if entry, ok := m.Value.Value.(*hujson.Object); ok {
			if err := d.unique(entry); err != nil {
				return nil, err
			}
		}
		e := like
		e.name, e.key, e.keyAt, e.value = textOf(m.Name), m.Name.Value.(hujson.Literal), m.Name.StartOffset, m.Value
		out = append(out, e)
	}
	return out, nil
}

// only returns the one member called name, or nil.
func (d *document) only(o *hujson.Object, name string) (*hujson.ObjectMember, error) {
	var got *hujson.ObjectMember
	for i := range o.Members {
		m := &o.Members[i]
		if textOf(m.Name) != name {
			continue
		}
		if got != nil {
			return nil, d.twice(name, got.Name.StartOffset, m.Name.StartOffset)
		}
		got = m
	}
	return got, nil
}

func (d *document) unique(o *hujson.Object) error {
	first := make(map[string]int, len(o.Members))
	for i := range o.Members {
		name := textOf(o.Members[i].Name)
		if at, ok := first[name]; ok {
			return d.twice(name, at, o.Members[i].Name.StartOffset)
		}
		first[name] = o.Members[i].Name.StartOffset
	}
	return nil
}

func (d *document) twice(name string, first, second int) error {
	line, column := d.place(first)
	r := d.refuse(second, "%q stands here for the second time (the first is at %d:%d), and clients disagree on which one wins", name, line, column)
	r.Hint = "keep one of them"
	return r
}

// refuseForeign refuses a file without mcpServers that keeps its servers elsewhere, and is content with any other.
func (d *document) refuseForeign() error {
	key, whose, at := d.foreign()
	if key == "" {
		return nil
	}
	r := d.refuse(at, "its servers stand in %q, the layout of %s, which is not supported yet", key, whose)
	r.Hint = byHand
	return r
}

// byHand is what to do about a layout that is not supported.
const byHand = "put Bouncer in front by hand: bouncer run --name NAME -- COMMAND ARGS..."

// foreign returns the first member of the file that holds servers in another client's layout, whose layout that is,
// and where it stands; "" if there is none.
func (d *document) foreign() (key, whose string, at int) {
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return "", "", 0
	}
	for _, f := range foreign {
		for i := range root.Members {
			if m := &root.Members[i]; textOf(m.Name) == f.key && holdsServers(m.Value) {
				return f.key, f.whose, m.Name.StartOffset
			}
		}
	}
	return "", "", 0
}

// holdsServers reports whether v looks like a map or list of servers.
func holdsServers(v hujson.Value) bool {
	var values []hujson.Value
	switch v := v.Value.(type) {
	case *hujson.Object:
		for i := range v.Members {
			values = append(values, v.Members[i].Value)
		}
	case *hujson.Array:
		values = v.Elements
	}
	for _, value := range values {
		for _, name := range []string{"command", "cmd", "url", "uri", "httpUrl", "serverUrl"} {
			if _, ok := member(value, name); ok {
				return true
			}
		}
	}
	return false
}

// member returns the first member of v called name.
func member(v hujson.Value, name string) (hujson.ObjectMember, bool) {
	if i := memberIndex(v, name); i >= 0 {
		return v.Value.(*hujson.Object).Members[i], true
	}
	return hujson.ObjectMember{}, false
}

func memberIndex(v hujson.Value, name string) int {
	if o, ok := v.Value.(*hujson.Object); ok {
		for i := range o.Members {
			if textOf(o.Members[i].Name) == name {
				return i
			}
		}
	}
	return -1
}

// textOf returns the decoded text of a string, and of anything else nothing.
func textOf(v hujson.Value) string {
	text, _ := stringOf(v)
	return text
}

func stringOf(v hujson.Value) (string, bool) {
	if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' {
		return lit.String(), true
	}
	return "", false
}

func isNull(v hujson.Value) bool {
	lit, ok := v.Value.(hujson.Literal)
	return ok && lit.Kind() == 'n'
}
