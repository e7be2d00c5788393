package gate

import (
	"fmt"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// ladder finds out where a destination came from, for one contract.
type ladder struct {
	c        Call
	r        Rules
	f        Facts
	contract string
}

// judge walks the origins from the strongest down; a refusal stands before everything. Trust is exact: a destination
// that two readers could read differently is never trusted. Taint is wide.
func (l ladder) judge(param string, d destination.Destination, kind policy.SinkKind) Judged {
	j := Judged{Contract: l.contract, Param: param, Destination: d, Kind: kind}
	j.Origin = l.origin(&j)
	if j.Origin == Untrusted || j.Origin == Unproven {
		j.Like = l.likeness(d)
	}
	return j
}

// likeness finds what d could be taken for. A twin that was planted before the real one is met cannot block that one: what the
// user, a directory or an approval vouches for never comes here.
func (l ladder) likeness(d destination.Destination) *Likeness {
	if to, how, ok := destination.Resembles(d, l.r.imitable); ok {
		return &Likeness{To: to, How: how}
	}
	if to, how, ok := destination.Resembles(d, l.f.Vouched()); ok {
		return &Likeness{To: to, How: how, Session: true}
	}
	return nil
}

func (l ladder) origin(j *Judged) Origin {
	d := j.Destination
	switch {
	case refuses(l.r.refused, d):
		j.Why = "is refused by the policy"
		return Refused
	case l.never(j):
		return Refused
	case covers(l.r.trusted, d):
		return Allowlisted
	case l.c.Answered[j.Key()] || l.f.Approved(l.contract, l.c.Tool, d):
		return Approved
	}
	if l.r.Profile != policy.Strict && d.Ambiguous == "" {
		if words, ok := l.c.User.Vouches(d, l.r.Intent); ok {
			j.Words = words
			return FromUser
		}
		if found, ok := l.f.Labelled(d); ok {
			j.Seen = &found.Sighting
			if found.Label == provenance.Directory {
				return Directory
			}
			return Attributed
		}
	}
	first := l.r.FirstUse && l.f.First(d)
	if seen, ok := l.seen(d); ok && !first {
		j.Seen = &seen
		if exact, ok := l.f.Verbatim(d); ok && l.r.Fetch && d.Kind == destination.URL {
			j.Seen, j.Verbatim = &exact, true
		}
		return Untrusted
	}
	j.First = first || l.r.CleanContext && l.f.Clean()
	return Unproven
}

// never reports a person's remembered refusal, which stands before every trust as the policy's own does.
func (l ladder) never(j *Judged) bool {
	why, refused := l.f.Refused(l.contract, l.c.Tool, j.Destination)
	if refused {
		j.Why = why
	}
	return refused
}

// seen looks d up. The profile strict knows the first version's substring too, so that it is never the weaker one.
func (l ladder) seen(d destination.Destination) (provenance.Sighting, bool) {
	if l.r.Profile == policy.Strict {
		if s, ok := l.f.Seen(d, provenance.Substring); ok {
			return s, true
		}
	}
	if s, ok := l.f.Seen(d, provenance.Tokens); ok {
		return s, true
	}
	return l.unveiled(d)
}

// unveiled looks up what an argument says in a disguise: the base64 of an address that a server wrote is that address to whoever
// decodes it (A41). It taints and never vouches.
func (l ladder) unveiled(d destination.Destination) (provenance.Sighting, bool) {
	for _, r := range destination.Unveil([]byte(d.Raw)) {
		for line := range strings.Lines(string(r.Text)) {
			for _, inner := range destination.Parse(strings.TrimSpace(line)) {
				if s, ok := l.f.Seen(inner, provenance.Tokens); ok {
					s.Field = strings.TrimPrefix(s.Field+", in the call through "+r.Through, ", ")
					return s, true
				}
			}
		}
	}
	return provenance.Sighting{}, false
}

func covers(entries []destination.Entry, d destination.Destination) bool {
	for _, entry := range entries {
		if entry.Covers(d) {
			return true
		}
	}
	return false
}

// refuses is wider than covers: what is refused as a host is refused below it, an ambiguous spelling of what is refused is refused, and
// so is a tagged one (all+1@corp.example): it comes to the same mailbox.
func refuses(entries []destination.Entry, d destination.Destination) bool {
	plain := d
	plain.Ambiguous = ""
	box := plain.Mailbox()
	for _, entry := range entries {
		if entry.Covers(d) || entry.Covers(plain) || entry.Covers(box) {
			return true
		}
		if host := entry.Host(); host != "" && (d.Host() == host || strings.HasSuffix(d.Host(), "."+host)) {
			return true
		}
	}
	return false
}

// verdictOn says what follows from a destination's origin, and why in words for a reason.
func verdictOn(j Judged, c Call, r Rules) (Verdict, string) {
	if j.Like != nil && !j.Like.Session && r.Profile != policy.Strict {
		return Deny, imitates(j)
	}
	verdict, why := onOrigin(j, c, r)
	if j.Like != nil {
		why += ", and " + imitates(j)
	}
	return verdict, why
}

// imitates says what a look-alike looks like. One of what the policy trusts is denied: whoever means it has to say so there. One of
// what was vouched for a moment ago is shown beside it and asked about, since lists hold brothers and sisters.
func imitates(j Judged) string {
	by := "the policy trusts"
	if j.Like.Session {
		by = "was approved"
	}
	return fmt.Sprintf("could be taken for %s, which %s: %s", repr(j.Like.To.Raw), by, j.Like.How)
}

func onOrigin(j Judged, c Call, r Rules) (Verdict, string) {
	switch j.Origin {
	case Refused:
		return Deny, j.Why
	case Untrusted:
		return onUntrusted(j, c, r)
	case Attributed:
		return Ask, "is known only as the name that a third party gave itself"
	case Unproven:
		return onUnproven(j, r)
	}
	if r.Profile == policy.Paranoid && !c.Answered[j.Key()] {
		return Ask, "is vouched for, and the paranoid profile asks about every call that sends"
	}
	return Allow, ""
}

// onUntrusted denies, unless the user asked for this very kind of act and left its destination open: then a person can
// tell. Never for money, and never when the request names another destination itself. See fetching for what only reads.
func onUntrusted(j Judged, c Call, r Rules) (Verdict, string) {
	const why = "came from untrusted data"
	if r.OnTainted != "" {
		return effect(r.OnTainted), why
	}
	if r.Profile != policy.Standard {
		return Deny, why
	}
	if r.Fetch && j.Verbatim {
		return fetching(j, c, r)
	}
	if c.User == nil || !c.User.Asks(r.Intent) {
		return Deny, why
	}
	if j.Kind == policy.KindAccount {
		return Deny, why + ", and money never follows it"
	}
	if other, closed := c.User.Closed(j.Destination, r.Intent); closed {
		return Deny, why + ", and the request names " + repr(other)
	}
	return Ask, why + ", for an act that the request asks for"
}

// fetching is about a URL that only reads and that stands as it is in untrusted text: it carries nothing out that its
// author does not know, but one of a series could spell a secret, letter by letter (A20). So only the first of its domain
// passes unasked, and only where the user pointed at the text that it stands in and named no other page. The links of a
// page that was fetched are its author's, whoever named the page.
func fetching(j Judged, c Call, r Rules) (Verdict, string) {
	const why = "stands in untrusted data, and reading it sends nothing else"
	if r.Verbatim == policy.Deny {
		return Deny, "came from untrusted data"
	}
	if r.Verbatim == policy.Ask || c.Fetched[j.Destination.Canonical] != 1 {
		return Ask, why
	}
	if r.Verbatim == policy.Allow {
		return Allow, ""
	}
	if _, closed := c.User.Closed(j.Destination, r.Intent); c.User == nil || closed || !j.Seen.Source.Named || j.Seen.Source.Tool == c.Tool {
		return Ask, why
	}
	return Allow, ""
}

func onUnproven(j Judged, r Rules) (Verdict, string) {
	why := "is not a vouched recipient"
	if j.Destination.Ambiguous != "" {
		why += ": " + j.Destination.Ambiguous
	}
	switch {
	case r.OnUnproven != "":
		return effect(r.OnUnproven), why
	case j.First && j.Destination.Ambiguous == "":
		return Allow, ""
	}
	return Ask, why
}

func effect(e policy.Effect) Verdict {
	switch e {
	case policy.Allow:
		return Allow
	case policy.Ask:
		return Ask
	}
	return Deny
}
