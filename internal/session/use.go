package session

import (
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// Clean implements Store.
func (m *Memory) Clean() bool {
	m.facts.Lock()
	defer m.facts.Unlock()
	return !m.said.read
}

// Use implements Store.
func (m *Memory) Use(ds []destination.Destination) {
	for _, d := range ds {
		if d.Ambiguous != "" {
			continue
		}
		if _, seen := m.Seen(d, provenance.Tokens); seen {
			continue
		}
		m.claim(d)
	}
}

// claim records that nobody wrote d before the agent used it.
func (m *Memory) claim(d destination.Destination) {
	m.facts.Lock()
	defer m.facts.Unlock()
	if len(m.said.first) < maxLabels {
		m.said.first[spot{d.Kind, d.Canonical}] = true
	}
}

// First implements Store.
func (m *Memory) First(d destination.Destination) bool {
	m.facts.Lock()
	defer m.facts.Unlock()
	return d.Ambiguous == "" && m.said.first[spot{d.Kind, d.Canonical}]
}
