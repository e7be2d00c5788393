package jsonrpc

import "bytes"

// Parse proves that a frame (a line without its newline; one CR at the end is tolerated) has one reading and returns
// its spans. It refuses, with an Error whose Code is -32700:
//
//   - anything that is not one JSON value in UTF-8 with at most spaces and tabs around it (A52),
//
// and with -32600:
//
//   - duplicate names at any depth, compared after unescaping (A50); NUL in a name; a lone surrogate; a line break
//     inside; nesting deeper than MaxDepth;
//   - a name that case-folds to a name of the envelope or, inside params, of a call, without being it (A49);
//   - jsonrpc other than "2.0"; method beside result or error, or both of these; an id that is not a string or an
//     integer (A53); params that are not an object or list; an empty method; an error that is not an object;
//   - a batch, told apart by Error.Batch: see SplitBatch (B44).
//
// Unknown members of the envelope are let through. No member is case-folded, trimmed or normalised: "TOOLS/CALL" and
// "tools/call " are methods of their own, while "tools\u002fcall" is tools/call.
//
// Frames from the server get two liberties, because real servers need them (B43) and nobody is fooled: a frame from
// the client is *judged* on a reading that the server may not share, whereas every string in a server's frame is
// observed as possible taint, whichever of two readings the client takes. So lone surrogate escapes, and duplicate
// names below the envelope, pass; names in params are not held against folding; and an error response may have the id
// null (zero ID), as JSON-RPC asks of a server that could not read the request. The envelope itself is as strict as
// the client's, since it decides which call is answered.
//
// The Message shares the frame's memory.
func Parse(frame []byte, from Side) (Message, *Error) {
	m, f := parse(frame, from == FromServer)
	if f.code != 0 {
		return Message{}, refuse(frame, f)
	}
	return m, nil
}

// refuse puts a fault into words and finds whom to tell.
func refuse(frame []byte, f fault) *Error {
	e := &Error{Code: f.code, Reason: f.reason()}
	if f.what == isBatch {
		e.Batch = true
		return e
	}
	var k skim
	k.feed(frame)
	e.ID, e.Response = k.id(), k.isResponse()
	return e
}

const isBatch = "batch of messages"

func parse(frame []byte, server bool) (Message, fault) {
	b := bytes.TrimSuffix(frame, []byte("\r"))
	unique := MaxDepth
	if server {
		unique = 1
	}
	s := newScanner(b, server, unique, false)
	defer s.free()
	first := s.space(0)
	if first < len(b) && b[first] == '[' {
		return Message{}, fault{code: codeNotRequest, what: isBatch, at: first}
	}
	if !s.whole(envelope, nil) {
		return Message{}, s.fault()
	}
	if b[first] != '{' {
		return Message{}, s.refuse(noSlot, "frame is not an object")
	}
	return s.message(frame)
}

// refuse returns the fault of a frame whose text is in order.
func (s *scanner) refuse(slot int, what string) fault {
	return fault{at: s.spans[slot].from, code: codeNotRequest, what: what}
}

// message reads the envelope of a proven frame.
func (s *scanner) message(frame []byte) (Message, fault) {
	m := Message{
		Raw: frame, Extra: s.extra, Params: s.at(slotParams), Result: s.at(slotResult), Error: s.at(slotError),
		call: callSpans{name: s.at(slotName), arguments: s.at(slotArguments), meta: s.at(slotMeta)},
	}
	method := s.at(slotMethod)
	if v, ok := text(s.at(slotVersion)); !ok || v != "2.0" {
		return m, s.refuse(slotVersion, `jsonrpc is not "2.0"`)
	}
	switch {
	case m.Result != nil && m.Error != nil:
		return m, s.refuse(slotError, "result and error in one message")
	case method != nil && (m.Result != nil || m.Error != nil):
		return m, s.refuse(slotMethod, "method and an answer in one message")
	case method == nil && m.Result == nil && m.Error == nil:
		return m, s.refuse(noSlot, "neither method nor result nor error")
	case m.Params != nil && m.Params[0] != '{' && m.Params[0] != '[':
		return m, s.refuse(slotParams, "params is not an object or a list")
	case m.Error != nil && m.Error[0] != '{':
		return m, s.refuse(slotError, "error is not an object")
	}
	return s.address(m, method)
}

// address reads what a message is and which call it belongs to.
func (s *scanner) address(m Message, method []byte) (Message, fault) {
	id, ok := s.at(slotID), true
	if method != nil {
		if m.Method, ok = text(method); !ok || m.Method == "" {
			return m, s.refuse(slotMethod, "method is not a name")
		}
		if m.Shape = Request; id == nil {
			m.Shape = Notification
			return m, fault{}
		}
	} else {
		m.Shape = Response
		if s.server && m.Error != nil && string(id) == "null" {
			return m, fault{}
		}
	}
	switch m.ID, ok = idOf(id); {
	case ok:
		return m, fault{}
	case id == nil:
		return m, s.refuse(noSlot, "answer without an id")
	case len(id) > MaxID:
		return m, s.refuse(slotID, "id longer than 4096 bytes")
	}
	return m, s.refuse(slotID, "id is not a string or an integer")
}
