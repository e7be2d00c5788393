package provenance

import (
	"encoding/binary"
	"math/bits"
)

const (
	gram      = 5  // bytes of a sampled piece of text; every second one is taken
	hashBits  = 18 // bits of the bitmap for one block
	short     = 3  // bytes of the small pieces, taken at the same places
	shortBits = 15
	shortMax  = 12 // needles up to here have too few pieces, and are looked up by the small ones too
	overlap   = 256
	probed    = 200 // bytes of a needle that are looked up; an occurrence that starts in a block has them in its bitmap
	rarest    = 8   // pieces of a needle that are asked first
)

// grams says which blocks may hold a text: one bit for every (piece, block), stored so that one word answers for 64
// blocks. Pieces start at even offsets of their leaf, so a needle is looked up at both alignments.
//
// The block that is being written has a bitmap of its own, which fits the processor's first cache; it is entered into
// the groups when the next block begins.
type grams struct {
	groups [][]uint64
	shorts [][]uint64 // the same for small pieces
	df     []uint32   // in how many blocks each bit is set: the rarest pieces of a needle are asked first
	open   int        // the block that is being written
	fresh  [1 << (hashBits - 6)]uint64
	little [1 << (shortBits - 6)]uint64 // small pieces of the open block
}

func (g *grams) size() int64 {
	return int64(len(g.groups)*8*(1<<hashBits+1<<shortBits) + len(g.df)*4 + (len(g.fresh)+len(g.little))*8)
}

// hash returns the bit number of the piece that b starts with; b has eight bytes.
func hash(b []byte) uint32 {
	x := binary.LittleEndian.Uint64(b) & (1<<(8*gram) - 1)
	return uint32(x * 0x9e3779b97f4a7c15 >> (64 - hashBits))
}

// small returns the bit number of the small piece that b starts with. salt is the group's own, so that a needle whose
// pieces happen to collide with common ones does so in few groups and not everywhere.
func small(b []byte, salt uint64) uint32 {
	x := binary.LittleEndian.Uint64(b) & (1<<(8*short) - 1)
	return uint32(x * salt >> (64 - shortBits))
}

// salt is an odd number that differs in all its bits from group to group.
func salt(group int) uint64 {
	x := uint64(group+1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (x ^ x>>31) | 1
}

// add enters a leaf that stands at an offset from the block first. The pieces at the start of a block belong to the
// block before as well, for needles that lie across the boundary.
func (g *grams) add(first, off int, text []byte) {
	for b := off >> blockBits; b<<blockBits < off+len(text); b++ {
		lo := max(b<<blockBits-off, 0)
		hi := min((b+1)<<blockBits+overlap-off, len(text)-short+1)
		g.set(first+b, text, (lo+1)&^1, hi)
	}
}

// pour enters a whole leaf in one block, whatever its length.
func (g *grams) pour(block int, text []byte) {
	g.set(block, text, 0, len(text)-short+1)
}

func (g *grams) set(block int, text []byte, lo, hi int) {
	if block != g.open {
		g.seal()
		g.open = block
	}
	text, own := text[:len(text)+slack], salt(block>>6)
	for i := lo; i < hi; i += 2 {
		h, s := hash(text[i:]), small(text[i:], own) // at the very end a piece takes slack along: one bit too many
		g.fresh[h>>6] |= 1 << (h & 63)
		g.little[s>>6] |= 1 << (s & 63)
	}
}

// seal enters the open block into the groups.
func (g *grams) seal() {
	for g.open>>6 >= len(g.groups) {
		g.groups = append(g.groups, make([]uint64, 1<<hashBits))
		g.shorts = append(g.shorts, make([]uint64, 1<<shortBits))
	}
	if g.df == nil {
		g.df = make([]uint32, 1<<hashBits)
	}
	group, bit := g.groups[g.open>>6], uint64(1)<<(g.open&63)
	for i, w := range g.fresh {
		for ; w != 0; w &= w - 1 {
			h := i<<6 + bits.TrailingZeros64(w)
			if group[h]&bit == 0 { // a saturated arena comes back to a block
				group[h] |= bit
				g.df[h]++
			}
		}
	}
	smalls := g.shorts[g.open>>6]
	for i, w := range g.little {
		for ; w != 0; w &= w - 1 {
			smalls[i<<6+bits.TrailingZeros64(w)] |= bit
		}
	}
	clear(g.fresh[:])
	clear(g.little[:])
}

// plan is the pieces of a needle at one alignment, the rarest first.
type plan struct {
	bits   [probed / 2]uint32
	n      int
	smalls [shortMax / 2][8]byte // a short needle's small pieces
	m      int
	sealed bool // every piece is in some sealed block
	open   bool // every piece is in the open block
}

func (g *grams) plan(needle []byte, from int) (p plan) {
	var padded [probed + 8]byte
	n := copy(padded[:probed], needle)
	p.sealed, p.open = g.df != nil, true
	for i := from; i+gram <= n && (p.sealed || p.open); i += 2 {
		h := hash(padded[i:])
		p.sealed = p.sealed && g.df[h] != 0
		p.open = p.open && g.fresh[h>>6]>>(h&63)&1 != 0
		p.bits[p.n] = h
		p.n++
	}
	for i := from; i+short <= n && n <= shortMax; i += 2 {
		s := small(padded[i:], salt(g.open>>6))
		p.open = p.open && g.little[s>>6]>>(s&63)&1 != 0
		p.m += copy(p.smalls[p.m][:], padded[i:]) >> 3
	}
	if p.sealed {
		p.sort(g.df)
	}
	return p
}

// sort brings the rarest pieces to the front.
func (p *plan) sort(df []uint32) {
	for i := 0; i < min(rarest, p.n); i++ {
		least := i
		for j := i + 1; j < p.n; j++ {
			if df[p.bits[j]] < df[p.bits[least]] {
				least = j
			}
		}
		p.bits[i], p.bits[least] = p.bits[least], p.bits[i]
	}
}

// blocks returns the sealed blocks of group n that may hold the plan's needle.
func (p *plan) blocks(g *grams, n int) uint64 {
	if !p.sealed {
		return 0
	}
	m := ^uint64(0)
	for _, h := range p.bits[:p.n] {
		if m &= g.groups[n][h]; m == 0 {
			return 0
		}
	}
	own := salt(n)
	for i := range p.smalls[:p.m] {
		m &= g.shorts[n][small(p.smalls[i][:], own)]
	}
	return m
}
