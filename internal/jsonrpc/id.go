package jsonrpc

import "bytes"

// MaxID is the size in bytes of the longest id: ids are kept for every call in flight, so they must not be a way to
// fill memory.
const MaxID = 4096

// StringID returns the id that is the string s, spelled as Quote spells it. It is for ids of Bouncer's own, and does
// not hold s to MaxID.
func StringID(s string) ID { return ID{raw: string(Quote(s))} }

// ParseID reads a JSON value as an id, such as the requestId of notifications/cancelled. It reports false for anything
// but a string with one reading or an integer without fraction and exponent, of at most MaxID bytes.
func ParseID(raw []byte) (ID, bool) {
	if len(raw) == 0 || len(raw) > MaxID || raw[0] <= ' ' || raw[len(raw)-1] <= ' ' {
		return ID{}, false
	}
	s := newScanner(raw, false, 0, false)
	defer s.free()
	if !s.whole(plain, nil) {
		return ID{}, false
	}
	return idOf(raw)
}

// idOf reads a proven value as an id.
func idOf(raw []byte) (ID, bool) {
	if len(raw) == 0 || len(raw) > MaxID {
		return ID{}, false
	}
	switch c := raw[0]; {
	case c == '"':
		if _, ok := text(raw); !ok {
			return ID{}, false
		}
	case c == '-' || '0' <= c && c <= '9':
		// A53: 1.0 and 1e0 are the id 1 to a reader that uses floats and no id to another.
		if bytes.ContainsAny(raw, ".eE") {
			return ID{}, false
		}
	default:
		return ID{}, false
	}
	return ID{raw: string(raw)}, true
}

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.raw == "" }

// String returns the id as it was spelled, quotes and escapes included; "" when there is none.
func (id ID) String() string { return id.raw }

// Key returns what two spellings of one id share and what no other id has: a string "1" and a number 1 differ (B25),
// "\u0061" and "a" do not, and -0 is 0. It is "" for the zero ID only. ID itself compares by spelling, so maps of calls
// in flight are keyed by Key.
func (id ID) Key() string {
	switch {
	case id.raw == "":
		return ""
	case id.raw[0] == '"':
		t, _ := text([]byte(id.raw))
		return "s" + t
	case id.raw == "-0":
		return "n0"
	}
	// The grammar has no leading zeros and no plus sign, so an integer has no third spelling.
	return "n" + id.raw
}
