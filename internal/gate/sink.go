package gate

import (
	"fmt"

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
	var out []Judged
	for _, arg := range sinks(c, r) {
		for _, d := range destination.Parse(arg.Value.Text) {
			if arg.IsName && d.Kind == destination.Opaque { // what an argument is called; an address would be a recipient
				continue
			}
			if len(out) == maxDestinations {
				return out, false
			}
			out = append(out, judge(c, r, f, arg.Path(), d))
		}
	}
	return out, true
}

// sinks returns the arguments that name destinations: the declared ones with everything that the tool's own schema does
// not know (A46), or every argument when none is declared or
// none of the declared ones is in the call. The second case is a policy that was written for another version of the
// tool: what it does not know must not slip through (the first version's "schema-mismatch guard"). Arguments that a pack has looked at
// and called content are no destinations even then; if they are all there is, the destination is unknown.
func sinks(c Call, r Rules) []policy.Selected {
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
	if len(out) == 0 {
		return r.Sweep(c.Args, c.Leaves)
	}
	add(undeclared(c, r))
	return out
}

// judge walks the ladder of origins from the strongest down. Trust is exact: a destination that two readers could read
// differently is never trusted.
func judge(c Call, r Rules, f Facts, param string, d destination.Destination) Judged {
	j := Judged{Param: param, Destination: d, Origin: Unproven}
	for _, entry := range r.trusted {
		if entry.Covers(d) {
			j.Origin = Allowlisted
			return j
		}
	}
	if c.Answered[j.Key()] || f.Approved(c.Tool, d) {
		j.Origin = Approved
		return j
	}
	if seen, ok := f.Seen(d); ok {
		j.Origin, j.Seen = Untrusted, &seen
	}
	return j
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
	if len(judged) == 0 {
		if c.Answered[""] {
			return nil
		}
		return []Finding{{Contract: SinkGate, Verdict: Ask, Reason: fmt.Sprintf("tool %s sends values out and the call names no destination", repr(c.Tool))}}
	}
	var out []Finding
	for i := range judged {
		j := &judged[i]
		verdict, why := Ask, ""
		switch {
		case j.Origin == Untrusted:
			verdict, why = Deny, "came from untrusted data"
		case j.Origin == Unproven && j.Destination.Ambiguous != "":
			why = "is not a vouched recipient: " + j.Destination.Ambiguous
		case j.Origin == Unproven:
			why = "is not a vouched recipient"
		case r.Profile == policy.Paranoid && !c.Answered[j.Key()]:
			why = "is vouched for, and the paranoid profile asks about every call that sends"
		default:
			continue
		}
		reason := fmt.Sprintf("destination %s=%s %s", j.Param, repr(j.Destination.Raw), why)
		out = append(out, Finding{Contract: SinkGate, Verdict: verdict, Reason: reason, Param: j.Param, Judged: j})
	}
	return out
}
