package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/tailscale/hujson"
)

// maxText is the largest TOML or YAML file that is read: no client keeps anything but settings in one.
const maxText = 1 << 20

// tomlKey is where TOML files keep their servers: Codex in tables, Vibe in a list of them.
const tomlKey = "mcp_servers"

// parseTOML proves that the text is TOML, and finds the entries.
func (d *document) parseTOML() error {
	if len(d.text) > maxText {
		return d.refuse(0, "it has more than %d bytes", maxText)
	}
	var all map[string]any
	if err := toml.Unmarshal(d.text, &all); err != nil { // the reader below builds no tables, so it does not see what stands twice
		return d.brokenTOML(err)
	}
	d.empty = len(all) == 0
	r := &tomlReader{d: d, at: map[string]int{}}
	if err := r.file(); err != nil {
		return d.brokenTOML(err)
	}
	d.read = func() ([]found, error) { return d.finish(r.entries) }
	return nil
}

func (d *document) brokenTOML(err error) error {
	r := &Refused{Path: d.path, Why: "it is not valid TOML", Hint: "mend it by hand; it was not touched"}
	var broken *toml.DecodeError
	if errors.As(err, &broken) {
		r.Line, r.Column = broken.Position()
		r.Why += ": " + Visible(broken.Error())
	}
	return r
}

// tomlReader collects the members of each server, wherever they stand: in its table, in a table inside of it, behind
// dots, or in braces.
type tomlReader struct {
	d       *document
	parser  unstable.Parser
	entries []*textEntry
	at      map[string]int // index in entries, by name
	list    *textEntry     // the one that a [[mcp_servers]] has begun
}

func (r *tomlReader) file() error {
	r.parser.Reset(r.d.text)
	var table []string
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			var keyAt int
			table, keyAt, _ = keyPath(e.Key())
			if e.Kind == unstable.ArrayTable && len(table) == 1 && table[0] == tomlKey {
				r.list = newTextEntry(tomlKey, "", keyAt)
				r.list.index = len(r.entries)
				r.entries = append(r.entries, r.list)
			} else if len(table) > 1 && table[0] == tomlKey && r.list == nil {
				r.server(table[1], keyAt)
			}
		case unstable.KeyValue:
			r.pair(table, e, false)
		}
	}
	return r.parser.Error()
}

// keyPath returns the parts of a dotted key, where it begins, and where its last part stands.
func keyPath(keys unstable.Iterator) (names []string, from int, last piece) {
	from = -1
	for keys.Next() {
		n := keys.Node()
		last = piece{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)}
		if from < 0 {
			from = last.from
		}
		names = append(names, string(n.Data))
	}
	return names, from, last
}

func (r *tomlReader) server(name string, keyAt int) *textEntry {
	i, ok := r.at[name]
	if !ok {
		i = len(r.entries)
		r.at[name] = i
		r.entries = append(r.entries, newTextEntry(tomlKey, name, keyAt))
	}
	return r.entries[i]
}

// pair takes what one KEY = VALUE says of a server. braces says that it stands between some.
func (r *tomlReader) pair(table []string, e *unstable.Node, braces bool) {
	names, from, _ := keyPath(e.Key())
	value := e.Value()
	whole := slices.Concat(table, names)
	if whole[0] != tomlKey {
		return
	}
	switch {
	case r.list != nil && len(whole) >= 2:
		r.member(r.list, whole[1:], e, braces)
	case r.list == nil && len(whole) >= 3:
		r.member(r.server(whole[1], from), whole[2:], e, braces)
	case value.Kind == unstable.InlineTable:
		if len(whole) == 2 {
			r.server(whole[1], from)
		}
		for children := value.Children(); children.Next(); {
			r.pair(whole, children.Node(), true)
		}
	case len(whole) == 2:
		r.server(whole[1], from).outer = hujson.Value{Value: hujson.Literal("null")} // a server that is no table
	case value.Kind == unstable.Array && value.Child().Valid():
		bad := newTextEntry(tomlKey, "", from)
		bad.outer = hujson.Value{Value: hujson.Literal("null")}
		bad.why = "it is a list between brackets, which is not edited: write [[" + tomlKey + "]] for each server"
		r.entries = append(r.entries, bad)
	}
}

// member takes one member of an entry. Of what is deeper nothing is edited or said.
func (r *tomlReader) member(t *textEntry, names []string, e *unstable.Node, braces bool) {
	if len(names) > 1 {
		return
	}
	_, from, last := keyPath(e.Key())
	m := textMember{name: names[0], keyAt: from, last: last.from, assign: " = ", braces: braces}
	equals := last.to + bytes.IndexByte(r.d.text[last.to:], '=')
	m.from = pastSpace(r.d.text, equals+1)
	m.value = tomlValue(e.Value())
	m.to = m.value.EndOffset
	if list, ok := m.value.Value.(*hujson.Array); ok { // whose own place the parser does not keep
		m.to = m.from + 1
		for _, word := range list.Elements {
			m.to = word.EndOffset
		}
		m.to = closing(r.d.text, m.to)
	}
	t.members = append(t.members, m)
}

// closing returns where the list between brackets ends whose last word ends at at.
func closing(text []byte, at int) int {
	if at = skipBlank(text, at); at < len(text) && text[at] == ',' {
		at = skipBlank(text, at+1)
	}
	return min(at+1, len(text))
}

// tomlValue reads a value as JSON has it. What is neither text, truth value, list nor table counts as a number.
func tomlValue(v *unstable.Node) hujson.Value {
	out := hujson.Value{StartOffset: int(v.Raw.Offset), EndOffset: int(v.Raw.Offset + v.Raw.Length)}
	switch v.Kind {
	case unstable.String:
		out.Value = hujson.String(string(v.Data))
	case unstable.Bool:
		out.Value = hujson.Bool(string(v.Data) == "true")
	case unstable.Array:
		list := &hujson.Array{}
		for children := v.Children(); children.Next(); {
			list.Elements = append(list.Elements, tomlValue(children.Node()))
		}
		out.Value = list
	case unstable.InlineTable:
		out.Value = &hujson.Object{}
	default:
		out.Value = hujson.Int(0)
	}
	return out
}

// stripTOML returns what a TOML text says, without the words that an edit may change.
func stripTOML(text []byte, edited []found) (string, error) {
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return "", err
	}
	for _, f := range edited {
		switch servers := all[tomlKey].(type) {
		case map[string]any:
			strip(servers[f.name])
		case []any:
			if f.index < len(servers) {
				strip(servers[f.index])
			}
		}
	}
	return fmt.Sprintf("%#v", all), nil
}

// strip removes the words of a decoded entry.
func strip(entry any) {
	for _, name := range []string{"command", "cmd", "args"} {
		switch entry := entry.(type) {
		case map[string]any:
			delete(entry, name)
		case map[any]any:
			delete(entry, name)
		}
	}
}
