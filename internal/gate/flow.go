package gate

import (
	"fmt"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// flow asks about text that goes where strangers read it after something that they may not read was read: the pull request
// on the public repository that quotes the private one (A01, A02), the answer to an outsider's ticket (A04). What goes
// back to where it was read from is no flow. No word in the text would show it, and the destination is the user's own, so
// nothing but what was read before can.
func flow(c Call, r Rules, f Facts) []Finding {
	if r.Public == nil || r.Public.Kept(c.Args) {
		return nil
	}
	object := r.Public.Of(c.Args)
	read, found := f.Private(object)
	if !found {
		return nil
	}
	from, where := repr(read.Destination.Raw), repr(object)
	if read.Destination.Raw == "" {
		from = "private data"
	}
	if object == "" {
		where = "a place that the call does not name"
	}
	name := read.Destination.Raw + " to " + object
	j := Judged{Contract: Flow, Destination: destination.Destination{Kind: destination.Opaque, Raw: name, Canonical: name}, Origin: Unproven, Seen: &read.Sighting}
	if why, never := f.Refused(Flow, c.Tool, j.Destination); never {
		return []Finding{{Contract: Flow, Verdict: Deny, Judged: &j, Reason: fmt.Sprintf("%s after %s was read %s", repr(c.Tool), from, why)}}
	}
	if f.Approved(Flow, c.Tool, j.Destination) {
		return nil
	}
	finding := Finding{Contract: Flow, Judged: &j, Reason: fmt.Sprintf("%s writes to %s, where others can read it, after %s was read by %s",
		repr(c.Tool), where, from, repr(read.Sighting.Source.Tool))}
	return later(c, r, finding)
}
