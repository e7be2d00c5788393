package destination

import (
	"slices"
	"sync"
)

// A session sends to few places and asks about each again and again. Reading one is a pure function of its spelling, so
// the last ones are kept; nobody can tell but by the clock.
const (
	memoLongest = 256
	memoSize    = 512
)

type memory struct {
	mu   sync.Mutex
	last map[string][]Destination
}

var memo = memory{last: map[string][]Destination{}}

func (m *memory) get(raw string) ([]Destination, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ds, ok := m.last[raw]
	return slices.Clone(ds), ok // a caller may change what it gets
}

func (m *memory) put(raw string, ds []Destination) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.last) >= memoSize {
		clear(m.last)
	}
	m.last[raw] = slices.Clone(ds)
}
