package destination

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Visible returns s as one line of at most limit characters in which nothing hides: control, bidi, zero-width and
// other invisible characters, and invalid bytes, become \u{..} escapes; a cut is marked by an ellipsis. Text that an
// attacker wrote goes through here before a person sees it.
func Visible(s string, limit int) string {
	var b strings.Builder
	n := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+size]
		switch {
		case r == utf8.RuneError && size == 1:
			piece = fmt.Sprintf(`\x%02x`, s[i])
		case r == '\\' && strings.HasPrefix(s[i:], `\u{`): // an escape must not be forged either
			piece = `\u{5c}`
		case r != ' ' && (!unicode.IsGraphic(r) || unicode.IsSpace(r) || ignorable(r)):
			piece = fmt.Sprintf(`\u{%x}`, r)
		}
		width := utf8.RuneCountInString(piece)
		if n+width > limit-1 && !(n+width == limit && i+size == len(s)) {
			b.WriteString("…")
			break
		}
		b.WriteString(piece)
		n += width
		i += size
	}
	return b.String()
}

// readable returns s without invisible characters and in compatibility form, and why that is not what was written.
// Line feeds stay: they separate recipients.
func readable(s string) (text, odd string) {
	if plain(s) {
		return s, ""
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case ignorable(r):
			odd = first(odd, "invisible characters")
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			odd = first(odd, "control characters")
			b.WriteByte('\n')
		case r != '\n' && unicode.IsControl(r):
			if r != '\r' { // "\r\n" is judged by the list reader
				odd = first(odd, "control characters")
			}
			if r == '\r' || r == '\t' {
				b.WriteRune(r)
			}
		default:
			b.WriteRune(r)
		}
	}
	text = norm.NFC.String(b.String())
	if odd == "" && text != b.String() && strings.ContainsFunc(s, looksASCII) {
		odd = "characters that are read as others"
	}
	if compat := norm.NFKC.String(text); compat != text {
		return compat, first(odd, "compatibility characters")
	}
	return text, odd
}

// looksASCII reports whether composing turns r into an ASCII character: the Kelvin sign becomes a K (A31).
func looksASCII(r rune) bool {
	return r >= 0x80 && norm.NFC.String(string(r))[0] < 0x80
}

// plain reports whether s is printable ASCII and line feeds.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 0x20 && c != '\n') || c >= 0x7f {
			return false
		}
	}
	return true
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// ignorable reports whether r is drawn as nothing or only turns the text around it: soft hyphen, zero-width
// characters, bidi marks, variation selectors, fillers, tag characters, byte order mark.
func ignorable(r rune) bool {
	if r < 0xad {
		return false
	}
	switch {
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb, r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}
