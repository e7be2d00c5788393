package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ansi decodes what stands in $'...', and what echo -e and printf read: the same escapes, by which a name can be spelled
// without one of its letters.
func ansi(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abefnrtvE\'"?`, s[i]); at >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b\\'\"?"[at])
			continue
		}
		switch c := s[i]; {
		case c >= '0' && c <= '7':
			most := 3
			if c == '0' {
				most = 4 // echo's \0nnn
			}
			n, width := digits(s[i:], 8, most)
			if n > 255 {
				n, width = digits(s[i:], 8, 3)
			}
			put(&b, n, false)
			i += width - 1
		case c == 'x', c == 'u', c == 'U':
			most := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			n, width := digits(s[i+1:], 16, most)
			if width == 0 {
				b.WriteByte('\\')
				b.WriteByte(c)
				break
			}
			put(&b, n, c != 'x')
			i += width
		case c == 'c' && i+1 < len(s):
			i++
			put(&b, int64(s[i]&0x1f), false)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

// put writes a decoded character. A zero byte ends the text for some shells and not for others: it is a hole.
func put(b *strings.Builder, n int64, char bool) {
	switch {
	case n >= glob && n <= set1:
		b.WriteByte(hole)
	case char && n <= utf8.MaxRune:
		b.WriteRune(rune(n))
	default:
		b.WriteByte(byte(n))
	}
}

func digits(s string, base, most int) (n int64, width int) {
	for width < most && width < len(s) {
		v, err := strconv.ParseInt(s[:width+1], base, 64)
		if err != nil || s[0] == '-' || s[0] == '+' || s[width] == '_' {
			break
		}
		n, width = v, width+1
	}
	return n, width
}
