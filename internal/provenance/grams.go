package provenance

import "encoding/binary"

const (
	gram     = 5  // characters of a sampled piece of text; every second one is taken
	hashBits = 18 // bits of the bitmap for one block
	overlap  = 256
	probed   = 200 // bytes of a needle that are looked up; an occurrence that starts in a block has them in its bitmap
	rarest   = 8   // pieces of a needle that are asked first
)

// grams says which blocks may hold a text: one bit for every (piece, block), stored so that one word answers for 64
// blocks. Pieces start at even offsets of their leaf, so a needle is looked up at both alignments.
type grams struct {
	groups [][]uint64
	df     []uint32 // in how many blocks each bit is set: the rarest pieces of a needle are asked first
}

func (g *grams) size() int64 {
	return int64(len(g.groups)<<hashBits*8 + len(g.df)*4)
}

func hash(b []byte) uint32 {
	x := binary.LittleEndian.Uint64(b) & (1<<(8*gram) - 1)
	return uint32(x * 0x9e3779b97f4a7c15 >> (64 - hashBits))
}

// add enters a leaf that stands at an offset from the block first. The pieces at the start of a block belong to the
// block before as well, for needles that lie across the boundary.
func (g *grams) add(first, off int, text []byte) {
	for b := off >> blockBits; b<<blockBits < off+len(text); b++ {
		lo := max(b<<blockBits-off, 0)
		hi := min((b+1)<<blockBits+overlap-off, len(text)-gram+1)
		g.set(first+b, text, (lo+1)&^1, hi)
	}
}

// pour enters a whole leaf in one block, whatever its length.
func (g *grams) pour(block int, text []byte) {
	g.set(block, text, 0, len(text)-gram+1)
}

func (g *grams) set(block int, text []byte, lo, hi int) {
	for block>>6 >= len(g.groups) {
		g.groups = append(g.groups, make([]uint64, 1<<hashBits))
	}
	if g.df == nil {
		g.df = make([]uint32, 1<<hashBits)
	}
	group, df, shift := (*[1 << hashBits]uint64)(g.groups[block>>6]), (*[1 << hashBits]uint32)(g.df), block&63
	text = text[:len(text)+slack]
	for i := lo; i < hi; i += 2 { // without a branch: whether a piece is new here cannot be predicted
		h := hash(text[i:])
		old := group[h]
		group[h] = old | 1<<shift
		df[h] += uint32(^old>>shift) & 1
	}
}

// plan is the pieces of a needle at one alignment, the rarest first.
type plan struct {
	bits [probed / 2]uint32
	n    int
	dead bool // one of them is nowhere
}

func (g *grams) plan(needle []byte, from int) (p plan) {
	var padded [probed + slack]byte
	n := copy(padded[:probed], needle)
	for i := from; i+gram <= n; i += 2 {
		h := hash(padded[i:])
		if g.df == nil || g.df[h] == 0 {
			p.dead = true
			return p
		}
		p.bits[p.n] = h
		p.n++
	}
	for i := 0; i < min(rarest, p.n); i++ {
		least := i
		for j := i + 1; j < p.n; j++ {
			if g.df[p.bits[j]] < g.df[p.bits[least]] {
				least = j
			}
		}
		p.bits[i], p.bits[least] = p.bits[least], p.bits[i]
	}
	return p
}

// blocks returns the blocks of a group that may hold the plan's needle.
func (p *plan) blocks(group []uint64) uint64 {
	if p.dead {
		return 0
	}
	m := ^uint64(0)
	for _, h := range p.bits[:p.n] {
		if m &= group[h]; m == 0 {
			break
		}
	}
	return m
}
