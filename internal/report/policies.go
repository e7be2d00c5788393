package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// Policy is the policy that a report is about.
type Policy struct {
	Path    string // of the user's file; "" when there is none
	Set     *policy.Set
	Packs   []policy.PackRules
	Problem string // why it cannot be loaded
}

// rulesMost is how many of the user's rules are listed, and valuesMost how many values of one.
const (
	rulesMost  = 200
	valuesMost = 20
)

// userRules are the user's rules in the order of the file, with the server that each is for ("" for every server).
func (p Policy) userRules() (all []scoped) {
	if p.Set == nil {
		return nil
	}
	for _, r := range p.Set.Tools {
		all = append(all, scoped{"", r})
	}
	for _, scope := range p.Set.Scopes {
		for _, r := range scope.Tools {
			all = append(all, scoped{scope.Server, r})
		}
	}
	slices.SortFunc(all, func(a, b scoped) int {
		if a.rule.At.Line != b.rule.At.Line {
			return a.rule.At.Line - b.rule.At.Line
		}
		if a.rule.At.Column != b.rule.At.Column {
			return a.rule.At.Column - b.rule.At.Column
		}
		return strings.Compare(a.server+"\x00"+a.rule.Tool, b.server+"\x00"+b.rule.Tool)
	})
	return all
}

type scoped struct {
	server string
	rule   policy.Rule
}

// says tells what a rule gates, a line each.
func says(r policy.Rule) (out []line) {
	switch {
	case r.Exfiltrating && len(r.SinkParams) == 0:
		out = append(out, text(own("carries values out; every argument is a destination")))
	case r.Exfiltrating:
		out = append(out, append(text(own("carries values out to ")), params(r.SinkParams)...))
	}
	if len(r.TrustedDestinations) > 0 {
		out = append(out, append(text(own("trusts ")), values(r.TrustedDestinations)...))
	}
	if r.AllowedPathPrefixes != nil {
		out = append(out, append(text(own("paths inside ")), values(r.AllowedPathPrefixes)...))
	}
	for _, p := range r.ArgPatterns {
		out = append(out, text(foreign(p.Param.String()), own(" matches "), foreign(p.Source)))
	}
	for _, v := range r.ArgValues {
		out = append(out, append(text(foreign(v.Param.String()), own(" is one of ")), values(v.Values)...))
	}
	if r.MaxCalls != nil {
		out = append(out, text(own("%s a session", plural(*r.MaxCalls, "call", "calls"))))
	}
	if len(out) == 0 {
		out = append(out, text(own("gates nothing but the tool's definition")))
	}
	return out
}

func params(all []policy.Param) line {
	var names []string
	for _, p := range all {
		names = append(names, p.String())
	}
	return values(names)
}

func values(all []string) line {
	var out line
	for i, v := range all[:min(len(all), valuesMost)] {
		if i > 0 {
			out = append(out, own(", "))
		}
		out = append(out, foreign(v))
	}
	if more := len(all) - valuesMost; more > 0 {
		out = append(out, own(" and %d more", more))
	}
	if len(all) == 0 {
		out = append(out, own("(none)"))
	}
	return out
}

// decides says which rule decides about a tool of a server, as the policy stands now.
func (r *Report) decides(server, tool string) line {
	p := r.in.Policy
	if p.Problem != "" || p.Set == nil {
		return text(badge("warn", "unknown"))
	}
	identity := r.identity(server)
	rule := p.Set.Rule(policy.Server{Name: server, Identity: identity}, policy.Tool{Name: tool})
	switch {
	case rule.Layer == policy.User:
		return text(own("user file, line %d", rule.At.Line))
	case rule.Layer == policy.Pack && rule.Pack != "":
		return text(own("pack "), foreign(rule.Pack))
	case identity == nil:
		return text(own("a pack or heuristics: no config here says what this server is"))
	}
	return text(own("heuristics from the tool's schema"))
}

// packLines describes the packs in one line each.
func (p Policy) packLines() (rows [][]line) {
	for _, pack := range p.Packs {
		gated := 0
		for name := range maps.Keys(pack.Tools) {
			if pack.Tools[name].Exfiltrating || pack.Tools[name].MaxCalls != nil {
				gated++
			}
		}
		rows = append(rows, []line{text(foreign(pack.Name)), values(pack.Packages), number(len(pack.Tools)), number(gated)})
	}
	return rows
}
