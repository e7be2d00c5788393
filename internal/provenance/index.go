package provenance

import (
	"hash/maphash"
	"sync"
)

// Limits that are no options: each is far beyond an honest session.
const (
	minRunes    = 6         // the shortest text that taints
	workPerFind = 5_000_000 // what one look-up may cost in index's measure: some 5 ms, 5 to 40 MB of text
	maxKeys     = 4 << 20
	maxNames    = 1 << 16
)

// Options bound an Index. The zero value is the default.
type Options struct {
	// MaxText is how many bytes of normalised text are kept, 256 MiB when 0. Beyond it only the sampled bitmap and
	// the canonical keys grow, up to as much again; then they saturate. What they cannot rule out is tainted.
	MaxText int64
}

// Index remembers observed text. It is safe for one writer and many readers, and for many writers.
type Index struct {
	mu    sync.RWMutex
	seed  maphash.Seed
	arena arena
	keys  map[uint64]uint64 // typed destination -> position of its first sighting
	lost  bool              // a key was not kept
	book  book              // where each leaf of text came from
	seen  map[recordKey]struct{}
	names map[string]struct{} // member names that are stored already
	walk  walker              // the writer's scratch space
	total int64               // bytes observed
}

type recordKey struct {
	hash uint64
	size int
	json bool
}

// New returns an empty Index.
func New(opts Options) *Index {
	if opts.MaxText <= 0 {
		opts.MaxText = 256 << 20
	}
	ix := &Index{
		seed:  maphash.MakeSeed(), // nobody can aim at a collision
		keys:  map[uint64]uint64{},
		seen:  map[recordKey]struct{}{},
		names: map[string]struct{}{},
	}
	ix.arena.limit = opts.MaxText
	ix.book.sources = map[Source]uint32{}
	ix.walk.ix = ix
	return ix
}

// Add observes one JSON value as a server wrote it. Every string, every member name and every number of six or more
// characters is text, on its own: a match never spans two of them. What is not JSON is observed as one plain text.
// Bytes that were observed before change nothing, so that the first sighting stays the first.
// echo are values that the agent itself put into the call that this answers: repeated as whole tokens, they say nothing
// new and do not taint.
func (ix *Index) Add(src Source, payload []byte, echo ...string) {
	ix.observe(src, payload, true, "", echo)
}

// AddText observes one plain text; field names its place in the evidence.
func (ix *Index) AddText(src Source, field, text string) {
	ix.observe(src, []byte(text), false, field, nil)
}

func (ix *Index) observe(src Source, payload []byte, json bool, field string, echo []string) {
	key := recordKey{maphash.Bytes(ix.seed, payload), len(payload), json}
	for _, e := range echo { // the same answer to another call says something else
		key.hash = key.hash*31 + maphash.String(ix.seed, e)
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.total += int64(len(payload))
	if _, again := ix.seen[key]; again {
		return
	}
	if !ix.arena.saturated {
		ix.seen[key] = struct{}{}
		ix.book.open(src, ix.arena.next())
	}
	ix.walk.start(field)
	ix.walk.echoes(echo)
	if !json {
		ix.walk.leaf(payload)
	} else if !ix.walk.json(payload) {
		ix.walk.start("")
		ix.walk.leaf(payload)
	}
}

// store keeps one leaf: its normalised text, followed by slack zero bytes in the same array, at the place in the
// answer that the walker stands at.
func (ix *Index) store(text []byte, seams []int, place []byte, at []uint32) {
	ix.walk.found = apart(typed(ix.walk.found[:0], text), text, seams)
	if len(text) < minRunes && len(ix.walk.found) == 0 {
		return
	}
	pos := ix.arena.put(text)
	if !ix.arena.saturated {
		ix.book.leaf(pos, place, at)
	}
	for _, f := range ix.walk.found {
		k := ix.key(f.kind, f.local, f.host)
		if _, ok := ix.keys[k]; ok {
			continue
		}
		if len(ix.keys) >= maxKeys {
			ix.lost = true
			continue
		}
		ix.keys[k] = pos + uint64(f.at)
	}
}

// key hashes a typed destination; a host has no local part.
func (ix *Index) key(kind byte, local, host []byte) uint64 {
	var buf [1024]byte
	b := append(append(append(append(buf[:0], kind), local...), '@'), host...)
	return maphash.Bytes(ix.seed, b)
}

// Stats says how much an Index holds.
type Stats struct {
	Observed int64 // bytes given to Add and AddText
	Text     int64 // bytes of memory for normalised text
	Bitmap   int64 // bytes of memory for the sampled bitmap
	Rest     int64 // bytes of memory for keys, places and sources, estimated
	Capped   bool  // some text is no longer kept
}

// Stats reports the current sizes.
func (ix *Index) Stats() Stats {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return Stats{
		Observed: ix.total,
		Text:     ix.arena.allocated,
		Bitmap:   ix.arena.grams.size(),
		Rest:     int64(len(ix.keys)*24+len(ix.seen)*32) + ix.book.size(),
		Capped:   ix.arena.capped,
	}
}
