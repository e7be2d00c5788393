// Package mandate reads the user's own words: which acts they ask for, and which destinations they name for them. It is
// pure: text in, answers out.
//
// It must not decide anything, and it must doubt: a mention is not a mandate. What it does not understand vouches for
// nothing, which costs the user a question and never a leak.
package mandate

import "github.com/mcp-bouncer/bouncer/internal/destination"

// Request is what the user asked for. A nil Request is one that is not known: it asks for nothing and names nothing.
type Request struct {
	text string
}

// Read reads a prompt.
func Read(text string) *Request { return &Request{text: text} }

// Follow reads the next prompt of the same conversation: one that only confirms ("yes, go ahead") asks for what r asked.
func (r *Request) Follow(text string) *Request { return Read(text) }

// Asks reports whether the user asks for an act that one of the intent words names.
func (r *Request) Asks(intent []string) bool { return false }

// Vouches reports whether the user names d as a destination of such an act, and the words that do.
func (r *Request) Vouches(d destination.Destination, intent []string) (words string, ok bool) {
	return "", false
}

// Closed returns another destination of d's kind that the user names for such an act: a request that names its own
// destination leaves no room for another.
func (r *Request) Closed(d destination.Destination, intent []string) (other string, ok bool) {
	return "", false
}

// Names reports whether text stands in the user's own words as a whole.
func (r *Request) Names(text string) bool { return false }
