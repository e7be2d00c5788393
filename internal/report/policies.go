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

// says tells what a rule gates, and what it lets pass, a piece each.
func says(r policy.Rule) (out []line) {
	about := func(words string, l line) { out = append(out, append(text(own("%s", words)), l...)) }
	if r.Extends {
		about("adds to the rule that it stands over", nil)
	}
	switch {
	case r.Exfiltrating && len(r.SinkParams) > 0:
		about("carries values out to ", params(r.SinkParams))
	case r.Exfiltrating && len(r.Content) > 0:
		about("carries values out; a destination is every argument but ", params(r.Content))
	case r.Exfiltrating:
		about("carries values out; every argument is a destination", nil)
	}
	for _, s := range r.Sinks {
		out = append(out, sink(s)...)
	}
	if len(r.TrustedDestinations) > 0 {
		about("trusts ", values(r.TrustedDestinations))
	}
	if len(r.Deny) > 0 {
		about("refuses ", values(r.Deny))
	}
	for _, e := range []struct {
		about  string
		effect policy.Effect
	}{{"untrusted", r.OnTainted}, {"unproven", r.OnUnproven}} {
		if e.effect != "" {
			about("a destination that is "+e.about+": ", text(verdictBadge(string(e.effect))))
		}
	}
	if r.RequireApproval {
		about("a person is asked about every call", nil)
	}
	if len(r.Content) > 0 && len(r.SinkParams) > 0 {
		about("is text, and no destination: ", params(r.Content))
	}
	out = append(out, acts(r)...)
	for _, f := range r.Results {
		about("calls the field ", text(foreign(f.Path.String()), own(" of its answer "), foreign(string(f.Label))))
	}
	out = append(out, limitsOf(r)...)
	if len(out) == 0 {
		about("gates nothing but the tool's definition", nil)
	}
	return out
}

// sink tells what is special about a destination.
func sink(s policy.Sink) (out []line) {
	var about []span
	if s.Kind != "" {
		about = append(about, own(" of kind "), foreign(string(s.Kind)))
	}
	if s.Optional {
		about = append(about, own(" that may be absent: then nothing is sent"))
	}
	if about == nil && len(s.Args) < 2 {
		return nil
	}
	words := " is a destination"
	if len(s.Args) > 1 {
		words = " together are one destination"
	}
	return []line{append(append(params(s.Args), own("%s", words)), about...)}
}

// acts tells what a rule says of acts: what asks for them, and what they may be done to.
func acts(r policy.Rule) (out []line) {
	if c := r.Consequence; c != nil {
		l := text(own("changes things"))
		if len(c.Named) > 0 {
			l = append(append(l, own("; the user must have named ")), params(c.Named)...)
		}
		if len(c.Own) > 0 {
			l = append(append(l, own("; nobody else may dictate ")), params(c.Own)...)
		}
		out = append(out, l)
	}
	if len(r.Intent) > 0 {
		out = append(out, append(text(own("the user asks for it with ")), values(r.Intent)...))
	}
	if r.Fetch {
		l := text(own("only reads from its destinations"))
		if r.Verbatim != "" {
			l = append(l, own("; an address that stands in untrusted text: "), verdictBadge(string(r.Verbatim)))
		}
		out = append(out, l)
	}
	return out
}

// limitsOf tells what a rule allows of arguments and numbers.
func limitsOf(r policy.Rule) (out []line) {
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
	return out
}

// loosened lists what in the policy lets a destination pass that nobody vouched for.
func (p Policy) loosened() (out []line) {
	if p.Set == nil {
		return nil
	}
	if p.Set.CleanContext {
		out = append(out, text(command("clean_context: allow"), own(": a destination that was seen nowhere passes while no server has written anything")))
	}
	if p.Set.FirstUse {
		out = append(out, text(command("first_use: allow"), own(": a destination passes that the agent names before any server does")))
	}
	for _, s := range p.userRules() {
		for _, e := range []struct {
			key    string
			effect policy.Effect
		}{{"on_tainted", s.rule.OnTainted}, {"on_unproven", s.rule.OnUnproven}, {"verbatim", s.rule.Verbatim}} {
			if e.effect == policy.Allow {
				out = append(out, text(command(e.key+": allow"), own(" of "), foreign(s.rule.Tool), own(" in line %d", s.rule.At.Line)))
			}
		}
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
			if r := pack.Tools[name]; r.Exfiltrating || r.MaxCalls != nil || r.Consequence != nil || r.RequireApproval {
				gated++
			}
		}
		rows = append(rows, []line{text(foreign(pack.Name)), values(pack.Packages), number(len(pack.Tools)), number(gated)})
	}
	return rows
}
