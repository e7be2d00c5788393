package clientconfig

import (
	"slices"

	"github.com/tailscale/hujson"
)

// found is one server entry of a document.
type found struct {
	block   string // the layout that it stands in, by its key
	project string // the key of its projects block; only where inProj
	inProj  bool
	name    string
	key     []byte       // the name as it is spelled in a JSON file
	keyAt   int          // where the name stands
	value   hujson.Value // what of it may be edited, read as JSON
	outer   hujson.Value // all of it
	form    form
	parts   *parts // where its words stand; in TOML and YAML only
	index   int    // its place in a list of servers; in TOML and YAML only, else -1
	from    int    // the text that an edit may change
	to      int
	why     string // why it cannot be edited whatever it says
}

// form is how an entry spells what it starts.
type form struct {
	key    string // the member that names the program
	list   bool   // its arguments stand in the same member
	inline bool   // it bears no sentinel: all that is known is in the arguments
}

// entries returns every server entry of the file, in file order: those of each layout that the client reads, and those of
// each project block that Claude Code keeps. Two members of one name anywhere on the way to an entry are refused (C19):
// clients disagree on which one wins, so half of the file would run unwrapped.
func (d *document) entries() ([]found, error) {
	if d.empty {
		return nil, nil
	}
	if d.read != nil {
		return d.read()
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, d.refuse(d.root.StartOffset, "it is not a JSON object")
	}
	var out []found
	some := false
	for _, l := range layouts {
		if !d.readsAny(root, l.key) {
			continue
		}
		servers, err := d.only(root, l.key)
		if err != nil {
			return nil, err
		}
		some = true
		if out, err = d.block(out, servers, found{block: l.key, form: form{inline: l.inline || d.client.inline}}); err != nil {
			return nil, err
		}
	}
	if !d.named || d.client.name == "claude-code" {
		projects, err := d.only(root, "projects")
		if err != nil {
			return nil, err
		}
		if out, err = d.projects(out, projects); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b found) int { return a.keyAt - b.keyAt })
	if len(out) > 0 || some {
		return out, nil
	}
	return nil, d.refuseForeign()
}

// reads reports whether the client of the file takes its servers from a layout. Where it is not known whose file it is,
// whatever holds servers is some client's.
func (d *document) reads(key string, v hujson.Value) bool {
	switch {
	case !d.named:
		_, object := v.Value.(*hujson.Object)
		return key == "mcpServers" || object && holdsServers(v)
	case len(d.client.keys) == 0:
		return key == "mcpServers"
	default:
		return slices.Contains(d.client.keys, key)
	}
}

func (d *document) readsAny(root *hujson.Object, key string) bool {
	return slices.ContainsFunc(root.Members, func(m hujson.ObjectMember) bool { return textOf(m.Name) == key && d.reads(key, m.Value) })
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
		in := found{block: "mcpServers", inProj: true, project: textOf(all.Members[i].Name)}
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
		return nil, d.refuse(member.Value.StartOffset, "%s is not an object", like.block)
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
		e.name, e.key, e.keyAt = textOf(m.Name), m.Name.Value.(hujson.Literal), m.Name.StartOffset
		if err := d.formOf(&e, m.Value); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// formOf says how an entry spells its command. Zed once kept path and args in an object called command; opencode keeps
// program and arguments in one list.
func (d *document) formOf(e *found, v hujson.Value) error {
	e.value, e.outer, e.form.key, e.index = v, v, "command", -1
	command, ok := member(v, "command")
	if ok && e.form.inline {
		switch inner := command.Value.Value.(type) {
		case *hujson.Array:
			e.form.list = true
		case *hujson.Object:
			if err := d.unique(inner); err != nil {
				return err
			}
			e.value, e.form.key = command.Value, "path"
		}
	}
	e.from, e.to = e.value.StartOffset, e.value.EndOffset
	return nil
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

// refuseForeign refuses a file whose client finds no servers in it while they stand in another's layout, and is content
// with any other.
func (d *document) refuseForeign() error {
	l, at := d.foreign()
	if l.key == "" {
		return nil
	}
	whose := "Bouncer"
	if d.named && d.client.title != "" {
		whose = d.client.title
	}
	r := d.refuse(at, "its servers stand in %q, the layout of %s, in a way that %s does not read", l.key, l.whose, whose)
	r.Hint = byHand
	return r
}

// byHand is what to do about a layout that is not supported.
const byHand = "put Bouncer in front by hand: bouncer run --name NAME -- COMMAND ARGS..."

// foreign returns the first layout in which the file holds servers that entries passes over, and where it stands.
func (d *document) foreign() (layout, int) {
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return layout{}, 0
	}
	for _, l := range layouts {
		for i := range root.Members {
			if m := &root.Members[i]; textOf(m.Name) == l.key && !d.reads(l.key, m.Value) && holdsServers(m.Value) {
				return l, m.Name.StartOffset
			}
		}
	}
	return layout{}, 0
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
