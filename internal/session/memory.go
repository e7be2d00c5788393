package session

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// Indexing happens while nobody waits: a model thinks for seconds between two calls. It starts after a pause of
// idle without new records, when busy bytes wait, or at the next Seen, whichever comes first. A flood that is faster
// than the index is held up, record by record, once backlog bytes wait, so memory stays bounded.
const (
	idle    = 20 * time.Millisecond
	busy    = 8 << 20
	backlog = 64 << 20
)

// Memory is a Store inside one process.
type Memory struct {
	index *provenance.Index

	mu       sync.Mutex
	queue    []record
	waiting  int    // bytes in queue
	observed uint64 // records ever queued
	indexed  uint64 // records ever indexed
	armed    bool   // a look at the pause is due
	fresh    bool   // something was recorded since the last look

	indexing sync.Mutex // held while one record is moved into the index, so that records keep their order

	facts   sync.Mutex
	slots   map[[2]string]int
	vouched map[vouch]bool
	said    said
}

type record struct {
	src     provenance.Source
	payload []byte
	echo    []string
}

type vouch struct {
	server, tool string
	kind         destination.Kind
	canonical    string
}

// NewMemory returns an empty Store.
func NewMemory() *Memory {
	return &Memory{index: provenance.New(provenance.Options{}), slots: map[[2]string]int{}, vouched: map[vouch]bool{}, said: said{
		fetched: map[string]map[string]int{}, labels: map[entry]provenance.Labelled{}, put: map[entry]bool{},
		secrets: map[string]provenance.Labelled{}, first: map[spot]bool{},
	}}
}

// Mark implements Store.
func (m *Memory) Mark() uint64 { return 0 }

// Err implements Store: memory has no faults.
func (m *Memory) Err(uint64) error { return nil }

// Observe implements Store.
func (m *Memory) Observe(src provenance.Source, payload []byte, echo ...string) error {
	if src.Kind != "definition" && src.Kind != "instructions" {
		m.facts.Lock()
		m.said.read = true
		m.facts.Unlock()
	}
	m.mu.Lock()
	m.queue = append(m.queue, record{src, bytes.Clone(payload), echo})
	m.waiting += len(payload)
	m.observed++
	full := m.waiting >= backlog
	m.fresh = true
	if !m.armed { // armed once and not anew with every record: moving a timer costs more than the record
		m.armed = true
		time.AfterFunc(idle, m.look)
	}
	target := m.observed
	m.mu.Unlock()
	for full && m.step(target) { // as much as comes in is worked off, so that no single record pays for all of them
		m.mu.Lock()
		full = m.waiting >= backlog
		m.mu.Unlock()
	}
	return nil
}

// look indexes if nothing was recorded for a while, or too much waits.
func (m *Memory) look() {
	m.mu.Lock()
	if m.fresh && m.waiting < busy {
		m.fresh = false
		time.AfterFunc(idle, m.look)
		m.mu.Unlock()
		return
	}
	m.armed = false
	m.mu.Unlock()
	inBackground()
	m.catchUp()
}

// catchUp returns when everything that was observed before the call is indexed. Records are taken one by one, so that a
// decision that waits does the rest of a background run itself instead of waiting for it.
func (m *Memory) catchUp() {
	m.mu.Lock()
	target := m.observed
	m.mu.Unlock()
	for m.step(target) {
	}
}

// step indexes the next record, unless target records are indexed already.
func (m *Memory) step(target uint64) bool {
	m.indexing.Lock()
	defer m.indexing.Unlock()
	m.mu.Lock()
	if m.indexed >= target {
		m.mu.Unlock()
		return false
	}
	next := m.queue[0]
	m.queue[0] = record{}
	m.queue = m.queue[1:]
	m.mu.Unlock()

	m.index.Add(next.src, next.payload, next.echo...)

	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting -= len(next.payload)
	m.indexed++
	return true
}

// Seen implements Store.
func (m *Memory) Seen(d destination.Destination, how provenance.Matching) (provenance.Sighting, bool) {
	m.catchUp()
	if how == provenance.Tokens {
		return m.index.FindTokens(d)
	}
	return m.index.Find(d)
}

// Reserve implements Store.
func (m *Memory) Reserve(server, tool string) int {
	m.facts.Lock()
	defer m.facts.Unlock()
	key := [2]string{server, tool}
	m.slots[key]++
	return m.slots[key]
}

// Vouch implements Store. An ambiguous destination cannot be vouched for beyond one call: nobody can say what it is.
func (m *Memory) Vouch(server, tool string, d destination.Destination) {
	if d.Ambiguous != "" {
		return
	}
	m.facts.Lock()
	defer m.facts.Unlock()
	m.vouched[vouch{server, tool, d.Kind, d.Canonical}] = true
}

// Vouched implements Store.
func (m *Memory) Vouched(server, tool string, d destination.Destination) bool {
	if d.Ambiguous != "" {
		return false
	}
	m.facts.Lock()
	defer m.facts.Unlock()
	return m.vouched[vouch{server, tool, d.Kind, d.Canonical}]
}

// maxImitable is how many vouched destinations look-alikes are compared with.
const maxImitable = 1000

// VouchedFor implements Store.
func (m *Memory) VouchedFor(server string) (out []destination.Destination) {
	m.facts.Lock()
	defer m.facts.Unlock()
	for v := range m.vouched {
		if v.server == server {
			out = append(out, destination.Destination{Kind: v.kind, Raw: v.canonical, Canonical: v.canonical})
		}
	}
	slices.SortFunc(out, func(a, b destination.Destination) int {
		return cmp.Or(strings.Compare(a.Canonical, b.Canonical), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	return out[:min(len(out), maxImitable)]
}
