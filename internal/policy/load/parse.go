package load

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Document reads data as one plain YAML document: no anchors, aliases, tags or merge keys, each of which lets a file say
// something else than what stands at the place where a person looks. kind names the file in messages ("a policy"). The
// node is nil when the file is empty or broken; what is broken is in the list.
func Document(name, kind string, data []byte) (*yaml.Node, []Error) {
	r := newReader(name, data)
	r.kind = kind
	return r.parse(data), r.errs
}

// parse reads data as one YAML document without anchors, aliases, tags and merge keys: each lets a file say something
// else than what stands at the place where a person looks. It returns nil when the file is empty or broken.
func (r *reader) parse(data []byte) *yaml.Node {
	if !r.readable(data) {
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		r.at(1, 1, "not YAML: %s", err)
		return nil
	}
	var doc, more yaml.Node
	if err := loader.Load(&doc); err != nil {
		if !errors.Is(err, io.EOF) {
			r.syntax(err)
		}
		return nil
	}
	switch err := loader.Load(&more); {
	case err == nil:
		r.at(more.Line, more.Column, "%s is one YAML document; a second one starts here", r.kind)
	case !errors.Is(err, io.EOF):
		r.syntax(err)
	}
	if len(r.errs) > 0 || len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	r.plain(root)
	if len(r.errs) > 0 || isNull(root) {
		return nil
	}
	return root
}

// readable refuses what is not UTF-8 text of a sensible size.
func (r *reader) readable(data []byte) bool {
	switch {
	case len(data) > maxSize:
		r.at(1, 1, "larger than %d bytes: no %s needs that", maxSize, strings.TrimPrefix(r.kind, "a "))
	case utf16(data):
		r.at(1, 1, "the file is UTF-16: save it as UTF-8")
	case !utf8.Valid(data):
		line, column := 1, 1
		for rest := data; len(rest) > 0; {
			c, size := utf8.DecodeRune(rest)
			if c == utf8.RuneError && size == 1 {
				break
			}
			rest = rest[size:]
			column++
			if c == '\n' {
				line, column = line+1, 1
			}
		}
		r.at(line, column, "not UTF-8")
	default:
		return true
	}
	return false
}

func utf16(data []byte) bool {
	if len(data) < 2 {
		return false
	}
	return data[0] == 0xff && data[1] == 0xfe || data[0] == 0xfe && data[1] == 0xff || data[0] == 0 || data[1] == 0
}

func (r *reader) syntax(err error) {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		r.at(1, 1, "not YAML: %s", err)
		return
	}
	r.at(e.Mark.Line, e.Mark.Column, "not YAML: %s", strings.TrimPrefix(e.Message, "yaml: "))
}

// plain refuses everything that does not stand for itself.
func (r *reader) plain(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		r.at(n.Line, n.Column, "aliases are not allowed: write the value out")
		return
	case n.Anchor != "":
		r.at(n.Line, n.Column, "anchors are not allowed: write the value out where it is needed")
	case n.Style&yaml.TaggedStyle != 0:
		r.at(n.Line, n.Column, "tags are not allowed: drop %s", show(n.Tag))
	case n.Kind == yaml.ScalarNode && n.Tag == "!!merge":
		r.at(n.Line, n.Column, "merge keys are not allowed: write the keys out")
	}
	for _, c := range n.Content {
		r.plain(c)
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// KindOf says what a node is, for people.
func KindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!str", "!!timestamp":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	}
	return strings.TrimPrefix(n.Tag, "!!")
}
