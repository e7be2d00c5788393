package provenance

import (
	"bytes"
	"math/bits"
)

// outcome of a search.
type outcome uint8

const (
	absent outcome = iota
	present
	unknown // a bound was reached
)

// search finds the first position at which needle stands. work is what is left of the look-up's bound; when it runs out,
// or text is no longer kept, the answer is unknown and pos the place of doubt. needle is normalised and at least
// minRunes bytes long.
//
// accept, if there is one, says whether an occurrence counts; the search goes on past one that does not. It gets the
// chunk's text and where the occurrence begins in it.
func (a *arena) search(needle []byte, work *int, accept func(text []byte, at int) bool) (pos uint64, o outcome) {
	even, odd := a.grams.plan(needle, 0), a.grams.plan(needle, 1)
	anchor := anchorOf(needle)
	if even.sealed || odd.sealed {
		for g := range a.grams.groups {
			for m := even.blocks(&a.grams, g) | odd.blocks(&a.grams, g); m != 0; m &= m - 1 {
				block := g<<6 + bits.TrailingZeros64(m)
				pos, o := a.verify(block, needle, anchor, work, accept)
				if o != absent {
					return pos, o
				}
			}
		}
	}
	if even.open || odd.open {
		return a.verify(a.grams.open, needle, anchor, work, accept)
	}
	return 0, absent
}

// verify looks for the needle's start in one block.
func (a *arena) verify(block int, needle []byte, anchor int, work *int, accept func([]byte, int) bool) (uint64, outcome) {
	start := uint64(block) << blockBits
	c := a.at(block)
	if c == nil || c.data == nil || *work <= 0 {
		return start, unknown
	}
	lo := (block - c.first) << blockBits
	hi := min(c.used, lo+blockSize+len(needle)-1)
	if lo+len(needle) > hi {
		return 0, absent
	}
	for from := lo; ; from++ {
		i, cost := index(c.data[from:hi], needle, anchor)
		*work -= cost
		if i < 0 {
			return 0, absent
		}
		if from += i; accept == nil || accept(c.data[:c.used], from) {
			return uint64(c.first)<<blockBits + uint64(from), present
		}
		if *work <= 0 {
			return start, unknown
		}
	}
}

// index is bytes.Index that jumps from one occurrence of the needle's rarest byte to the next, and falls back when
// that byte is not rare here. cost is what it took, in something like nanoseconds: the same for the same bytes on every
// machine, so that a verdict does not depend on the clock.
func index(text, needle []byte, anchor int) (at, cost int) {
	p, tries := 0, 0
	for p+len(needle) <= len(text) {
		i := bytes.IndexByte(text[p+anchor:len(text)-len(needle)+anchor+1], needle[anchor])
		if i < 0 {
			break
		}
		p += i
		if bytes.Equal(text[p:p+len(needle)], needle) {
			return p, p/8 + 16*tries
		}
		p++
		if tries++; tries > 16+p>>5 {
			cost = p/8 + 16*tries + len(text) - p
			if i = bytes.Index(text[p:], needle); i < 0 {
				return -1, cost
			}
			return p + i, cost
		}
	}
	return -1, len(text)/8 + 16*tries
}

// commonness orders bytes by how often they stand in text; what is not listed is rare.
var commonness = func() (t [256]uint8) {
	for i, c := range []byte("@~^|`{}<>$&#%*+=!?;'()[]9876543z2x1q0j\"k_v/b:-,yg.pwmcfulhdsrniaote ") {
		t[c] = uint8(i)
	}
	for c := 0x80; c < 0x100; c++ {
		t[c] = 40
	}
	return t
}()

func anchorOf(needle []byte) (at int) {
	for i, c := range needle {
		if commonness[c] < commonness[needle[at]] {
			at = i
		}
	}
	return at
}
