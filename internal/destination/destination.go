// Package destination says what an argument points at: an e-mail address, a URL, a path, an opaque id. It is pure:
// no I/O, no clock, no name resolution (a look-up would itself carry data out).
package destination

// Kind is what sort of thing a destination is.
type Kind string

// The kinds of destination.
const (
	Email  Kind = "email"
	URL    Kind = "url"
	Path   Kind = "path"
	Opaque Kind = "opaque"
)

// Destination is one place that a value can be sent to.
type Destination struct {
	Kind      Kind
	Raw       string // as it stood in the argument
	Canonical string // two spellings of one destination share it; trust compares it and nothing else
	Ambiguous string // why two readers could read it differently; "" when they cannot. Ambiguous is never trusted
}
