package provenance

import (
	"encoding/binary"
	"sort"
	"strconv"
	"strings"
)

// book says for every position which leaf of which answer stands there, in a few bytes a leaf: records in order of
// position, and for each a run of variable-length numbers in notes.
type book struct {
	sources  map[Source]uint32
	bySource []Source
	records  []record
	notes    []byte
	places   map[string]uint32
	byPlace  []string
	last     uint64
	strings  int64
}

type record struct {
	pos    uint64
	notes  uint64
	source uint32
}

const maxPlaces = 1 << 16 // different paths; beyond them evidence loses its path, nothing else

func (b *book) open(src Source, pos uint64) {
	id, ok := b.sources[src]
	if !ok {
		id = uint32(len(b.bySource))
		b.sources[src] = id
		b.bySource = append(b.bySource, src)
		b.strings += int64(2*64 + len(src.Server) + len(src.Tool) + len(src.Call) + len(src.Kind))
	}
	if n := len(b.records); n > 0 && b.records[n-1].notes == uint64(len(b.notes)) { // the one before had no text
		b.records = b.records[:n-1]
	}
	b.records = append(b.records, record{pos, uint64(len(b.notes)), id})
	b.last = pos
}

func (b *book) leaf(pos uint64, place []byte, at []uint32) {
	if b.places == nil {
		b.places = map[string]uint32{"…": 0}
		b.byPlace = []string{"…"}
	}
	id, ok := b.places[string(place)]
	if !ok && len(b.byPlace) < maxPlaces {
		id = uint32(len(b.byPlace))
		s := string(place)
		b.places[s] = id
		b.byPlace = append(b.byPlace, s)
		b.strings += int64(48 + len(s))
	}
	b.notes = binary.AppendUvarint(b.notes, pos-b.last)
	b.notes = binary.AppendUvarint(b.notes, uint64(id))
	b.notes = binary.AppendUvarint(b.notes, uint64(len(at)))
	for _, i := range at {
		b.notes = binary.AppendUvarint(b.notes, uint64(i))
	}
	b.last = pos
}

// find returns the source and field of the leaf that covers pos, and where that leaf starts.
func (b *book) find(pos uint64) (src Source, field string, start uint64) {
	i := sort.Search(len(b.records), func(i int) bool { return b.records[i].pos > pos })
	if i == 0 {
		return Source{}, "", pos
	}
	r := b.records[i-1]
	notes, end := b.notes[r.notes:], len(b.notes)
	if i < len(b.records) {
		end = int(b.records[i].notes)
	}
	notes = notes[:end-int(r.notes)]
	start = r.pos
	next := func() uint64 {
		v, n := binary.Uvarint(notes)
		notes = notes[max(n, 0):]
		return v
	}
	var place uint64
	var at []uint64
	for p := r.pos; len(notes) > 0; {
		if p += next(); p > pos {
			break
		}
		start, place, at = p, next(), at[:0]
		for n := next(); n > 0; n-- {
			at = append(at, next())
		}
	}
	return b.bySource[r.source], b.field(place, at), start
}

func (b *book) field(place uint64, at []uint64) string {
	if place >= uint64(len(b.byPlace)) {
		return ""
	}
	var s strings.Builder
	for _, c := range []byte(b.byPlace[place]) {
		if c != indexMark {
			s.WriteByte(c)
		} else if len(at) > 0 {
			s.WriteString("[" + strconv.FormatUint(at[0], 10) + "]")
			at = at[1:]
		}
	}
	return s.String()
}

func (b *book) size() int64 {
	return int64(cap(b.notes)+cap(b.records)*24) + b.strings
}
