// Package session holds the facts that all calls of one client session share: what servers wrote, which destinations a
// person vouched for, how many attempts were made. It decides nothing.
package session

import (
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/mandate"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// Store is the facts of one session. Every method is safe for concurrent use.
type Store interface {
	// Mark begins a decision: what was observed and told before it, in any process, is known to the look-ups behind it. What
	// other processes add later may be. Err says why the store could not be used since then: whatever the other methods returned in
	// the meantime is no ground for one.
	Mark() uint64
	Err(since uint64) error

	// Observe records one JSON value that a server wrote. It returns when the record can no longer be lost, before the
	// value is relayed; indexing may follow, but every later Seen waits for it, in another process every one behind a later Mark. payload is copied. echo are values that
	// the agent itself put into the call that this answers: where the answer repeats one of them, as a whole token, it
	// says nothing new, so that it does not taint.
	// On an error the other processes will never know of it, and it must not be relayed.
	Observe(src provenance.Source, payload []byte, echo ...string) error
	// Seen reports where d was first written by any server.
	Seen(d destination.Destination, how provenance.Matching) (provenance.Sighting, bool)
	// Verbatim reports where d, as it is spelled, first stood as a whole in what a server wrote.
	Verbatim(d destination.Destination) (provenance.Sighting, bool)

	// Label records a destination (or a secret) that stood in a labelled field. It is called before the answer that holds
	// it is relayed.
	Label(l provenance.Labelled)
	// Labelled returns the strongest label that d has on server's own fields. A directory entry that an agent's call put
	// there (Put) is none.
	Labelled(server string, d destination.Destination) (provenance.Labelled, bool)
	// Put records what an allowed call wrote to server. What was a directory entry before stays one; what was not never
	// becomes one in this session.
	Put(server string, ds []destination.Destination)
	// Secret returns a value labelled secret, of any server, that stands in text.
	Secret(text string) (provenance.Labelled, bool)

	// Private returns a private object that was read (a Label of that kind), other than server's of that name. An object
	// without a name is other than every one.
	Private(server, object string) (provenance.Labelled, bool)

	// Clean reports that nothing but definitions was observed.
	Clean() bool
	// Use records what an allowed call named. First reports whether d was recorded so before any server wrote it.
	Use(ds []destination.Destination)
	First(d destination.Destination) bool

	// Say records a prompt of the user's own words.
	Say(prompt string)
	// Request is what the user asked for last; nil when no prompt is known.
	Request() *mandate.Request
	// Fetch notes that a URL of a registrable domain is about to be fetched under the current prompt, and returns which of
	// the domain's different URLs it is, from 1. The same URL again has its number again.
	Fetch(domain, url string) int

	// Reserve takes the next attempt of server's tool and returns its number, from 1. Two calls never get the same one.
	Reserve(server, tool string) int
	// Vouch records that a person vouched for a destination of server's tool, for as long as the session lasts.
	Vouch(server, tool string, d destination.Destination)
	// Vouched reports whether Vouch was called for the same server, tool, kind and canonical destination.
	Vouched(server, tool string, d destination.Destination) bool
	// VouchedFor returns the destinations that Vouch was called with for any tool of server, a thousand at most.
	VouchedFor(server string) []destination.Destination
}
