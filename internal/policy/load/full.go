package load

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// ladderKeys are the keys of one tool that only the full format and packs have.
var ladderKeys = []string{"sinks", "content", "intent", "consequence", "fetch", "verbatim", "on_tainted", "on_unproven", "deny",
	"require_approval", "extends", "results", "reads", "public"}

var (
	sinkKeys        = []string{"args", "kind", "optional", "absent"}
	resultKeys      = []string{"path", "label", "kind"}
	objectKeys      = []string{"object", "unless"}
	consequenceKeys = []string{"named", "own"}
	sinkKinds       = []string{"email", "url", "account", "repo", "channel", "user", "phone", "name", "path", "id", "text"}
	joinedKinds     = []string{"repo", "url", "email", "path", "name"} // of a destination that stands in several arguments
	labels          = []string{"directory", "attributed", "secret"}
	effects         = []string{"allow", "ask", "deny"}
)

// ladderKey reads one of ladderKeys.
func (r *reader) ladderKey(rule *policy.Rule, k field) {
	switch k.key {
	case "sinks":
		r.sinks(rule, k.node)
	case "content":
		rule.Content = r.params(k.node, k.key)
	case "intent":
		rule.Intent = r.intent(k.node)
	case "consequence":
		rule.Consequence = r.consequence(k.node)
	case "fetch":
		rule.Fetch = r.truth(k.node, k.key)
	case "verbatim":
		rule.Verbatim = r.effect(k)
	case "on_tainted":
		rule.OnTainted = r.effect(k)
	case "on_unproven":
		rule.OnUnproven = r.effect(k)
	case "results":
		rule.Results = r.results(k.node)
	case "reads", "public":
		object := r.object(k)
		if k.key == "reads" {
			rule.Reads = object
		} else {
			rule.Public = object
		}
	case "require_approval":
		rule.RequireApproval = r.truth(k.node, k.key)
	case "deny":
		rule.Deny = r.trusted(k.node, k.key)
	case "extends":
		if s, ok := r.text(k.node, k.key); ok && s != "pack" {
			r.at(k.node.Line, k.node.Column, "extends must be pack, not %s", show(s))
		}
		rule.Extends = true
	}
}

// choice reads one word of a few.
func (r *reader) choice(n *yaml.Node, what string, words []string) string {
	s, ok := r.text(n, what)
	if ok && !slices.Contains(words, s) {
		r.at(n.Line, n.Column, "%s must be one of %s, not %s%s", what, strings.Join(words, ", "), show(s), suggest(s, words))
		return ""
	}
	return s
}

func (r *reader) effect(k field) policy.Effect {
	s := r.choice(k.node, k.key, effects)
	if r.pack && s == string(policy.Allow) {
		r.at(k.node.Line, k.node.Column, "%s: allow is the user's to say: a pack cannot", k.key)
	}
	return policy.Effect(s)
}

// items returns the items of a list that must have some.
func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	items := r.list(n, what)
	if n.Kind == yaml.SequenceNode && len(items) == 0 {
		r.at(n.Line, n.Column, "%s is empty: name something, or remove the key", what)
	}
	return items
}

func (r *reader) sinks(rule *policy.Rule, n *yaml.Node) {
	rule.Exfiltrating = true
	for _, item := range r.items(n, "sinks") {
		var s policy.Sink
		named := false
		for _, f := range r.fields(item, "a sink") {
			switch f.key {
			case "args":
				named = true
				r.items(f.node, "args")
				s.Args = r.params(f.node, f.key)
			case "kind":
				s.Kind = policy.SinkKind(r.choice(f.node, "kind", sinkKinds))
			case "optional":
				s.Optional = r.truth(f.node, f.key)
			case "absent":
				s.Absent, _ = r.text(f.node, f.key)
			default:
				r.unknown(f, sinkKeys)
			}
		}
		if !named && item.Kind == yaml.MappingNode {
			r.at(item.Line, item.Column, "a sink needs the key args")
		}
		if s.Absent != "" && s.Optional {
			r.at(item.Line, item.Column, "a sink is optional or has an absent destination: a call without it cannot both send nothing and go there")
		}
		if len(s.Args) > 1 && s.Kind != "" && !slices.Contains(joinedKinds, string(s.Kind)) {
			r.at(item.Line, item.Column, "a sink of kind %s stands in one argument: write one sink each", s.Kind)
		}
		rule.Sinks = append(rule.Sinks, s)
		rule.SinkParams = append(rule.SinkParams, s.Args...)
	}
}

func (r *reader) intent(n *yaml.Node) []string {
	r.items(n, "intent")
	words := r.texts(n, "intent")
	for i, w := range words {
		words[i] = strings.ToLower(strings.TrimSpace(w))
	}
	return words
}

// consequence reads `true`, or on which arguments it depends.
func (r *reader) consequence(n *yaml.Node) *policy.Consequence {
	if n.Kind != yaml.MappingNode {
		if r.truth(n, "consequence, unless it is {named: [...], own: [...]},") {
			return &policy.Consequence{}
		}
		return nil
	}
	c := &policy.Consequence{}
	for _, f := range r.fields(n, "consequence") {
		switch f.key {
		case "named":
			r.items(f.node, f.key)
			c.Named = r.params(f.node, f.key)
		case "own":
			r.items(f.node, f.key)
			c.Own = r.params(f.node, f.key)
		default:
			r.unknown(f, consequenceKeys)
		}
	}
	if len(n.Content) == 0 {
		r.at(n.Line, n.Column, "consequence says nothing: write true, or named or own arguments")
	}
	return c
}

func (r *reader) results(n *yaml.Node) []policy.Result {
	var out []policy.Result
	for _, item := range r.items(n, "results") {
		var res policy.Result
		has := map[string]bool{}
		for _, f := range r.fields(item, "a result") {
			has[f.key] = true
			switch f.key {
			case "path":
				res.Path = r.resultPath(f.node)
			case "label":
				res.Label = provenance.Label(r.choice(f.node, "label", labels))
			case "kind":
				res.Kind = policy.SinkKind(r.choice(f.node, "kind", sinkKinds))
			default:
				r.unknown(f, resultKeys)
			}
		}
		if item.Kind == yaml.MappingNode && !(has["path"] && has["label"]) {
			r.at(item.Line, item.Column, "a result needs the keys path and label")
		}
		out = append(out, res)
	}
	return out
}

func (r *reader) resultPath(n *yaml.Node) policy.Param {
	s, ok := r.text(n, "path")
	if !ok {
		return policy.Param{}
	}
	p, err := policy.ParseResultPath(s)
	if err != nil || strings.TrimSpace(s) != s {
		r.at(n.Line, n.Column, "%s is not a path in an answer: write name, name.inner, list[].inner, *.inner, or . for the answer itself", show(s))
	}
	return p
}

// object reads `true`, or what names the object: {object: [owner, repo], unless: {visibility: [internal]}}.
func (r *reader) object(k field) *policy.Object {
	if k.node.Kind != yaml.MappingNode {
		if r.truth(k.node, k.key+", unless it is {object: [...]},") {
			return &policy.Object{}
		}
		return nil
	}
	o := &policy.Object{}
	for _, f := range r.fields(k.node, k.key) {
		switch {
		case f.key == "object":
			r.items(f.node, f.key)
			o.Args = r.params(f.node, f.key)
		case f.key == "unless" && k.key == "public":
			o.Unless = r.values(f.node)
		case f.key == "unless":
			r.at(f.name.Line, f.name.Column, "unless belongs to public: whatever is read counts")
		default:
			r.unknown(f, objectKeys)
		}
	}
	if len(k.node.Content) == 0 {
		r.at(k.node.Line, k.node.Column, "%s says nothing: write true, or the object's arguments", k.key)
	}
	return o
}

// coherent refuses what contradicts itself.
func (r *reader) coherent(rule policy.Rule, at *yaml.Node) {
	for _, p := range rule.Content {
		for _, s := range rule.SinkParams {
			if p.String() == s.String() {
				r.at(at.Line, at.Column, "the rule of tool %s calls %s a sink and content: it can be one of them", show(rule.Tool), show(p.String()))
			}
		}
	}
}

// groups reads the named destination groups.
func (r *reader) groups(n *yaml.Node) map[string][]string {
	out := map[string][]string{}
	for _, f := range r.fields(n, "destinations") {
		r.name(f, "group")
		r.items(f.node, "destinations of "+show(f.key))
		for _, entry := range r.trusted(f.node, "destinations") {
			if strings.HasPrefix(entry, "$") {
				continue // reported: groups are read before any is known
			}
			out[f.key] = append(out[f.key], entry)
		}
	}
	return out
}

// named replaces $name by the entries of the group.
func (r *reader) named(n *yaml.Node, entries []string) []string {
	var out []string
	for i, entry := range entries {
		name, isGroup := strings.CutPrefix(entry, "$")
		if !isGroup {
			out = append(out, entry)
			continue
		}
		members, known := r.known[name]
		if !known {
			line, column := n.Line, n.Column
			if i < len(n.Content) {
				line, column = n.Content[i].Line, n.Content[i].Column
			}
			var names []string
			for have := range r.known {
				names = append(names, have)
			}
			slices.Sort(names)
			r.at(line, column, "there is no group %s in destinations%s", show(name), suggest(name, names))
		}
		out = append(out, members...)
	}
	return out
}
