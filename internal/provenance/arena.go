package provenance

import "sort"

const (
	blockBits = 16
	blockSize = 1 << blockBits // text that shares one bit of the bitmap
	slack     = 5              // readable bytes behind a leaf: grams are loaded eight bytes at a time
	maxChunk  = 4 << 20
)

// arena holds normalised text, append-only, in chunks that never move. A leaf lies in one chunk and ends with a zero
// byte, which no needle contains. A position is the number of a block and an offset in it; positions grow with time.
type arena struct {
	chunks    []*chunk
	grams     grams
	limit     int64
	allocated int64
	capped    bool // text is no longer kept
	saturated bool // positions no longer grow: everything is poured into the last group of blocks
	poured    int
}

type chunk struct {
	first int    // number of its first block
	data  []byte // nil beyond the memory limit
	size  int
	used  int
}

// next is the position that the next leaf will have at least.
func (a *arena) next() uint64 {
	if len(a.chunks) == 0 {
		return 0
	}
	c := a.chunks[len(a.chunks)-1]
	return uint64(c.first)<<blockBits + uint64(c.used)
}

// put appends a leaf, which must have slack bytes of capacity behind it, and returns its position.
func (a *arena) put(text []byte) uint64 {
	need := len(text) + 1
	if !a.saturated && (len(a.chunks) == 0 || a.last().used+need > a.last().size) {
		a.grow(need)
	}
	c := a.last()
	if a.saturated {
		a.poured += need
		a.grams.pour(c.first+a.poured>>blockBits&63, text)
		return uint64(c.first) << blockBits
	}
	at := c.used
	if c.data != nil {
		copy(c.data[at:], text)
		c.data[at+len(text)] = 0
	}
	c.used += need
	a.grams.add(c.first, at, text)
	return uint64(c.first)<<blockBits + uint64(at)
}

// chunkOf returns the chunk that text is the beginning of.
func (a *arena) chunkOf(text []byte) *chunk {
	for _, c := range a.chunks {
		if len(c.data) > 0 && len(text) > 0 && &c.data[0] == &text[0] {
			return c
		}
	}
	return nil
}

func (a *arena) last() *chunk { return a.chunks[len(a.chunks)-1] }

func (a *arena) grow(need int) {
	size, first := blockSize, 0
	if len(a.chunks) > 0 {
		c := a.last()
		size = min(2*c.size, maxChunk)
		first = c.first + (c.used+blockSize-1)>>blockBits
		a.shrink(c)
	}
	size = max(size, (need+blockSize-1)&^(blockSize-1))
	c := &chunk{first: first, size: size}
	a.capped = a.capped || a.allocated+int64(size) > a.limit
	switch {
	case !a.capped:
		c.data = make([]byte, size)
		a.allocated += int64(size)
	case int64(first+size>>blockBits) > 2*a.limit>>blockBits:
		// The bitmap is as large as it may get. One more group of blocks takes everything from here on: bits only add
		// up in it, until nothing can be ruled out.
		a.saturated = true
		c.first = (first + 63) &^ 63
	}
	a.chunks = append(a.chunks, c)
}

// shrink gives back the unused end of a chunk that a large leaf did not fit into.
func (a *arena) shrink(c *chunk) {
	if c.data == nil || c.size-c.used < c.size/8 {
		return
	}
	a.allocated -= int64(len(c.data) - c.used)
	c.data = append(make([]byte, 0, c.used), c.data[:c.used]...)
	c.size = c.used
}

// at returns the chunk that a block lies in.
func (a *arena) at(block int) *chunk {
	i := sort.Search(len(a.chunks), func(i int) bool { return a.chunks[i].first > block })
	if i == 0 {
		return nil
	}
	return a.chunks[i-1]
}
