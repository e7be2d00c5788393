package session

import (
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/mandate"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// Verbatim implements Store.
func (m *Memory) Verbatim(d destination.Destination) (provenance.Sighting, bool) {
	return provenance.Sighting{}, false
}

// Label implements Store.
func (m *Memory) Label(l provenance.Labelled) {}

// Labelled implements Store.
func (m *Memory) Labelled(server string, d destination.Destination) (provenance.Labelled, bool) {
	return provenance.Labelled{}, false
}

// Put implements Store.
func (m *Memory) Put(server string, ds []destination.Destination) {}

// Secret implements Store.
func (m *Memory) Secret(text string) (provenance.Labelled, bool) { return provenance.Labelled{}, false }

// Say implements Store.
func (m *Memory) Say(prompt string) {}

// Request implements Store.
func (m *Memory) Request() *mandate.Request { return nil }

// Fetch implements Store.
func (m *Memory) Fetch(domain, url string) int { return 1 }
