package jsonrpc

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// name is a member name of an object that is being scanned. Key is cheap to compare and differs for most different
// names.
type name struct {
	key  uint64
	from uint32
	size uint32 // the top bit says that the text stands in scanner.unquoted, not in scanner.b
}

const inUnquoted = 1 << 31

// fewNames is up to how many names an object is searched from end to end; a table takes over above.
const fewNames = 16

// The table is keyed by a random seed, so that nobody can write names that all meet in one slot.
var nameSeed = maphash.MakeSeed()

// nameSet is the names of one object: a range at the end of scanner.names, since an inner object is over before its
// outer one goes on.
type nameSet struct {
	first    int
	unquoted int
	unique   bool
	table    []uint32 // hash slots: position in the set, plus one; nil while the object is small
}

func (s *scanner) newNames(unique bool) nameSet {
	return nameSet{first: len(s.names), unquoted: len(s.unquoted), unique: unique}
}

func (s *scanner) endNames(set *nameSet) {
	s.names = s.names[:set.first]
	s.unquoted = s.unquoted[:set.unquoted]
}

func (s *scanner) nameText(n name) []byte {
	if n.size&inUnquoted != 0 {
		return s.unquoted[n.from:][:n.size&^inUnquoted]
	}
	return s.b[n.from:][:n.size]
}

// memberName returns the text of the name that stands, quotes included, at [at, end), and notes what is wrong with it:
// a duplicate, a NUL, or (envelope only, elsewhere str decides) a lone surrogate. The text is good until the object
// ends.
func (s *scanner) memberName(at, end int, escaped bool, lv level, set *nameSet) []byte {
	n := name{from: uint32(at + 1), size: uint32(end - at - 2)}
	if escaped {
		from := len(s.unquoted)
		out, lone := unquote(s.unquoted, s.b[at+1:end-1])
		s.unquoted = out
		n = name{from: uint32(from), size: uint32(len(out)-from) | inUnquoted}
		if lone && lv == envelope {
			s.note(at, "lone surrogate in a member name", nil)
		}
		// A reader written in C ends the name there: "to\u0000x" is its "to".
		if bytes.IndexByte(out[from:], 0) >= 0 {
			s.note(at, "NUL in the member name", out[from:])
		}
	}
	text := s.nameText(n)
	if set.unique && !s.add(n, text, set) {
		s.note(at, "duplicate name", text)
	}
	return text
}

// add puts a name into the set and reports whether it is new (A50).
func (s *scanner) add(n name, text []byte, set *nameSet) bool {
	n.key = nameKey(text)
	count := len(s.names) - set.first
	if count >= fewNames {
		return s.addToTable(n, text, set)
	}
	for _, o := range s.names[set.first:] {
		if o.key == n.key && bytes.Equal(s.nameText(o), text) {
			return false
		}
	}
	s.names = append(s.names, n)
	return true
}

func (s *scanner) addToTable(n name, text []byte, set *nameSet) bool {
	count := len(s.names) - set.first
	if 2*(count+1) > len(set.table) {
		set.table = make([]uint32, max(4*fewNames, 2*len(set.table)))
		for i, o := range s.names[set.first:] {
			slot, _ := s.find(s.nameText(o), o.key, set)
			set.table[slot] = uint32(i + 1)
		}
	}
	slot, found := s.find(text, n.key, set)
	if found {
		return false
	}
	s.names = append(s.names, n)
	set.table[slot] = uint32(count + 1)
	return true
}

// find returns the slot of a name in the set's table, or the free slot where it belongs.
func (s *scanner) find(text []byte, key uint64, set *nameSet) (slot int, found bool) {
	mask := len(set.table) - 1
	for slot = int(maphash.Bytes(nameSeed, text)) & mask; set.table[slot] != 0; slot = (slot + 1) & mask {
		o := s.names[set.first+int(set.table[slot])-1]
		if o.key == key && bytes.Equal(s.nameText(o), text) {
			return slot, true
		}
	}
	return slot, false
}

// nameKey mixes a name's length with its first and last bytes.
func nameKey(text []byte) uint64 {
	n := len(text)
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(text) + 31*binary.LittleEndian.Uint64(text[n-8:]) + uint64(n)
	case n >= 4:
		lo, hi := binary.LittleEndian.Uint32(text), binary.LittleEndian.Uint32(text[n-4:])
		return uint64(lo) | uint64(hi)<<32 + uint64(n)
	case n == 0:
		return 0
	}
	return uint64(text[0]) | uint64(text[n/2])<<8 | uint64(text[n-1])<<16 | uint64(n)<<24
}
