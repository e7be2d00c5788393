package load

import (
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// flatKeys are the first version's keys of one tool.
var flatKeys = []string{"exfiltrating", "sink_params", "trusted_destinations", "write_params", "allowed_path_prefixes",
	"arg_patterns", "arg_values", "max_calls"}

// plannedKeys are keys of the full format that this version does not know yet. They are named, so that the message
// can say that it is the program, and not the file, that lacks something.
var plannedKeys = []string{"max_length"}

// tools reads a mapping of tool names.
func (r *reader) tools(n *yaml.Node, what string) map[string]policy.Rule {
	out := map[string]policy.Rule{}
	for _, f := range r.fields(n, what) {
		if rule, ok := r.tool(f); ok {
			out[f.key] = rule
		}
	}
	return out
}

func (r *reader) tool(f field) (policy.Rule, bool) {
	ok := r.name(f, "tool")
	if isNull(f.node) {
		r.at(f.name.Line, f.name.Column, "tool %s has no rule: write {} to gate nothing, or remove it", show(f.key))
		return policy.Rule{}, false
	}
	rule := policy.Rule{Tool: f.key, Layer: policy.User, At: r.position(f.name.Line, f.name.Column), Why: "your policy says so"}
	for _, k := range r.fields(f.node, "the rule of tool "+show(f.key)) {
		r.toolKey(&rule, k)
	}
	r.coherent(rule, f.name)
	return rule, ok
}

func (r *reader) toolKey(rule *policy.Rule, k field) {
	switch k.key {
	case "exfiltrating":
		rule.Exfiltrating = r.truth(k.node, k.key)
	case "sink_params":
		rule.SinkParams = r.params(k.node, k.key)
	case "write_params":
		rule.WriteParams = r.params(k.node, k.key)
	case "arg_patterns":
		rule.ArgPatterns = r.patterns(k.node)
	case "arg_values":
		rule.ArgValues = r.values(k.node)
	case "max_calls":
		rule.MaxCalls = r.count(k.node, k.key)
	default:
		r.otherKey(rule, k)
	}
}

// otherKey reads the keys that a user's policy and a pack do not share.
func (r *reader) otherKey(rule *policy.Rule, k field) {
	switch {
	case k.key == "trusted_destinations" && !r.pack:
		rule.TrustedDestinations = r.trusted(k.node, k.key)
	case k.key == "allowed_path_prefixes" && !r.pack:
		rule.AllowedPathPrefixes = r.texts(k.node, k.key)
		if k.node.Kind == yaml.SequenceNode && len(k.node.Content) == 0 {
			r.at(k.node.Line, k.node.Column, "allowed_path_prefixes is empty: name a prefix, or remove the key to confine nothing")
		}
	case slices.Contains(ladderKeys, k.key) && (r.wide || r.pack && k.key != "deny" && k.key != "extends"):
		r.ladderKey(rule, k)
	case slices.Contains(ladderKeys, k.key) && !r.pack:
		r.at(k.name.Line, k.name.Column, "%s belongs to the full format: add `version: 1` at the top, and put the tools under `tools:`", show(k.key))
	case slices.Contains(flatKeys, k.key) || slices.Contains(ladderKeys, k.key):
		r.at(k.name.Line, k.name.Column, "%s is the user's to say: a pack cannot", show(k.key))
	case r.wide || r.pack:
		r.unknown(k, slices.Concat(flatKeys, ladderKeys))
	default:
		r.unknown(k, flatKeys)
	}
}

// unknown refuses a key. keys are those that are known there.
func (r *reader) unknown(k field, keys []string) {
	if slices.Contains(plannedKeys, k.key) {
		r.at(k.name.Line, k.name.Column, "%s is not supported by this version of bouncer", show(k.key))
		return
	}
	r.at(k.name.Line, k.name.Column, "unknown key %s%s", show(k.key), suggest(k.key, keys))
}

// trusted reads destinations. An entry that would match nothing, or everything, is not what anybody means (D10).
func (r *reader) trusted(n *yaml.Node, what string) []string {
	out := r.texts(n, what)
	if r.wide {
		out = r.named(n, out)
	}
	if n.Kind != yaml.SequenceNode {
		return out
	}
	for _, item := range n.Content {
		s := strings.TrimSpace(item.Value)
		switch {
		case item.Kind != yaml.ScalarNode || s == "":
		case s != item.Value:
			r.at(item.Line, item.Column, "%s: %s has spaces around it", what, show(item.Value))
		case strings.Contains(s, "*"):
			r.at(item.Line, item.Column, "%s: %s has a wildcard, and none are known: write a whole value, @domain or a URL prefix", what, show(s))
		case s == "@":
			r.at(item.Line, item.Column, "%s: %q names no domain: write @corp.example", what, s)
		case bareScheme(s):
			r.at(item.Line, item.Column, "%s: %s names no host, so it would trust every one", what, show(s))
		}
	}
	return out
}

func bareScheme(s string) bool {
	switch strings.ToLower(s) {
	case "http", "https", "http:", "https:", "ftp:", "ws:", "wss:", "mailto:", "file:":
		return true
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return false
	}
	if rest == "" || rest[0] == '/' {
		return !strings.EqualFold(scheme, "file")
	}
	u, err := url.Parse(s)
	return err == nil && u.Hostname() == ""
}

func (r *reader) values(n *yaml.Node) []policy.ArgValues {
	var out []policy.ArgValues
	for _, f := range r.fields(n, "arg_values") {
		p, ok := r.param(f.key, f.name)
		v := policy.ArgValues{Param: p}
		items := r.list(f.node, "arg_values of "+show(f.key))
		for _, item := range items {
			if item.Kind != yaml.ScalarNode || isNull(item) {
				r.at(item.Line, item.Column, "arg_values of %s must be plain values, not %s", show(f.key), KindOf(item))
				continue
			}
			v.Values = append(v.Values, item.Value)
		}
		if f.node.Kind == yaml.SequenceNode && len(items) == 0 {
			r.at(f.node.Line, f.node.Column, "arg_values of %s is empty: name a value, or remove it", show(f.key))
		}
		if ok {
			out = append(out, v)
		}
	}
	return out
}
