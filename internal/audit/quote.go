package audit

import "unicode/utf8"

// appendQuoted appends s as a JSON string, spelled as jsonrpc.Quote spells it but without an allocation: a line has a
// dozen strings, and stands in the path of every call.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				b = append(append(b, s[from:i]...), "\uFFFD"...)
				from = i + 1
			case r == 0x2028 || r == 0x2029: // some readers take them for line ends
				b = append(append(b, s[from:i]...), '\\', 'u', '2', '0', '2', hex[r&15])
				from = i + size
			}
			i += size
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(b, s[from:]...), '"')
}
