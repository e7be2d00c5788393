package provenance

import "github.com/mcp-bouncer/bouncer/internal/destination"

// Label says what a field of a tool's answer is, as the user's policy or a pack names it.
type Label string

// The labels, strongest first.
const (
	Directory  Label = "directory"  // the user's own register: contacts, members, past payees
	Attributed Label = "attributed" // a third party fills it, and it names who they are: a sender, a participant
	Secret     Label = "secret"     // not a destination: a value that leaves only when the user names it
	Private    Label = "private"    // not a field: an object that a call read and that strangers may not
)

// Labelled is a destination that stood in a labelled field.
type Labelled struct {
	Label       Label
	Server      string // whose field it was; a label vouches on that server's tools only
	Destination destination.Destination
	Sighting    Sighting
}
