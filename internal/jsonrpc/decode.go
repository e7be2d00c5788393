package jsonrpc

// Decode reads one JSON value as strictly as Parse reads a client's frame, with the difference that line breaks may
// stand between tokens: it is for values (arguments, tool definitions, files of them), not for frames. Raw spans share
// raw's memory, texts do not. The error is an *Error; a value nested deeper than MaxDepth or of more than 1048576
// values in all has too much in it to be decoded, and is an error too.
func Decode(raw []byte) (Value, error) { return decode(raw, false, MaxDepth) }

// DecodeLenient reads what a server wrote, for looking at and not for deciding on: lone surrogates become U+FFFD, and
// members that share a name are all kept, in order. Everything else is as in Decode.
func DecodeLenient(raw []byte) (Value, error) { return decode(raw, true, 0) }

func decode(raw []byte, server bool, unique int) (Value, error) {
	s := newScanner(raw, server, unique, true)
	defer s.free()
	var v Value
	if !s.whole(plain, &v) {
		f := s.fault()
		return Value{}, &Error{Code: f.code, Reason: f.reason()}
	}
	return v, nil
}

// fill completes a Value once its end is known.
func (s *scanner) fill(v *Value, kind ValueKind, from, to int, escaped bool) {
	v.Kind = kind
	v.Raw = s.b[from:to:to]
	switch {
	case kind == String && escaped:
		out, _ := unquote(make([]byte, 0, to-from), s.b[from+1:to-1])
		v.Text = string(out)
	case kind == String:
		v.Text = string(s.b[from+1 : to-1])
	case kind == Number || kind == Bool:
		v.Text = string(v.Raw)
	}
}
