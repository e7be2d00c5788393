package jsonrpc

import (
	"bytes"
	"fmt"
	"math"
	"sync"
)

const (
	// MaxDepth is how deep objects and lists may nest, the outermost counted. Readers give up at depths from 1,000
	// (or a stack overflow) upwards; staying far below all of them keeps every reader's answer the same, and lets the
	// scanner recurse.
	MaxDepth = 200

	// maxValues bounds what Decode builds: "[0,0,0..." costs 2 bytes a value on the wire and 96 in memory, so a frame
	// at the size limit could otherwise take gigabytes.
	maxValues = 1 << 20

	// maxText is what the 31-bit offsets of name can address.
	maxText = math.MaxInt32

	codeNotJSON    = -32700
	codeNotRequest = -32600
)

// fault is a refusal before it is put into words; most frames have none, so wording waits.
type fault struct {
	at   int
	code int // 0: no fault
	what string
	name []byte // the member name that what is about, or nil
}

func (f fault) reason() string {
	if f.name != nil {
		return fmt.Sprintf("%s %s at byte %d", f.what, show(f.name), f.at)
	}
	return fmt.Sprintf("%s at byte %d", f.what, f.at)
}

// shown is how much of a name a reason quotes.
const shown = 64

// show quotes text that a stranger wrote so that it can neither flood a log nor steer a terminal.
func show(b []byte) string {
	if len(b) > shown {
		return fmt.Sprintf("%q...", b[:shown])
	}
	return fmt.Sprintf("%q", b)
}

// scanner proves text to be one JSON value. Its methods take the position to read at and return the position after
// what they read, or -1 after a hard fault. Faults that leave the text readable (a duplicate name) do not stop the
// scan: text that is also not JSON must be called so.
type scanner struct {
	b []byte

	server   bool // lone surrogate escapes are let through
	unique   int  // names must be unique in objects down to this depth
	lines    bool // CR and LF are whitespace: the text is a value, not a frame
	hard     fault
	soft     fault
	values   int
	names    []name
	unquoted []byte // the text of names that had escapes
	spans    [slots]span
	extra    bool // the envelope has members that JSON-RPC does not know
}

type span struct{ from, to int }

var scanners = sync.Pool{New: func() any { return new(scanner) }}

func newScanner(text []byte, server bool, unique int, lines bool) *scanner {
	s := scanners.Get().(*scanner)
	names, unquoted := s.names[:0], s.unquoted[:0]
	// What one giant object needed must not stay with the process.
	if cap(names) > 4096 {
		names = nil
	}
	if cap(unquoted) > 64<<10 {
		unquoted = nil
	}
	*s = scanner{b: text, server: server, unique: unique, lines: lines, names: names, unquoted: unquoted}
	return s
}

// free gives s back; no span or fault of it may be used afterwards.
func (s *scanner) free() {
	s.b = nil
	scanners.Put(s)
}

// fail refuses the text as not JSON.
func (s *scanner) fail(at int, what string) int {
	s.hard = fault{at: at, code: codeNotJSON, what: what}
	return -1
}

// stop refuses the text where reading on would cost too much, JSON or not.
func (s *scanner) stop(at int, what string) int {
	s.hard = fault{at: at, code: codeNotRequest, what: what}
	return -1
}

// note refuses the text but lets the scan go on. The first note is kept.
func (s *scanner) note(at int, what string, name []byte) {
	if s.soft.code == 0 {
		// The name is copied: where it had escapes, its text gives way to the next object's.
		s.soft = fault{at: at, code: codeNotRequest, what: what, name: bytes.Clone(name[:min(len(name), 2*shown)])}
	}
}

// fault returns why the text is refused; its code is 0 when it is not.
func (s *scanner) fault() fault {
	if s.hard.code != 0 {
		return s.hard
	}
	return s.soft
}

// whole scans the text as one value with nothing behind it and reports whether it is free of faults.
func (s *scanner) whole(lv level, out *Value) bool {
	if len(s.b) > maxText {
		s.stop(0, "text over 2 GiB")
		return false
	}
	if at := invalidUTF8(s.b); at >= 0 {
		s.fail(at, "invalid UTF-8")
		return false
	}
	if bytes.HasPrefix(s.b, []byte("\uFEFF")) {
		s.fail(0, "byte order mark")
		return false
	}
	i := s.value(s.space(0), 1, lv, out)
	if i < 0 {
		return false
	}
	if i = s.space(i); i < len(s.b) {
		// A52: two values on one line. One reader takes the first, another both.
		s.fail(i, "data after the JSON value")
	}
	return s.fault().code == 0
}

// value reads the value at i, which stands in depth-1 containers. When out is not nil the value is put there.
func (s *scanner) value(i, depth int, lv level, out *Value) int {
	if i >= len(s.b) {
		return s.fail(i, "unexpected end")
	}
	if out != nil {
		if s.values++; s.values > maxValues {
			return s.stop(i, "more than 1048576 values")
		}
	}
	end, kind, escaped := -1, Null, false
	switch c := s.b[i]; {
	case c == '"':
		kind = String
		end, escaped = s.str(i + 1)
	case c == '{' || c == '[':
		if depth > MaxDepth {
			return s.stop(i, "nested deeper than 200")
		}
		if c == '{' {
			kind = Object
			end = s.object(i, depth, lv, out)
		} else {
			kind = Array
			end = s.array(i, depth, out)
		}
	case c == '-' || '0' <= c && c <= '9':
		kind = Number
		end = s.number(i)
	case c == 't':
		kind = Bool
		end = s.literal(i, "true")
	case c == 'f':
		kind = Bool
		end = s.literal(i, "false")
	case c == 'n':
		end = s.literal(i, "null")
	default:
		return s.fail(i, "unexpected character")
	}
	if out != nil && end >= 0 {
		s.fill(out, kind, i, end, escaped)
	}
	return end
}

func (s *scanner) array(i, depth int, out *Value) int {
	if i = s.space(i + 1); i < len(s.b) && s.b[i] == ']' {
		return i + 1
	}
	for {
		var elem *Value
		if out != nil {
			out.Elems = append(out.Elems, Value{})
			elem = &out.Elems[len(out.Elems)-1]
		}
		if i = s.value(i, depth+1, plain, elem); i < 0 {
			return -1
		}
		i = s.space(i)
		switch {
		case i >= len(s.b):
			return s.fail(i, "unexpected end")
		case s.b[i] == ']':
			return i + 1
		case s.b[i] != ',':
			return s.fail(i, "comma or ] expected")
		}
		i = s.space(i + 1)
	}
}

func (s *scanner) object(i, depth int, lv level, out *Value) int {
	if i = s.space(i + 1); i < len(s.b) && s.b[i] == '}' {
		return i + 1
	}
	seen := s.newNames(depth <= s.unique)
	for {
		if i >= len(s.b) || s.b[i] != '"' {
			return s.fail(i, "member name expected")
		}
		at := i
		end, escaped := s.str(at + 1)
		if end < 0 {
			return -1
		}
		text := s.memberName(at, end, escaped, lv, &seen)
		slot := s.slot(lv, text, at)
		if i = s.space(end); i >= len(s.b) || s.b[i] != ':' {
			return s.fail(i, "colon expected")
		}
		i = s.space(i + 1)
		var val *Value
		if out != nil {
			out.Members = append(out.Members, Member{Name: string(text), NameRaw: s.b[at:end:end]})
			val = &out.Members[len(out.Members)-1].Value
		}
		from := i
		if i = s.value(i, depth+1, s.inner(lv, slot), val); i < 0 {
			return -1
		}
		if slot != noSlot {
			s.spans[slot] = span{from, i}
		} else if lv == envelope {
			s.extra = true
		}
		i = s.space(i)
		switch {
		case i >= len(s.b):
			return s.fail(i, "unexpected end")
		case s.b[i] == '}':
			s.endNames(&seen)
			return i + 1
		case s.b[i] != ',':
			return s.fail(i, "comma or } expected")
		}
		i = s.space(i + 1)
	}
}
