package session

import "github.com/mcp-bouncer/bouncer/internal/destination"

// Clean implements Store.
func (m *Memory) Clean() bool { return false }

// Use implements Store.
func (m *Memory) Use(ds []destination.Destination) {}

// First implements Store.
func (m *Memory) First(d destination.Destination) bool { return false }
