// Package session holds the facts that all calls of one client session share: what servers wrote, which destinations a
// person vouched for, how many attempts were made. It decides nothing.
package session

import (
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// Store is the facts of one session. Every method is safe for concurrent use.
type Store interface {
	// Observe records one JSON value that a server wrote. It returns when the record can no longer be lost, before the
	// value is relayed; indexing may follow, but every later Seen waits for it. payload is copied.
	Observe(src provenance.Source, payload []byte)
	// Seen reports where d was first written by any server.
	Seen(d destination.Destination) (provenance.Sighting, bool)
	// Reserve takes the next attempt of server's tool and returns its number, from 1. Two calls never get the same one.
	Reserve(server, tool string) int
	// Vouch records that a person vouched for a destination of server's tool, for as long as the session lasts.
	Vouch(server, tool string, d destination.Destination)
	// Vouched reports whether Vouch was called for the same server, tool, kind and canonical destination.
	Vouched(server, tool string, d destination.Destination) bool
}
