package provenance

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// class says where a byte of normalised text may stand.
const (
	inWord  = 1 << iota // of an ordinary local part
	inLocal             // of any local part
	inHost
)

var class = func() (t [256]uint8) {
	for i := range t {
		c := byte(i)
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			t[i] = inWord | inLocal | inHost
		case c >= 0x80:
			t[i] = inLocal | inHost
		case c == '+':
			t[i] = inWord | inLocal
		case bytes.IndexByte([]byte("!#$&'*/=?^`{|}~%"), c) >= 0:
			t[i] = inLocal
		}
		if c == '%' {
			t[i] |= inHost
		}
	}
	return t
}()

// A host beyond ASCII (bücher.example) and a host beside letters beyond ASCII (访问h.example下载) look alike, and no rule
// tells them apart. So a run of host characters is read in every way: whole, what is Latin in it, what is ASCII in it.
// One reading too many costs a denial of a host that nobody names; one too few would turn a denial into a question.

// separates reports whether a character beyond ASCII ends a host for certain: quotes, dashes, brackets, full stops of
// sentences. Signs do not, there are emoji domains. The ideographic full stop is a dot to browsers (A31).
func separates(r rune) bool {
	return unicode.IsPunct(r) && r != '\u3002' && r != '\u30fb' && r != '\u00b7' || unicode.IsSpace(r) || unicode.IsControl(r)
}

// runEnd returns where the host characters from i on end, at limit at the latest. Two dots in a row are no host.
func runEnd(text []byte, i, limit int) int {
	for i < limit {
		c := text[i]
		if c >= 0x80 {
			r, n := utf8.DecodeRune(text[i:limit])
			if separates(r) {
				break
			}
			i += n
			continue
		}
		if class[c]&inHost == 0 || c == '.' && i+1 < len(text) && text[i+1] == '.' {
			break
		}
		i++
	}
	return i
}

// runStart returns where the host characters before i start, at limit at the latest.
func runStart(text []byte, i, limit int) int {
	for i > limit {
		n := runeBefore(text[limit:i], inHost)
		if n == 0 || text[i-1] == '.' && text[i] == '.' {
			break
		}
		i -= n
	}
	return i
}

// runeBefore returns the size of the last character of text when it belongs to a run of that class, else 0.
func runeBefore(text []byte, in uint8) int {
	if c := text[len(text)-1]; c < 0x80 {
		if class[c]&in == 0 {
			return 0
		}
		return 1
	}
	r, n := utf8.DecodeLastRune(text)
	if separates(r) {
		return 0
	}
	return n
}

// run is a run of host characters. An end is not open when what stands there belongs to something else: an address, a
// file's path.
type run struct {
	text               []byte
	at                 int
	openStart, openEnd bool
}

// hosts appends every host that can be read in the run.
func (r run) hosts(out []finding) []finding {
	out = r.part(out, 0, len(r.text))
	if isASCII(r.text) {
		return out
	}
	out = r.pieces(out, isLatin)
	return r.pieces(out, func(c rune) bool { return c < 0x80 })
}

// pieces appends the hosts among the longest parts that hold nothing but what keep keeps. A part that starts in the
// middle of a Latin word is none: in bücher.example nobody reads cher.example.
func (r run) pieces(out []finding, keep func(rune) bool) []finding {
	start, inside, amid := 0, false, false
	before := ' '
	for i := 0; i <= len(r.text); {
		c, n := rune(-1), 1
		if i < len(r.text) {
			c, n = utf8.DecodeRune(r.text[i:])
		}
		switch kept := c >= 0 && keep(c); {
		case !kept:
			if inside && (start > 0 || i < len(r.text)) {
				out = r.part(out, start, i)
			}
			inside, amid = false, false
		case !inside && !amid:
			amid = before >= 0x80 && isLatin(before)
			inside, start = !amid, i
		}
		before = c
		i += n
	}
	return out
}

func (r run) part(out []finding, from, to int) []finding {
	if from == 0 && !r.openStart || to == len(r.text) && !r.openEnd {
		return out
	}
	word := bytes.Trim(r.text[from:to], ".-_")
	if len(word) > 253 || bytes.IndexByte(word, '.') < 0 || !likely(word) {
		return out
	}
	at := from + bytes.IndexByte(r.text[from:to], word[0])
	return append(out, finding{'h', nil, canonicalHost(word), r.at + at})
}

// prefixes returns the ways to read what must start where text starts: all of it, up to what ends a host, what is
// Latin, what is ASCII. A way that adds nothing is nil.
func prefixes(text []byte) (p [4][]byte) {
	p[0] = text
	if isASCII(text) {
		return p
	}
	ends := [4]int{len(text), -1, -1, -1}
	for i := 0; i < len(text) && ends[1] < 0; {
		c, n := utf8.DecodeRune(text[i:])
		if c >= 0x80 {
			if ends[3] < 0 {
				ends[3] = i
			}
			if ends[2] < 0 && !isLatin(c) {
				ends[2] = i
			}
			if separates(c) {
				ends[1] = i
			}
		}
		i += n
	}
	for k := 1; k < len(p); k++ {
		if ends[k] >= 0 && ends[k] != ends[k-1] {
			p[k] = text[:ends[k]]
		}
	}
	return p
}

// isLatin reports whether c is ASCII, a Latin letter or a mark on one.
func isLatin(c rune) bool {
	return c < 0x80 || unicode.Is(unicode.Latin, c) || unicode.Is(unicode.Mn, c)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// canonicalHost is destination.CanonicalHost without its cost for what is canonical already, which is nearly all.
func canonicalHost(h []byte) []byte {
	last := h[bytes.LastIndexByte(h, '.')+1:]
	plain := len(last) > 0 && last[0] >= 'a' && last[0] <= 'z'
	for _, c := range h {
		plain = plain && c < 0x80 && c != '%' && class[c]&inHost != 0
	}
	if plain {
		return h
	}
	canonical, _ := destination.CanonicalHost(string(h))
	return []byte(canonical)
}
