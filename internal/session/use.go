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
		m.facts.Lock()
		if len(m.said.first) < maxLabels {
			m.said.first[place{d.Kind, d.Canonical}] = true
		}
		m.facts.Unlock()
	}
}

// First implements Store.
func (m *Memory) First(d destination.Destination) bool {
	m.facts.Lock()
	defer m.facts.Unlock()
	return d.Ambiguous == "" && m.said.first[place{d.Kind, d.Canonical}]
}
