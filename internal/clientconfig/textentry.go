package clientconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// textEntry is a server of a TOML or YAML file while it is read.
type textEntry struct {
	block   string // the layout that it stands in
	name    string
	keyAt   int
	index   int // its place in a list of servers, else -1
	members []textMember
	outer   hujson.Value // for an entry that is no table
	why     string
}

// textMember is one member of an entry, with its places in the text.
type textMember struct {
	name     string
	keyAt    int // where its key begins, dots and all
	last     int // where the last part of its key does
	from, to int // its value
	value    hujson.Value
	assign   string // between a key and its value
	braces   bool   // it stands between braces, so that a comma separates it
	dash     string // of a list with a line a word: what stands in front of the word
}

func newTextEntry(block, name string, keyAt int) *textEntry {
	return &textEntry{block: block, name: name, keyAt: keyAt, index: -1}
}

// finish turns what a reader has collected into entries, and refuses those that stand twice.
func (d *document) finish(entries []*textEntry) ([]found, error) {
	var out []found
	first := map[[2]string]int{}
	for _, t := range entries {
		if t.index >= 0 { // a list names its servers inside
			m := t.member("name")
			if m != nil {
				t.name = textOf(m.value)
			}
			if t.name == "" {
				t.name = fmt.Sprintf("#%d", t.index+1)
			}
		}
		f, err := d.fromText(t)
		if err != nil {
			return nil, err
		}
		key := [2]string{f.block, f.name}
		if at, ok := first[key]; ok {
			return nil, d.twice(f.name, at, f.keyAt)
		}
		first[key] = f.keyAt
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b found) int { return a.keyAt - b.keyAt })
	apart(out)
	return out, nil
}

// fromText reads an entry as if it stood in a JSON file.
func (d *document) fromText(t *textEntry) (found, error) {
	f := found{block: t.block, name: t.name, keyAt: t.keyAt, index: t.index, why: t.why, form: form{key: "command", inline: true}}
	f.from, f.to, f.parts = t.keyAt, t.keyAt, &parts{}
	if f.value, f.outer = t.outer, t.outer; t.outer.Value != nil {
		return f, nil
	}
	object := &hujson.Object{}
	for _, m := range t.members {
		name := m.name
		if name == "cmd" { // Goose's word
			name = "command"
		}
		object.Members = append(object.Members, hujson.ObjectMember{
			Name: hujson.Value{Value: hujson.String(name), StartOffset: m.keyAt}, Value: m.value,
		})
	}
	if err := d.unique(object); err != nil {
		return f, err
	}
	f.value.Value, f.outer.Value = object, object
	d.locate(&f, t)
	return f, nil
}

// locate says where the words of an entry stand, and what an edit may touch.
func (d *document) locate(f *found, t *textEntry) {
	p := f.parts
	command, args := t.member("command", "cmd"), t.member("args")
	if command == nil {
		return // nothing to put Bouncer in front of
	}
	f.from, f.to = command.start(d.text), command.to
	if _, f.form.list = command.value.Value.(*hujson.Array); f.form.list {
		p.list, args = d.wordList(command), nil
	} else {
		p.command = piece{command.from, command.to}
		if strings.ContainsAny(string(d.text[command.from:command.to]), "\r\n") {
			f.why = "its command is spelled over several lines: write it in one"
		}
	}
	prefix := string(d.text[command.keyAt:command.last])
	if command.braces {
		p.insert, p.lead = command.to, ", "+prefix+"args"+command.assign
	} else {
		p.insert = lineEnd(d.text, command.to)
		p.lead = eolOf(d.text) + command.indent(d.text) + prefix + "args" + command.assign
	}
	if args != nil {
		p.list, p.cut = d.wordList(args), args.cut(d.text, command.keyAt < args.keyAt)
		f.from, f.to = min(f.from, args.start(d.text), p.cut.from), max(f.to, args.to, p.cut.to)
	}
	f.to = max(f.to, p.insert)
	if p.list != nil && p.list.dash != "" {
		last := p.list.words[len(p.list.words)-1].to
		f.to = max(f.to, min(len(d.text), lineEnd(d.text, last)+len(p.list.eol)))
	}
}

func (t *textEntry) member(names ...string) *textMember {
	for i := range t.members {
		if slices.Contains(names, t.members[i].name) {
			return &t.members[i]
		}
	}
	return nil
}

// wordList returns the words of a list, or nil where the value is none.
func (d *document) wordList(m *textMember) *wordList {
	list, ok := m.value.Value.(*hujson.Array)
	if !ok || m.dash != "" && len(list.Elements) == 0 {
		return nil
	}
	l := &wordList{open: m.from + 1, dash: m.dash, eol: eolOf(d.text)}
	for _, e := range list.Elements {
		l.words = append(l.words, piece{e.StartOffset, e.EndOffset})
	}
	return l
}

// start is where what an edit may touch begins: with the line, where the member has lines of its own.
func (m *textMember) start(text []byte) int {
	if at := lineStart(text, m.keyAt); !m.braces && isSpace(text[at:m.keyAt]) {
		return at
	}
	return m.keyAt
}

// indent is the space in front of a member on a line of its own; a dash counts as one.
func (m *textMember) indent(text []byte) string {
	lead := text[lineStart(text, m.keyAt):m.keyAt]
	if isSpace(lead) {
		return string(lead)
	}
	return strings.Repeat(" ", len([]rune(string(lead))))
}

// cut is the whole member, with what separates it from its neighbour. second says that it stands behind the command.
func (m *textMember) cut(text []byte, second bool) piece {
	switch {
	case m.braces && second:
		before := len(strings.TrimRight(string(text[:m.keyAt]), " \t\r\n"))
		if before > 0 && text[before-1] == ',' {
			return piece{before - 1, m.to}
		}
		return piece{m.keyAt, m.to}
	case m.braces:
		if to := skipBlank(text, m.to); to < len(text) && text[to] == ',' {
			return piece{m.keyAt, skipBlank(text, to+1)}
		}
		return piece{m.keyAt, m.to}
	case second:
		return piece{endBefore(text, lineStart(text, m.keyAt)), m.to}
	default:
		return piece{m.start(text), min(len(text), lineEnd(text, m.to)+len(eolOf(text)))}
	}
}

// apart takes entries out of reach whose lines are mixed with another's: an edit of one would touch the other.
func apart(all []found) {
	order := make([]*found, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	slices.SortStableFunc(order, func(a, b *found) int { return a.from - b.from })
	const mixed = "its lines are mixed with those of %q: put them together"
	var last *found // of those before, the one that ends last
	for _, f := range order {
		if last != nil && f.from < last.to && f.from < f.to {
			f.why, last.why = fmt.Sprintf(mixed, last.name), fmt.Sprintf(mixed, f.name)
		}
		if last == nil || f.to > last.to {
			last = f
		}
	}
}
