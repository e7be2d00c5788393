package jsonrpc

import "bytes"

// level says which names an object's members are held against.
type level uint8

const (
	plain      level = iota
	envelope         // the frame itself
	callParams       // the frame's params, in a client's frame
)

// The members that are kept as spans.
const (
	noSlot = iota
	slotVersion
	slotID
	slotMethod
	slotParams
	slotResult
	slotError
	slotName
	slotArguments
	slotMeta
	slots
)

// envelopeNames and paramNames are the names that decide what a frame does. A name that case-folds to one of them
// without being it is that name to one reader and an unknown member to another (A49).
var (
	envelopeNames = names("jsonrpc", "id", "method", "params", "result", "error")
	paramNames    = names("name", "arguments", "_meta", "uri", "task", "requestState", "inputResponses", "cursor",
		"ref", "argument")
)

func names(list ...string) [][]byte {
	out := make([][]byte, len(list))
	for i, n := range list {
		out[i] = []byte(n)
	}
	return out
}

// slot returns where the value of a member is kept, and notes a name that pretends to be another.
func (s *scanner) slot(lv level, text []byte, at int) int {
	if lv == plain {
		return noSlot
	}
	known := paramNames
	if lv == envelope {
		known = envelopeNames
	}
	for i, k := range known {
		switch {
		case !bytes.EqualFold(text, k): // EqualFold is Unicode's simple folding, so U+017F is an s and U+212A a k
		case !bytes.Equal(text, k):
			s.note(at, "disguised member name", text)
			return noSlot
		case lv == envelope:
			return slotVersion + i
		case i < 3:
			return slotName + i
		default:
			return noSlot
		}
	}
	return noSlot
}

// inner returns what the names inside a member are held against.
func (s *scanner) inner(lv level, slot int) level {
	if lv == envelope && slot == slotParams && !s.server {
		return callParams
	}
	return plain
}

// at returns the bytes of a member that was kept, nil when the frame has none.
func (s *scanner) at(slot int) []byte {
	p := s.spans[slot]
	if p.to == 0 {
		return nil
	}
	return s.b[p.from:p.to:p.to]
}

// text returns the text of a proven string. ok is false for any other value, and for a string that no reader has the
// exact text of (a lone surrogate): method, id and tool name are compared, so they must be exact.
func text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	in := raw[1 : len(raw)-1]
	if bytes.IndexByte(in, '\\') < 0 {
		return string(in), true
	}
	out, lone := unquote(nil, in)
	return string(out), !lone
}
