package destination

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// readAs is a text as people see it, and where each byte of it stood.
type readAs struct {
	original string
	s        string
	starts   []int32 // where each byte of s began in the original, and
	ends     []int32 // where it ended; nil where s is the original
	hidden   bool    // something invisible was in it
}

// readText drops what cannot be seen, or puts a blank in its place, and replaces compatibility characters.
func readText(text string, blanks bool) readAs {
	if plain(text) || len(text) > 1<<30 {
		return readAs{original: text, s: text}
	}
	r := readAs{original: text}
	seen := make([]byte, 0, len(text))
	places := make([]int32, 0, len(text)+1)
	put := func(piece string, at int) {
		seen = append(seen, piece...)
		for range len(piece) {
			places = append(places, int32(at))
		}
	}
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			put("\uFFFD", i)
		case c == '\u2028' || c == '\u2029' || c == '\u0085':
			put("\n", i)
		case ignorable(c) || unicode.IsControl(c) && c != '\n' && c != '\r' && c != '\t':
			r.hidden = true
			if blanks {
				put(" ", i)
			}
		default:
			put(text[i:i+size], i)
		}
		i += size
	}
	r.compose(string(seen), append(places, int32(len(text))))
	return r
}

// compose applies NFKC piece by piece, so that places are kept. A letter and its accents are one piece.
func (r *readAs) compose(s string, places []int32) {
	out := make([]byte, 0, len(s))
	var it norm.Iter
	it.InitString(norm.NFKC, s)
	for !it.Done() {
		at := it.Pos()
		piece := it.Next()
		_, size := utf8.DecodeLastRuneInString(s[:it.Pos()])
		last := int(places[it.Pos()-size])
		_, size = utf8.DecodeRuneInString(r.original[last:])
		out = append(out, piece...)
		for range piece {
			r.starts = append(r.starts, places[at])
			r.ends = append(r.ends, int32(last+size))
		}
	}
	r.s = string(out)
}

// at returns where the byte i of the reading stood in the original.
func (r readAs) at(i int) int {
	if r.starts == nil {
		return i
	}
	if i >= len(r.starts) {
		return len(r.original)
	}
	return int(r.starts[i])
}

// end returns where the text before byte i ends in the original.
func (r readAs) end(i int) int {
	if r.ends == nil || i == 0 {
		return i
	}
	return int(r.ends[i-1])
}

func (r readAs) last() int { return len(r.original) }

// spelt returns s[at:end] as it stood in the original.
func (r readAs) spelt(at, end int) string {
	if at >= end {
		return ""
	}
	return r.original[r.at(at):r.end(end)]
}
