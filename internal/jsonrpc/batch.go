package jsonrpc

import "bytes"

// maxBatch bounds what one frame can make Bouncer judge and answer. "[1,1,1..." would cost an error answer for every
// two bytes.
const maxBatch = 1024

// SplitBatch scans a frame that Parse called a batch, as strictly as a client's frame, and returns its elements in
// order as spans of the frame. Each goes through Parse before it is believed to be a message. An empty batch, one of
// more than 1024 elements, and a batch inside a batch are refused; so is everything when one element has two readings.
// The Error has no ID, since no element speaks for the others.
func SplitBatch(frame []byte) ([][]byte, *Error) {
	s := newScanner(bytes.TrimSuffix(frame, []byte("\r")), false, MaxDepth, false)
	defer s.free()
	var elems [][]byte
	if s.whole(plain, nil) {
		elems = s.elements()
	}
	if f := s.fault(); f.code != 0 {
		return nil, &Error{Code: f.code, Reason: f.reason()}
	}
	return elems, nil
}

// elements walks a text that has been proven once more, this time from element to element.
func (s *scanner) elements() [][]byte {
	i := s.space(0)
	if s.b[i] != '[' {
		s.stop(i, "frame is not a batch")
		return nil
	}
	if i = s.space(i + 1); s.b[i] == ']' {
		s.stop(i, "empty batch")
		return nil
	}
	var out [][]byte
	for {
		switch {
		case s.b[i] == '[':
			s.stop(i, "batch inside a batch")
			return nil
		case len(out) == maxBatch:
			s.stop(i, "more than 1024 messages in a batch")
			return nil
		}
		end := s.value(i, 2, plain, nil)
		out = append(out, s.b[i:end:end])
		if i = s.space(end); s.b[i] == ']' {
			return out
		}
		i = s.space(i + 1)
	}
}
