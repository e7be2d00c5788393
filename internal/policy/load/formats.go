package load

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

var (
	fullKeys    = []string{"version", "profile", "clean_context", "first_use", "ask", "destinations", "tools", "servers"}
	scopeKeys   = []string{"tools"}
	packKeys    = []string{"pack", "packages", "reports", "tools"}
	profileList = []string{string(policy.Strict), string(policy.Standard), string(policy.Paranoid)}
)

// version finds a top-level `version` that is not a tool. A mapping there is a flat file's tool of that name.
func version(root *yaml.Node) (*yaml.Node, bool) {
	if root.Kind != yaml.MappingNode {
		return nil, false
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		if k.Kind == yaml.ScalarNode && k.Value == "version" && v.Kind == yaml.ScalarNode && !isNull(v) {
			return v, true
		}
	}
	return nil, false
}

// flat reads the first version's format: tool names at the top.
func (r *reader) flat(root *yaml.Node) map[string]policy.Rule {
	if root.Kind != yaml.MappingNode {
		r.at(root.Line, root.Column, "the top level must be a mapping of tool names, not %s", KindOf(root))
		return nil
	}
	if f, ok := r.looksFull(root); ok {
		r.at(f.name.Line, f.name.Column, "%s belongs to the full format: add `version: 1` at the top", show(f.key))
		return nil
	}
	return r.tools(root, "the top level")
}

// looksFull finds a key of the full format in a file without a version: `tools:` whose entries are no rule's keys.
func (r *reader) looksFull(root *yaml.Node) (field, bool) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		f := field{k.Value, k, v}
		switch {
		case k.Kind != yaml.ScalarNode:
		case k.Value == "profile" && v.Kind == yaml.ScalarNode && !isNull(v):
			return f, true
		case (k.Value == "tools" || k.Value == "servers") && v.Kind == yaml.MappingNode && len(v.Content) > 0:
			first := v.Content[0]
			if v.Content[1].Kind == yaml.MappingNode && !slices.Contains(flatKeys, first.Value) && !slices.Contains(ladderKeys, first.Value) {
				return f, true
			}
		}
	}
	return field{}, false
}

// full reads version 1 of the full format.
func (r *reader) full(root, v *yaml.Node, set *policy.Set) {
	if n, err := strconv.Atoi(v.Value); v.Tag != "!!int" || err != nil {
		r.at(v.Line, v.Column, "version must be the number 1, not %s", show(v.Value))
		return
	} else if n != 1 || v.Value != "1" {
		r.at(v.Line, v.Column, "version %s is not supported by this version of bouncer: write 1", clip(v.Value))
		return
	}
	set.Tools = map[string]policy.Rule{}
	fields := r.fields(root, "the top level")
	for _, f := range fields { // groups first, wherever they stand
		if f.key == "destinations" {
			r.known = r.groups(f.node)
		}
	}
	r.wide = true
	for _, f := range fields {
		switch f.key {
		case "version", "destinations":
		case "clean_context":
			set.CleanContext = r.choice(f.node, f.key, []string{"allow", "ask"}) == "allow"
		case "first_use":
			set.FirstUse = r.choice(f.node, f.key, []string{"allow", "ask"}) == "allow"
		case "ask":
			set.Asking = r.asking(f.node)
		case "profile":
			set.Profile = r.profile(f.node)
		case "tools":
			set.Tools = r.tools(f.node, "tools")
		case "servers":
			set.Scopes = r.servers(f.node)
		default:
			r.unknown(f, fullKeys)
		}
	}
}

func (r *reader) profile(n *yaml.Node) policy.Profile {
	s, ok := r.text(n, "profile")
	if !ok {
		return ""
	}
	if !slices.Contains(profileList, s) {
		r.at(n.Line, n.Column, "profile must be strict, standard or paranoid, not %s%s", show(s), suggest(s, profileList))
		return ""
	}
	return policy.Profile(s)
}

func (r *reader) servers(n *yaml.Node) []policy.Scope {
	var out []policy.Scope
	for _, f := range r.fields(n, "servers") {
		r.name(f, "server")
		scope := policy.Scope{Server: f.key, At: r.position(f.name.Line, f.name.Column), Tools: map[string]policy.Rule{}}
		for _, k := range r.fields(f.node, "server "+show(f.key)) {
			if k.key != "tools" {
				r.unknown(k, scopeKeys)
				continue
			}
			scope.Tools = r.tools(k.node, "tools")
		}
		out = append(out, scope)
	}
	return out
}

// packFile reads a pack.
func (r *reader) packFile(root *yaml.Node) policy.PackRules {
	var p policy.PackRules
	for _, f := range r.fields(root, "the top level") {
		switch f.key {
		case "pack":
			p.Name, _ = r.text(f.node, f.key)
		case "packages":
			p.Packages = r.texts(f.node, f.key)
		case "reports":
			p.Reports = r.texts(f.node, f.key)
		case "tools":
			p.Tools = r.tools(f.node, f.key)
		default:
			r.unknown(f, packKeys)
		}
	}
	if strings.TrimSpace(p.Name) == "" || len(p.Packages) == 0 || len(p.Tools) == 0 {
		r.at(root.Line, root.Column, "a pack needs the keys pack, packages and tools")
	}
	for name, rule := range p.Tools {
		rule.Layer, rule.Pack, rule.Why = policy.Pack, p.Name, "pack "+p.Name+" knows this tool"
		p.Tools[name] = rule
	}
	return p
}
