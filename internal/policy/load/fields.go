package load

import (
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// field is one key of a mapping with its value.
type field struct {
	key        string
	name, node *yaml.Node
}

// fields returns the keys of a mapping in file order, without duplicates. what names the mapping in messages.
func (r *reader) fields(n *yaml.Node, what string) []field {
	if n.Kind != yaml.MappingNode {
		r.at(n.Line, n.Column, "%s must be a mapping, not %s", what, KindOf(n))
		return nil
	}
	var out []field
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Tag != "!!str" {
			if k.Kind == yaml.ScalarNode {
				r.at(k.Line, k.Column, "the key %s is %s: put it in quotes", show(k.Value), KindOf(k))
			} else {
				r.at(k.Line, k.Column, "a key must be text, not %s", KindOf(k))
			}
			continue
		}
		if line, ok := first[k.Value]; ok {
			r.at(k.Line, k.Column, "duplicate key %s, first on line %d", show(k.Value), line)
			continue
		}
		first[k.Value] = k.Line
		out = append(out, field{k.Value, k, v})
	}
	return out
}

// name checks a name that must equal one that a server or a client config uses.
func (r *reader) name(f field, what string) bool {
	bad := func(c rune) bool { return unicode.IsControl(c) || c == '\uFEFF' }
	switch {
	case f.key == "":
		r.at(f.name.Line, f.name.Column, "empty %s name", what)
	case strings.TrimSpace(f.key) != f.key:
		r.at(f.name.Line, f.name.Column, "the %s name %s has spaces around it", what, show(f.key))
	case strings.ContainsFunc(f.key, bad):
		r.at(f.name.Line, f.name.Column, "the %s name %s has control characters", what, show(f.key))
	default:
		return true
	}
	return false
}

// text returns a node's text.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		if n.Kind == yaml.ScalarNode && !isNull(n) {
			r.at(n.Line, n.Column, "%s must be text, not %s: put %s in quotes", what, KindOf(n), show(n.Value))
		} else {
			r.at(n.Line, n.Column, "%s must be text, not %s", what, KindOf(n))
		}
		return "", false
	}
	return n.Value, true
}

// list returns the items of a list.
func (r *reader) list(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
			r.at(n.Line, n.Column, "%s must be a list: write [%s]", what, clip(n.Value))
		} else {
			r.at(n.Line, n.Column, "%s must be a list, not %s", what, KindOf(n))
		}
		return nil
	}
	return n.Content
}

func clip(s string) string { return strings.Trim(show(s), `"`) }

func (r *reader) texts(n *yaml.Node, what string) []string {
	var out []string
	for _, item := range r.list(n, what) {
		if s, ok := r.text(item, "each item of "+what); ok {
			if strings.TrimSpace(s) == "" {
				r.at(item.Line, item.Column, "%s has an empty item", what)
				continue
			}
			out = append(out, s)
		}
	}
	return out
}

func (r *reader) params(n *yaml.Node, what string) []policy.Param {
	var out []policy.Param
	for _, item := range r.list(n, what) {
		if s, ok := r.text(item, "each item of "+what); ok {
			if p, ok := r.param(s, item); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

func (r *reader) param(s string, at *yaml.Node) (policy.Param, bool) {
	p, err := policy.ParseParam(s)
	if err != nil || strings.TrimSpace(s) != s {
		r.at(at.Line, at.Column, "%s is not an argument path: write name, name.inner or list[].inner", show(s))
		return policy.Param{}, false
	}
	return p, true
}

func (r *reader) truth(n *yaml.Node, what string) bool {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" {
		switch n.Value {
		case "true", "True", "TRUE":
			return true
		case "false", "False", "FALSE":
			return false
		}
	}
	r.at(n.Line, n.Column, "%s must be true or false, not %s", what, quoteOrKind(n))
	return false
}

func quoteOrKind(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		return show(n.Value)
	}
	return KindOf(n)
}

// count reads a whole number from 0, in plain decimal: 010 would be read as eight by some.
func (r *reader) count(n *yaml.Node, what string) *int {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!int" && (n.Value == "0" || !strings.HasPrefix(n.Value, "0")) && strings.Trim(n.Value, "0123456789") == "" {
		if v, err := strconv.Atoi(n.Value); err == nil && v <= 1_000_000_000 {
			return &v
		}
	}
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(n.Value, "-") {
		r.at(n.Line, n.Column, "%s must not be negative, and is %s", what, show(n.Value))
		return nil
	}
	r.at(n.Line, n.Column, "%s must be a whole number from 0, not %s", what, quoteOrKind(n))
	return nil
}
