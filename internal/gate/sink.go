package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// maxDestinations is how many destinations a call may have: no person could look at more, and each costs a look-up. Past
// it the call is denied (A82).
const maxDestinations = 1000

// judgeSinks finds every destination of an exfiltrating call and where it came from. It is false when there are more
// than can be judged.
func judgeSinks(c Call, r Rules, f Facts) ([]Judged, bool) {
	if !r.Exfiltrating {
		return nil, true
	}
	l := ladder{c, r, f, SinkGate}
	out, parts := composites(l)
	out = append(out, implied(l)...)
	for _, arg := range sinks(c, r, len(out) > 0) {
		if parts[arg.Spot()] {
			continue
		}
		if kindOf(r, arg, destination.Destination{}) == policy.KindText {
			if out = append(out, l.links(arg)...); len(out) > maxDestinations {
				return out, false
			}
			continue
		}
		for _, inner := range policy.Unfold(arg) {
			for _, d := range parseAs(kindOf(r, arg, destination.Destination{}), inner.Value.Text) {
				if inner.IsName && d.Kind == destination.Opaque { // what an argument is called; an address would be a recipient
					continue
				}
				if len(out) == maxDestinations {
					return out, false
				}
				j := l.judge(inner.Path(), d, kindOf(r, inner, d))
				out = append(out, j)
				out = append(out, l.nested(j)...)
			}
		}
	}
	return out, true
}

// nested are the destinations inside a URL that a rule trusts by its host or path: what a trusted redirect or preview is handed goes
// on to them (A14, A17). A URL that is vouched for as a whole is meant with what is in it.
func (l ladder) nested(outer Judged) (out []Judged) {
	if outer.Origin != Allowlisted && outer.Origin != Unproven || outer.Destination.Kind != destination.URL {
		return nil
	}
	for _, d := range destination.Nested(outer.Destination) {
		j := l.judge(outer.Param, d, policy.KindURL)
		j.Verbatim = false                                                               // it is not read, it is handed on
		if outer.Origin == Allowlisted || j.Origin == Untrusted || j.Origin == Refused { // one question is enough
			out = append(out, j)
		}
	}
	return out
}

// links are the destinations in a text that is looked up: the URLs in it. A bare host name that was seen nowhere is a word like
// any other ("release notes of go.example").
func (l ladder) links(arg policy.Selected) (out []Judged) {
	for _, m := range destination.Mentions(arg.Value.Text) {
		if m.Kind != destination.URL {
			continue
		}
		j := l.judge(arg.Path(), m.Destination, policy.KindURL)
		if j.Origin == Unproven && !strings.ContainsAny(m.Raw, "/?") {
			continue
		}
		out = append(out, j)
	}
	return out
}

// parseAs reads an argument whose kind the policy says: digits are a telephone number where one belongs.
func parseAs(kind policy.SinkKind, text string) []destination.Destination {
	if kind == policy.KindPhone {
		if number := destination.PhoneNumber("+" + strings.TrimPrefix(text, "+")); number != "" {
			return []destination.Destination{{Kind: destination.Phone, Raw: text, Canonical: number}}
		}
	}
	return destination.Parse(text)
}

// implied are the destinations that the policy says a call has when it leaves their arguments out: a push without a remote goes
// to origin, a share without a visibility is public (A22, A25).
func implied(l ladder) (out []Judged) {
	for _, sink := range l.r.Sinks {
		if sink.Absent == "" || slices.ContainsFunc(sink.Args, func(p policy.Param) bool { return len(p.Select(l.c.Args)) > 0 }) {
			continue
		}
		if !slices.Contains(l.r.Declared, sink.Args[0].Top()) {
			continue // the policy speaks of an argument that this tool does not have: what it has instead is judged
		}
		for _, d := range destination.Parse(sink.Absent) {
			out = append(out, l.judge(sink.Args[0].String(), d, sink.Kind))
		}
	}
	return out
}

// kindOf is the kind of a sink: what the policy says of the argument, or what its value looks like.
func kindOf(r Rules, arg policy.Selected, d destination.Destination) policy.SinkKind {
	for _, sink := range r.Sinks {
		if len(sink.Args) == 1 && sink.Kind != "" && sink.Args[0].Top() == arg.Argument() {
			return sink.Kind
		}
	}
	switch d.Kind {
	case destination.Email:
		return policy.KindEmail
	case destination.URL:
		return policy.KindURL
	case destination.Account:
		return policy.KindAccount
	case destination.Path:
		return policy.KindPath
	case destination.Phone:
		return policy.KindPhone
	}
	return ""
}

// sinks returns the arguments that name destinations: the declared ones with everything that the tool's own schema does
// not know (A46), or every argument when none is declared or
// none of the declared ones is in the call. The second case is a policy that was written for another version of the
// tool: what it does not know must not slip through (the first version's "schema-mismatch guard"). Arguments that a pack has looked at
// and called content are no destinations even then; if they are all there is, the destination is unknown.
func sinks(c Call, r Rules, implied bool) []policy.Selected {
	var out []policy.Selected
	seen := map[policy.Spot]bool{}
	add := func(args []policy.Selected) {
		for _, arg := range args {
			if !seen[arg.Spot()] {
				seen[arg.Spot()] = true
				out = append(out, arg)
			}
		}
	}
	for _, param := range r.SinkParams {
		add(param.Select(c.Args))
	}
	if len(out) == 0 && !implied && !r.SendsNothing() {
		return r.Sweep(c.Args, c.Leaves)
	}
	add(undeclared(c, r))
	return out
}

// sinkGate is deny-unless-trusted: untrusted destinations deny, unproven ones ask, and an exfiltrating call that shows
// no destination at all has an unknown one. One tainted destination among trusted ones denies the call.
func sinkGate(c Call, r Rules, judged []Judged, all bool) []Finding {
	if !r.Exfiltrating {
		return nil
	}
	if !all {
		return []Finding{deny(SinkGate, "", "the call names more than %d destinations", maxDestinations)}
	}
	if len(judged) == 0 && r.SendsNothing() {
		return nil
	}
	if len(judged) == 0 {
		return asking(c, Finding{Contract: SinkGate, Reason: fmt.Sprintf("tool %s sends values out and the call names no destination", repr(c.Tool))})
	}
	var out []Finding
	for i := range judged {
		j := &judged[i]
		verdict, why := verdictOn(*j, c, r)
		if verdict == Allow {
			continue
		}
		reason := fmt.Sprintf("destination %s=%s %s", j.Param, repr(j.Destination.Raw), why)
		out = append(out, Finding{Contract: SinkGate, Verdict: verdict, Reason: reason, Param: j.Param, Judged: j})
	}
	return out
}

// approval asks about every call of a tool that the policy says needs it.
func approval(c Call, r Rules) []Finding {
	if !r.RequireApproval {
		return nil
	}
	return asking(c, Finding{Contract: Approval, Reason: fmt.Sprintf("the policy asks about every call of %s", repr(c.Tool))})
}

// asking makes a finding a question, unless a person said yes to it.
func asking(c Call, f Finding) []Finding {
	if c.Answered[f.Key()] {
		return nil
	}
	f.Verdict = Ask
	return []Finding{f}
}
