package casefile

import (
	"regexp"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

// jsonNumber is the grammar of a JSON number. What YAML calls a number beyond that (0x1f, .5, 1_000, .inf) has no JSON
// spelling of its own, and guessing one would test another call than the one that was written.
var jsonNumber = regexp.MustCompile(`\A-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\z`)

// json returns a YAML value as JSON, members in file order and numbers as they are spelled.
func (r *reader) json(n *yaml.Node) string { return string(r.appendJSON(nil, n)) }

// object is json for what has to be an object.
func (r *reader) object(n *yaml.Node, what string) string {
	if n.Kind != yaml.MappingNode {
		r.at(n, "%s must be a mapping, not %s", what, load.KindOf(n))
		return "{}"
	}
	return r.json(n)
}

func (r *reader) appendJSON(b []byte, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		for i, f := range r.fields(n, "an object") {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, jsonrpc.Quote(f.key)...), ':')
			b = r.appendJSON(b, f.node)
		}
		return append(b, '}')
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, item := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			b = r.appendJSON(b, item)
		}
		return append(b, ']')
	}
	return r.appendScalar(b, n)
}

func (r *reader) appendScalar(b []byte, n *yaml.Node) []byte {
	switch n.Tag {
	case "!!null":
		return append(b, "null"...)
	case "!!bool":
		if r.truth(n, "the value") {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case "!!int", "!!float":
		if !jsonNumber.MatchString(n.Value) {
			r.at(n, "%s is no JSON number: put it in quotes, or write it in plain decimal", show(n.Value))
			return append(b, '0')
		}
		return append(b, n.Value...)
	}
	return append(b, jsonrpc.Quote(n.Value)...)
}
