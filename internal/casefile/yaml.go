package casefile

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

// maxSize is the largest file that a case reads.
const maxSize = 1 << 20

// reader collects what is wrong with one file while it is read.
type reader struct {
	file string
	errs []load.Error
}

func (r *reader) at(n *yaml.Node, format string, args ...any) {
	r.atPosition(n.Line, n.Column, fmt.Sprintf(format, args...))
}

func (r *reader) atPosition(line, column int, what string) {
	r.errs = append(r.errs, load.Error{At: policy.Position{File: r.file, Line: max(1, line), Column: max(1, column)}, What: what})
}

func (r *reader) result() error {
	if len(r.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(r.errs, func(a, b load.Error) int {
		if a.At.Line != b.At.Line {
			return a.At.Line - b.At.Line
		}
		return a.At.Column - b.At.Column
	})
	return &load.Errors{List: r.errs}
}

// parse reads data as one plain YAML document. It returns nil when there is none.
func (r *reader) parse(data []byte) *yaml.Node {
	root, errs := load.Document(r.file, "a case file", data)
	r.errs = append(r.errs, errs...)
	if root == nil && len(errs) == 0 {
		r.atPosition(1, 1, "the file is empty")
	}
	return root
}

// field is one key of a mapping with its value.
type field struct {
	key        string
	name, node *yaml.Node
}

// fields returns the keys of a mapping in file order. A key twice is an error: a person sees the one and the machine
// takes the other.
func (r *reader) fields(n *yaml.Node, what string) []field {
	if n.Kind != yaml.MappingNode {
		r.at(n, "%s must be a mapping, not %s", what, load.KindOf(n))
		return nil
	}
	var out []field
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		line, twice := first[k.Value]
		switch {
		case k.Kind != yaml.ScalarNode:
			r.at(k, "a key must be text, not %s", load.KindOf(k))
		case twice:
			r.at(k, "duplicate key %s, first on line %d", show(k.Value), line)
		default:
			first[k.Value] = k.Line
			out = append(out, field{k.Value, k, v})
		}
	}
	return out
}

// known returns the values of a mapping whose keys are all in keys. The others are errors that name the nearest one.
func (r *reader) known(n *yaml.Node, what string, keys []string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	for _, f := range r.fields(n, what) {
		if !slices.Contains(keys, f.key) {
			hint := ""
			if near, ok := policy.Nearest(f.key, keys); ok {
				hint = fmt.Sprintf(" (did you mean %q?)", near)
			}
			r.at(f.name, "unknown key %s in %s%s", show(f.key), what, hint)
			continue
		}
		out[f.key] = f.node
	}
	return out
}

// text returns a scalar that stands for text; a bare date, such as a protocol version, is its own text.
func (r *reader) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!timestamp" {
		r.at(n, "%s must be text, not %s", what, load.KindOf(n))
		return ""
	}
	if strings.TrimSpace(n.Value) == "" {
		r.at(n, "%s is empty", what)
	}
	return n.Value
}

// choice returns a text that is one of a list.
func (r *reader) choice(n *yaml.Node, what string, from []string) string {
	s := r.text(n, what)
	if s != "" && !slices.Contains(from, s) {
		hint := ""
		if near, ok := policy.Nearest(s, from); ok {
			hint = fmt.Sprintf(" (did you mean %q?)", near)
		}
		r.at(n, "%s must be one of %s, not %s%s", what, strings.Join(from, ", "), show(s), hint)
		return ""
	}
	return s
}

func (r *reader) truth(n *yaml.Node, what string) bool {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		return strings.EqualFold(n.Value, "true")
	}
	r.at(n, "%s must be true or false, not %s", what, load.KindOf(n))
	return false
}

func show(s string) string { return `"` + destination.Visible(s, 80) + `"` }
