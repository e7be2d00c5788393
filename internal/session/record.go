package session

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// A segment is a file of records, and one process writes it. A record is the length of its body, a checksum of it, and the
// body: what kind of record it is, and its parts, each behind its length.
const (
	recordHead = 8       // length and checksum
	maxBody    = 1 << 30 // no message is longer; a greater length is damage
)

// The kinds of record.
const (
	recObserved byte = iota + 1 // source, echoes, payload
	recLabelled                 // a label, and what has it
	recBell                     // the database has something new
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entry of a segment, read back.
type fact struct {
	kind    byte
	src     provenance.Source
	echo    []string
	payload []byte // stands in the buffer that was read
	label   provenance.Labelled
}

// seal returns the head of a record whose body is these parts together.
func seal(parts ...[]byte) (head [recordHead]byte) {
	size, sum := 0, uint32(0)
	for _, p := range parts {
		size += len(p)
		sum = crc32.Update(sum, castagnoli, p)
	}
	binary.LittleEndian.PutUint32(head[:], uint32(size))
	binary.LittleEndian.PutUint32(head[4:], sum)
	return head
}

// opened reports whether a body is the one that its head was made for.
func opened(head, body []byte) bool {
	return crc32.Checksum(body, castagnoli) == binary.LittleEndian.Uint32(head[4:])
}

func appendText(b []byte, texts ...string) []byte {
	for _, t := range texts {
		b = binary.AppendUvarint(b, uint64(len(t)))
		b = append(b, t...)
	}
	return b
}

func appendSource(b []byte, src provenance.Source) []byte {
	named := "n"
	if src.Named {
		named = "y"
	}
	return appendText(b, src.Server, src.Tool, src.Call, src.Kind, named)
}

func appendDestination(b []byte, d destination.Destination) []byte {
	return appendText(b, string(d.Kind), d.Raw, d.Canonical, d.Ambiguous)
}

// observation returns the body of an observed record, without the payload that ends it.
func observation(b []byte, src provenance.Source, echo []string) []byte {
	b = appendSource(append(b, recObserved), src)
	b = binary.AppendUvarint(b, uint64(len(echo)))
	return appendText(b, echo...)
}

// labelling returns the body of a labelled record.
func labelling(b []byte, l provenance.Labelled) []byte {
	b = appendSource(append(b, recLabelled), l.Sighting.Source)
	b = appendText(b, string(l.Label), l.Server, l.Sighting.Field, l.Sighting.Snippet, l.Sighting.Match)
	return appendDestination(b, l.Destination)
}

var errGarbled = errors.New("a record in it cannot be read")

// unpacker reads parts back. After the first part that is not there it reads nothing.
type unpacker struct {
	rest []byte
	bad  bool
}

func (u *unpacker) number() uint64 {
	v, n := binary.Uvarint(u.rest)
	if n <= 0 {
		u.bad, u.rest = true, nil
		return 0
	}
	u.rest = u.rest[n:]
	return v
}

func (u *unpacker) text() string {
	n := u.number()
	if n > uint64(len(u.rest)) {
		u.bad, u.rest = true, nil
		return ""
	}
	t := string(u.rest[:n])
	u.rest = u.rest[n:]
	return t
}

func (u *unpacker) source() provenance.Source {
	src := provenance.Source{Server: u.text(), Tool: u.text(), Call: u.text(), Kind: u.text()}
	switch u.text() {
	case "y":
		src.Named = true
	case "n":
	default:
		u.bad = true
	}
	return src
}

func (u *unpacker) destination() destination.Destination {
	return destination.Destination{Kind: destination.Kind(u.text()), Raw: u.text(), Canonical: u.text(), Ambiguous: u.text()}
}

// readFact reads the body of a record.
func readFact(body []byte) (fact, error) {
	if len(body) == 0 {
		return fact{}, errGarbled
	}
	f, u := fact{kind: body[0]}, unpacker{rest: body[1:]}
	switch f.kind {
	case recObserved:
		f.src = u.source()
		n := u.number()
		if n > uint64(len(u.rest)) { // each has a length of at least a byte
			return fact{}, errGarbled
		}
		for range n {
			f.echo = append(f.echo, u.text())
		}
		f.payload, u.rest = u.rest, nil
	case recLabelled:
		f.label.Sighting.Source = u.source()
		f.label.Label, f.label.Server = provenance.Label(u.text()), u.text()
		f.label.Sighting.Field, f.label.Sighting.Snippet, f.label.Sighting.Match = u.text(), u.text(), u.text()
		f.label.Destination = u.destination()
	case recBell:
	default:
		u.bad = true
	}
	if u.bad || len(u.rest) > 0 {
		return fact{}, errGarbled
	}
	return f, nil
}
