package jsonrpc

// callSpans is what Parse kept of a client's params. ToolCall uses it, so that the call that is judged stands in the
// very bytes that are forwarded.
type callSpans struct{ name, arguments, meta []byte }

// Call is a tool call as the client asked for it.
type Call struct {
	Name      string // decoded, not trimmed or folded
	Arguments []byte // the object's span; nil when absent
	Meta      []byte // the span of _meta; nil when absent
}

// ToolCall returns the call that a request of the method tools/call asks for. It refuses, with Code -32600 and the
// message's ID, any other message (a tools/call without an id too: nobody could be told the verdict, A53), params that
// are not an object, a name that is not a string, and arguments or _meta that are not objects; null is no object, as
// servers disagree on what it means.
func (m Message) ToolCall() (Call, *Error) {
	c := m.call
	if m.Shape != Request || m.Method != "tools/call" {
		return Call{}, m.refuse("not a request of the method tools/call")
	}
	if len(m.Params) == 0 || m.Params[0] != '{' {
		return Call{}, m.refuse("params of the call is not an object")
	}
	if c.name == nil {
		// Parse keeps no spans of a server's params, and there are none in a Message that was not parsed.
		s := newScanner(m.Params, false, MaxDepth, false)
		defer s.free()
		if !s.whole(callParams, nil) {
			return Call{}, m.refuse(s.fault().reason())
		}
		c = callSpans{name: s.at(slotName), arguments: s.at(slotArguments), meta: s.at(slotMeta)}
	}
	name, ok := text(c.name)
	switch {
	case !ok:
		return Call{}, m.refuse("name of the tool is not a string")
	case c.arguments != nil && c.arguments[0] != '{':
		return Call{}, m.refuse("arguments of the call is not an object")
	case c.meta != nil && c.meta[0] != '{':
		return Call{}, m.refuse("_meta of the call is not an object")
	}
	return Call{Name: name, Arguments: c.arguments, Meta: c.meta}, nil
}

func (m Message) refuse(reason string) *Error {
	return &Error{Code: codeNotRequest, Reason: reason, ID: m.ID}
}
