package jsonrpc

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// space returns the position of the first byte at or after i that is not whitespace.
func (s *scanner) space(i int) int {
	if i < len(s.b) && s.b[i] > ' ' {
		return i
	}
	return s.spaces(i)
}

// spaces is the slow half of space, kept out of it so that the other half is inlined.
//
//go:noinline
func (s *scanner) spaces(i int) int {
	for i+8 <= len(s.b) && binary.LittleEndian.Uint64(s.b[i:]) == ' '*ones {
		i += 8
	}
	for ; i < len(s.b); i++ {
		switch s.b[i] {
		case ' ', '\t':
		case '\n', '\r':
			// A52: some readers end a line at CR, some do not, and some accept a message that goes over lines.
			if !s.lines {
				s.note(i, "line break inside the frame", nil)
			}
		default:
			return i
		}
	}
	return i
}

func (s *scanner) literal(i int, word string) int {
	if end := i + len(word); end <= len(s.b) && string(s.b[i:end]) == word {
		return end
	}
	return s.fail(i, "unexpected character")
}

// number reads by the JSON grammar and keeps the spelling: no value is ever made of it (B26).
func (s *scanner) number(i int) int {
	b := s.b
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	default:
		if i = s.digits(i); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return s.digits(i)
	}
	return i
}

func (s *scanner) digits(i int) int {
	from := i
	for i < len(s.b) && s.b[i]-'0' <= 9 {
		i++
	}
	if i == from {
		return s.fail(i, "digit expected")
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// marks returns a word whose lowest set bit stands in the first byte of x that is a quote, a backslash or a control
// character; 0 when there is none. Bytes from 0x80 up never match. (A borrow can set bits above a true match only.)
func marks(x uint64) uint64 {
	return ((x - 0x20*ones) | ((x ^ '"'*ones) - ones) | ((x ^ '\\'*ones) - ones)) &^ x & highs
}

// special returns the position of the first quote, backslash or control character at or after i, or len(b).
func special(b []byte, i int) int {
	// Most strings are names and short words, which end in the first word.
	if i+8 <= len(b) {
		if m := marks(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for ; i+32 <= len(b); i += 32 {
		w := b[i : i+32 : i+32]
		m0 := marks(binary.LittleEndian.Uint64(w))
		m1 := marks(binary.LittleEndian.Uint64(w[8:]))
		m2 := marks(binary.LittleEndian.Uint64(w[16:]))
		m3 := marks(binary.LittleEndian.Uint64(w[24:]))
		if m0|m1|m2|m3 == 0 {
			continue
		}
		switch {
		case m0 != 0:
			return i + bits.TrailingZeros64(m0)>>3
		case m1 != 0:
			return i + 8 + bits.TrailingZeros64(m1)>>3
		case m2 != 0:
			return i + 16 + bits.TrailingZeros64(m2)>>3
		}
		return i + 24 + bits.TrailingZeros64(m3)>>3
	}
	for ; i+8 <= len(b); i += 8 {
		if m := marks(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// str reads a string whose opening quote is before i. Its bytes are known to be UTF-8.
func (s *scanner) str(i int) (end int, escaped bool) {
	for {
		i = special(s.b, i)
		switch {
		case i >= len(s.b):
			return s.fail(i, "unterminated string"), escaped
		case s.b[i] == '"':
			return i + 1, escaped
		case s.b[i] != '\\':
			return s.fail(i, "raw control character in a string"), escaped
		}
		escaped = true
		if i = s.escape(i); i < 0 {
			return -1, escaped
		}
	}
}

// escape reads the escape sequence at i, or two that are a surrogate pair.
func (s *scanner) escape(i int) int {
	if i+1 >= len(s.b) {
		return s.fail(i+1, "unterminated string")
	}
	switch s.b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
	default:
		return s.fail(i, "unknown escape")
	}
	r := hex4(s.b, i+2)
	switch {
	case r < 0:
		return s.fail(i, "malformed escape")
	case r < 0xD800 || r > 0xDFFF:
		return i + 6
	case isPair(s.b, i, r):
		return i + 12
	}
	// B43: half an emoji, from a server that cut its text by UTF-16 units. Readers differ (kept, replaced, refused).
	if !s.server {
		s.note(i, "lone surrogate", nil)
	}
	return i + 6
}

// isPair reports whether the escape at i, whose value is hi, and the one after it are one character.
func isPair(b []byte, i int, hi rune) bool {
	if hi >= 0xDC00 || i+8 > len(b) || b[i+6] != '\\' || b[i+7] != 'u' {
		return false
	}
	lo := hex4(b, i+8)
	return lo >= 0xDC00 && lo <= 0xDFFF
}

// hex4 returns the value of the four hex digits at i, or -1.
func hex4(b []byte, i int) rune {
	if i+4 > len(b) {
		return -1
	}
	var r rune
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// unquote appends to dst the text of a proven string, given without its quotes. A lone surrogate becomes U+FFFD and is
// reported.
func unquote(dst, in []byte) (out []byte, lone bool) {
	for i := 0; i < len(in); {
		n := special(in, i)
		dst = append(dst, in[i:n]...)
		if i = n; i+1 >= len(in) {
			break
		}
		switch c := in[i+1]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(in, i+2)
			switch {
			case r < 0xD800 || r > 0xDFFF:
			case isPair(in, i, r):
				r = 0x10000 + (r-0xD800)<<10 + hex4(in, i+8) - 0xDC00
				i += 6
			default:
				r, lone = utf8.RuneError, true
			}
			dst = utf8.AppendRune(dst, r)
			i += 4
		default:
			dst = append(dst, c)
		}
		i += 2
	}
	return dst, lone
}

// invalidUTF8 returns where b stops being UTF-8, or -1.
func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}
