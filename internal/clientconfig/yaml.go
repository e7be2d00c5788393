package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v4"
)

// yamlKeys are where YAML files keep their servers: Continue in a list, Goose in a map.
var yamlKeys = []string{"mcpServers", "extensions"}

// parseYAML proves that the text is one YAML document, and finds the entries.
func (d *document) parseYAML() error {
	if len(d.text) > maxText {
		return d.refuse(0, "it has more than %d bytes", maxText)
	}
	if at := oddBreak(d.text); at >= 0 {
		return d.refuse(at, "a line ends here for some readers of YAML, and not for others")
	}
	root, err := oneDocument(d.text)
	if err != nil {
		return d.brokenYAML(err)
	}
	if d.empty = root == nil; d.empty {
		return nil
	}
	y := &yamlReader{d: d}
	for start := 0; start <= len(d.text); {
		y.lines = append(y.lines, start)
		next := bytes.IndexByte(d.text[start:], '\n')
		if next < 0 {
			break
		}
		start += next + 1
	}
	if err := y.file(root); err != nil {
		return err
	}
	d.read = func() ([]found, error) { return d.finish(y.entries) }
	return nil
}

// oddBreak returns where a character stands that only YAML 1.1 takes for a line end, or a carriage return of its own.
func oddBreak(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == 0x85 || r == 0x2028 || r == 0x2029 || r == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			return i
		}
		i += n
	}
	return -1
}

var errSecondDocument = errors.New("a second document begins in it, and readers disagree on which one counts")

// oneDocument returns the root of the only document, or nil for an empty file.
func oneDocument(text []byte) (*yaml.Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var doc, more yaml.Node
	if err := loader.Load(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := loader.Load(&more); err == nil {
		return nil, errSecondDocument
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].ShortTag() == "!!null" {
		return nil, nil
	}
	return doc.Content[0], nil
}

func (d *document) brokenYAML(err error) error {
	r := &Refused{Path: d.path, Why: "it is not valid YAML", Hint: "mend it by hand; it was not touched"}
	var broken *yaml.LoadError
	switch {
	case errors.Is(err, errSecondDocument):
		r.Why = err.Error()
	case errors.As(err, &broken):
		r.Line, r.Column = broken.Mark.Line, broken.Mark.Column
		r.Why += ": " + Visible(strings.TrimPrefix(broken.Message, "yaml: "))
	}
	return r
}

// yamlReader finds the entries in the nodes, and their places in the text: the nodes know lines and columns.
type yamlReader struct {
	d       *document
	lines   []int // where each begins
	entries []*textEntry
}

func (y *yamlReader) file(root *yaml.Node) error {
	if root.Kind != yaml.MappingNode {
		return y.d.refuse(y.offset(root), "it is not a YAML mapping")
	}
	for _, key := range yamlKeys {
		var block *yaml.Node
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i].Value != key || root.Content[i].Kind != yaml.ScalarNode {
				continue
			}
			if block != nil {
				return y.d.twice(key, y.offset(block), y.offset(root.Content[i]))
			}
			block = root.Content[i+1]
		}
		if block != nil && y.reads(key) {
			if err := y.block(key, block); err != nil {
				return err
			}
		}
	}
	return nil
}

func (y *yamlReader) reads(key string) bool {
	c := y.d.client
	return !y.d.named || len(c.keys) == 0 && key == "mcpServers" || len(c.keys) > 0 && c.keys[0] == key
}

func (y *yamlReader) block(key string, block *yaml.Node) error {
	switch {
	case block.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(block.Content); i += 2 {
			y.entry(newTextEntry(key, block.Content[i].Value, y.offset(block.Content[i])), block.Content[i+1])
		}
	case block.Kind == yaml.SequenceNode:
		for i, n := range block.Content {
			t := newTextEntry(key, "", y.offset(n))
			t.index = i
			y.entry(t, n)
		}
	case block.Kind == yaml.ScalarNode && block.ShortTag() == "!!null":
	default:
		return y.d.refuse(y.offset(block), "%s is neither a list nor a mapping of servers", key)
	}
	return nil
}

func (y *yamlReader) entry(t *textEntry, n *yaml.Node) {
	y.entries = append(y.entries, t)
	if n.Kind != yaml.MappingNode {
		t.outer = hujson.Value{Value: hujson.Literal("null")}
		if n.Kind == yaml.AliasNode {
			t.why = elsewhere
		}
		return
	}
	if tricky(n) {
		t.why = elsewhere
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" || tricky(k) || tricky(v) {
			t.why = elsewhere
		}
		from, value, ok := y.value(v)
		m := textMember{name: k.Value, keyAt: y.offset(k), from: from, value: value, assign: ": ", braces: n.Style&yaml.FlowStyle != 0}
		m.last, m.to = m.keyAt, value.EndOffset
		wanted := k.Value == "command" || k.Value == "cmd" || k.Value == "args"
		if wanted && v.Kind == yaml.SequenceNode && v.Style&yaml.FlowStyle == 0 {
			m.dash, ok = y.dashes(v, ok)
		}
		if wanted && !ok && t.why == "" {
			t.why = fmt.Sprintf("its %s is spelled over several lines, or in another way that is not edited", k.Value)
		}
		t.members = append(t.members, m)
	}
}

const elsewhere = "it uses an anchor, an alias or a tag, so that what it says stands in part elsewhere: write it out"

func tricky(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0
}

// offset returns where a node begins. The columns of nodes count characters.
func (y *yamlReader) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(y.lines) {
		return len(y.d.text)
	}
	at := y.lines[n.Line-1]
	for i := 1; i < n.Column && at < len(y.d.text); i++ {
		_, size := utf8.DecodeRune(y.d.text[at:])
		at += size
	}
	return at
}

// value reads a node as JSON has it, and where it begins. ok: its place in the text is known to the byte.
func (y *yamlReader) value(n *yaml.Node) (from int, v hujson.Value, ok bool) {
	from = y.offset(n)
	v.StartOffset, v.EndOffset, ok = from, from, !tricky(n)
	switch n.Kind {
	case yaml.SequenceNode:
		list := &hujson.Array{}
		for _, c := range n.Content {
			_, word, known := y.value(c)
			ok = ok && known && c.Kind == yaml.ScalarNode
			list.Elements = append(list.Elements, word)
			v.EndOffset = word.EndOffset
		}
		v.Value = list
		if n.Style&yaml.FlowStyle != 0 {
			v.EndOffset = closing(y.d.text, max(v.EndOffset, from+1))
		}
	case yaml.MappingNode:
		v.Value = &hujson.Object{}
	default:
		v.Value = literalOf(n)
		var end int
		if end, ok = y.end(n, from); ok {
			v.EndOffset = end
		}
	}
	return from, v, ok
}

// literalOf returns a scalar as JSON has it. What is neither text nor a truth value counts as a number.
func literalOf(n *yaml.Node) hujson.Literal {
	switch n.ShortTag() {
	case "!!str":
		return hujson.String(n.Value)
	case "!!null":
		return hujson.Literal("null")
	case "!!bool":
		return hujson.Bool(strings.EqualFold(n.Value, "true"))
	default:
		return hujson.Int(0)
	}
}

// end returns where a scalar on one line ends.
func (y *yamlReader) end(n *yaml.Node, from int) (int, bool) {
	text := y.d.text[from:lineEnd(y.d.text, from)]
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		if len(text) == 0 || text[0] != '"' {
			return 0, false
		}
		end := stringEnd(text, 0)
		return from + end + 1, end < len(text)
	case n.Style&yaml.SingleQuotedStyle != 0:
		for i := 1; i < len(text); i++ {
			if text[i] != '\'' {
				continue
			}
			if i+1 < len(text) && text[i+1] == '\'' {
				i++
				continue
			}
			return from + i + 1, text[0] == '\''
		}
		return 0, false
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, false
	default:
		return from + len(n.Value), bytes.HasPrefix(text, []byte(n.Value))
	}
}

// dashes returns what stands in front of the first word of a list that has a line for each.
func (y *yamlReader) dashes(n *yaml.Node, ok bool) (string, bool) {
	if len(n.Content) == 0 {
		return "", false
	}
	at := y.offset(n.Content[0])
	dash := string(y.d.text[lineStart(y.d.text, at):at])
	return dash, ok && strings.Trim(dash, " \t") == "-"
}

// stripYAML returns what a YAML text says, without the words that an edit may change.
func stripYAML(text []byte, edited []found) (string, error) {
	var all map[string]any
	if err := yaml.Load(text, &all); err != nil {
		return "", err
	}
	for _, f := range edited {
		switch servers := all[f.block].(type) {
		case map[string]any:
			strip(servers[f.name])
		case map[any]any:
			strip(servers[f.name])
		case []any:
			if f.index < len(servers) {
				strip(servers[f.index])
			}
		}
	}
	return fmt.Sprintf("%#v", all), nil
}
