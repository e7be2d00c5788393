package gate

import (
	"fmt"
	"slices"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// intent asks about a call whose destinations are all trusted when the user never asked for such an act: a contact of
// the user's is still not somebody to send the mailbox to. What a person approved meanwhile was asked for, and a page is
// read for many kinds of requests; one who leaves the acts to a list has them in the list. Without the user's words, or without words for the act, nobody can tell.
func intent(c Call, r Rules, f Facts, judged []Judged) []Finding {
	if c.User == nil || len(r.Intent) == 0 || r.Fetch || c.User.Asks(r.Intent) || c.User.Delegates() {
		return nil
	}
	var out []Finding
	for _, j := range judged {
		if !j.Origin.Trusted() || j.Origin == Approved || f.Approved(Intent, c.Tool, j.Destination) {
			continue
		}
		j.Contract = Intent
		out = append(out, later(c, r, Finding{Contract: Intent, Param: j.Param, Judged: &j,
			Reason: fmt.Sprintf("nothing in the request asks for an act like %s to %s=%s", repr(c.Tool), j.Param, repr(j.Destination.Raw))})...)
	}
	return out
}

// consequence asks whether a tool that changes things does it to what the user named. Arguments that the policy says
// must be named are looked up in the user's words; those that must be the user's or the agent's own must not have been
// dictated by what a server wrote.
func consequence(c Call, r Rules, f Facts) []Finding {
	if r.Consequence == nil || r.Consequence.Guessed && c.User == nil {
		return nil
	}
	asked := c.User != nil && (len(r.Intent) == 0 || c.User.Asks(r.Intent))
	if r.Consequence.Asked {
		if asked || c.User.Delegates() {
			return nil
		}
		return later(c, r, Finding{Contract: Consequence, Reason: fmt.Sprintf("%s acts on more than data, and nothing in the request asks for it", repr(c.Tool))})
	}
	var out []Finding
	ask := func(arg policy.Selected, why string) {
		for _, d := range destination.Parse(arg.Value.Text) {
			j := ladder{c, r, f, Consequence}.judge(arg.Path(), d, policy.KindID)
			if j.Origin == Allowlisted || j.Origin == Approved || j.Origin == Refused { // neverFor has the last
				continue
			}
			f := Finding{Contract: Consequence, Verdict: Deny, Param: j.Param, Judged: &j,
				Reason: fmt.Sprintf("%s changes things, and %s=%s %s", repr(c.Tool), j.Param, repr(arg.Value.Text), why)}
			if c.User != nil && !asked && j.Origin == Untrusted {
				f.Reason += ", came from untrusted data, and the request asks for no such act"
				out = append(out, f)
				continue
			}
			out = append(out, later(c, r, f)...)
		}
	}
	out = append(out, neverFor(c, r, f)...)
	looked := 0
	for _, param := range r.Consequence.Named {
		for _, arg := range param.Select(c.Args) {
			if looked++; !asked || !c.User.Names(arg.Value.Text) {
				ask(arg, "is not what the request names")
			}
		}
	}
	for _, param := range r.Consequence.Own {
		for _, arg := range param.Select(c.Args) {
			looked++
			if _, seen := (ladder{c: c, r: r, f: f}).seen(whole(arg.Value.Text)); seen && !c.User.Names(arg.Value.Text) {
				ask(arg, "was dictated by untrusted data")
			}
		}
	}
	if looked == 0 && (len(r.Consequence.Own) == 0 || len(r.Consequence.Named) > 0) && !(asked && len(c.Args.Members) == 0) {
		out = append(out, later(c, r, Finding{Contract: Consequence, Reason: fmt.Sprintf("%s changes things, and nothing shows that the request names what", repr(c.Tool))})...)
	} else if len(r.Consequence.Own) > 0 && c.User != nil && !asked && len(out) == 0 {
		out = append(out, later(c, r, Finding{Contract: Consequence, Reason: fmt.Sprintf("nothing in the request asks for an act like %s", repr(c.Tool))})...)
	}
	return out
}

// neverFor denies an act on what a person said never about, though the request may name it now: whoever means it revokes the answer.
func neverFor(c Call, r Rules, f Facts) (out []Finding) {
	for _, param := range append(slices.Clone(r.Consequence.Named), r.Consequence.Own...) {
		for _, arg := range param.Select(c.Args) {
			for _, d := range destination.Parse(arg.Value.Text) {
				if j := (ladder{c, r, f, Consequence}).judge(arg.Path(), d, policy.KindID); j.Origin == Refused {
					out = append(out, Finding{Contract: Consequence, Verdict: Deny, Param: j.Param, Judged: &j,
						Reason: fmt.Sprintf("%s changes things, and %s=%s %s", repr(c.Tool), j.Param, repr(arg.Value.Text), j.Why)})
				}
			}
		}
	}
	return out
}

// whole is a text as one thing to look up, whatever it looks like.
func whole(text string) destination.Destination {
	return destination.Destination{Kind: destination.Opaque, Raw: text, Canonical: text}
}

// later is asking, but that the paranoid profile denies.
func later(c Call, r Rules, f Finding) []Finding {
	if r.Profile == policy.Paranoid {
		f.Verdict = Deny
		return []Finding{f}
	}
	return asking(c, f)
}
