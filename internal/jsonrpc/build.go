package jsonrpc

import (
	"strconv"
	"unicode/utf8"
)

// Quote returns s as a JSON string. Invalid UTF-8 becomes U+FFFD. U+2028 and U+2029 are escaped, as some readers take
// them for line ends.
func Quote(s string) []byte {
	return appendQuoted(make([]byte, 0, len(s)+2), s)
}

func appendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r < ' ' || r == 0x2028 || r == 0x2029:
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// ErrorFrame returns an error response, without newline. The zero id is written as null: the answer to a frame whose
// id could not be read.
func ErrorFrame(id ID, code int, message string) []byte {
	b := appendID(nil, id)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, `,"message":`...)
	b = appendQuoted(b, message)
	return append(b, "}}"...)
}

// ResultFrame returns a response, without newline; nil stands for an empty object. The result must be JSON; line breaks
// between its tokens are taken out.
func ResultFrame(id ID, result []byte) []byte {
	if result == nil {
		result = []byte("{}")
	}
	b := appendID(nil, id)
	b = append(b, `,"result":`...)
	return append(appendLine(b, result), '}')
}

// RequestFrame returns a request, without newline; nil params are left out. A request must have an id: the zero id is
// written as null, which no peer accepts. Params as in ResultFrame.
func RequestFrame(id ID, method string, params []byte) []byte {
	b := appendID(nil, id)
	return appendMethod(append(b, ','), method, params)
}

// NotificationFrame returns a notification, without newline; nil params are left out. Params as in ResultFrame.
func NotificationFrame(method string, params []byte) []byte {
	return appendMethod([]byte(`{"jsonrpc":"2.0",`), method, params)
}

func appendID(dst []byte, id ID) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id.IsZero() {
		return append(dst, "null"...)
	}
	return append(dst, id.raw...)
}

func appendMethod(dst []byte, method string, params []byte) []byte {
	dst = appendQuoted(append(dst, `"method":`...), method)
	if params != nil {
		dst = appendLine(append(dst, `,"params":`...), params)
	}
	return append(dst, '}')
}

// appendLine appends JSON in such a way that it stays on its line. A line break can only be whitespace there, but if it
// were let through the rest would be a frame of its own.
func appendLine(dst, raw []byte) []byte {
	from := len(dst)
	dst = append(dst, raw...)
	for i := from; i < len(dst); i++ {
		if dst[i] == '\n' || dst[i] == '\r' {
			dst[i] = ' '
		}
	}
	return dst
}
