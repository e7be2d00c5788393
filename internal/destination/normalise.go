package destination

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Normalise returns the form in which text is compared with text: case folded, compatibility characters replaced,
// runs of white space one blank, blank ends cut, invisible and control characters gone. It is idempotent, never
// contains a byte below 0x20, and holds every ASCII substring of s in normal form.
//
// Letters and their accents stay apart (NFKD): composed, a combining mark put behind an address would swallow its last
// letter, and the address would no longer be found in the text that holds it.
func Normalise(s string) string {
	return string(AppendNormalised(nil, []byte(s)))
}

// AppendNormalised appends the normal form of src to dst. White space at the start of src is cut whatever dst ends
// with.
func AppendNormalised(dst, src []byte) []byte {
	return normalise(dst, src, nil)
}

// AppendNormalisedSeams is AppendNormalised that also appends the seams of the text to seams: offsets in the result, in
// ascending order, at which the eye or another program may see an end though the letters meet. An invisible or control
// character stood there, or a sign that became letters: "evil.example\u200bnow", "evil.example™".
func AppendNormalisedSeams(dst, src []byte, seams []int) ([]byte, []int) {
	dst = normalise(dst, src, &seams)
	for i := len(seams) - 1; i >= 0 && seams[i] > len(dst); i-- { // behind a blank that was cut
		seams[i] = len(dst)
	}
	return dst, seams
}

func normalise(dst, src []byte, seams *[]int) []byte {
	start := len(dst)
	blank := true // nothing but a blank came before: the next blank is dropped
	for i := 0; i < len(src); {
		dst, i, blank = appendASCII(dst, src, i, blank, seams)
		if i == len(src) {
			break
		}
		end := i // a run takes the controls in it along: they vanish, and what they kept apart meets
		for end < len(src) && (src[end] >= 0x80 || fold[src[end]] == drop) {
			end++
		}
		dst, blank = appendWide(dst, src[i:end], blank, seams)
		i = end
	}
	if n := len(dst); n > start && dst[n-1] == ' ' {
		dst = dst[:n-1]
	}
	return dst
}

const (
	drop = 1    // a control character
	wide = 0x80 // not ASCII

	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// fold maps an ASCII byte to its normal form.
var fold = func() (t [256]byte) {
	for i := range t {
		c := byte(i)
		switch {
		case c >= 0x80:
			t[i] = wide
		case c >= '\t' && c <= '\r', c >= 0x1c && c <= ' ':
			t[i] = ' '
		case c < ' ', c == 0x7f:
			t[i] = drop
		case c >= 'A' && c <= 'Z':
			t[i] = c + 'a' - 'A'
		default:
			t[i] = c
		}
	}
	return t
}()

// appendASCII appends from src[i:] up to the first byte that is not ASCII. Eight bytes go at a time while they are
// printable and no two blanks meet, which is nearly always.
func appendASCII(dst, src []byte, i int, blank bool, seams *[]int) ([]byte, int, bool) {
	n := len(dst)
	dst = slices.Grow(dst, len(src)-i+8)
	out := dst[:cap(dst)]
	for i < len(src) {
		for i+8 <= len(src) {
			x := binary.LittleEndian.Uint64(src[i:])
			if (x|(x+ones)|(x-0x20*ones)&^x)&highs != 0 { // >= 0x80, 0x7f, below 0x20
				break
			}
			blanks := ^((x ^ 0x20*ones) + 0x7f*ones) & highs
			before := blanks << 8
			if blank {
				before |= 0x80
			}
			if blanks&before != 0 {
				break
			}
			upper := (x + (0x80-'A')*ones) &^ (x + (0x80-'Z'-1)*ones) & highs
			binary.LittleEndian.PutUint64(out[n:n+8], x|upper>>2)
			n += 8
			i += 8
			blank = blanks>>63 != 0
		}
		for end := min(i+8, len(src)); i < end; i++ {
			switch c := fold[src[i]]; c {
			case wide:
				return out[:n], i, blank
			case drop:
				mark(seams, n)
			case ' ':
				if !blank {
					out[n] = ' '
					n++
				}
				blank = true
			default:
				out[n] = c
				n++
				blank = false
			}
		}
	}
	return out[:n], i, blank
}

// mark notes a seam, once. seams is nil when nobody asks.
func mark(seams *[]int, at int) {
	if seams != nil && (len(*seams) == 0 || (*seams)[len(*seams)-1] != at) {
		*seams = append(*seams, at)
	}
}

// appendWide appends a run of characters beyond ASCII.
func appendWide(dst, run []byte, blank bool, seams *[]int) ([]byte, bool) {
	start, marks, unsorted := len(dst), false, false
	for len(run) > 0 {
		if run[0] < 0x80 {
			mark(seams, len(dst)) // a control character
			run = run[1:]
			continue
		}
		r, size := utf8.DecodeRune(run)
		run = run[size:]
		m := mapped(r)
		unsorted = unsorted || marks && m.mark
		marks = m.marked || marks && m.out == ""
		if m.seam {
			mark(seams, len(dst))
		}
		for i := 0; i < len(m.out); i++ {
			c := m.out[i]
			if c == ' ' && blank {
				continue
			}
			dst = append(dst, c)
			blank = c == ' '
		}
		if m.seam {
			mark(seams, len(dst))
		}
	}
	if unsorted { // several marks on one letter have an order of their own
		sorted := norm.NFKD.Append(nil, dst[start:]...)
		dst = append(dst[:start], sorted...)
	}
	return dst, blank
}

// folded is one character's normal form; mark and marked say whether it starts and ends with a combining mark, seam
// whether what stands on both sides of it was apart: it vanishes, or is a sign that turns into ASCII.
type folded struct {
	out                string
	mark, marked, seam bool
}

// pages caches normal forms, 256 characters a page, filled when a page is first met.
var pages [(unicode.MaxRune + 1) >> 8]atomic.Pointer[[256]folded]

func mapped(r rune) *folded {
	p := pages[r>>8].Load()
	if p == nil {
		p = new([256]folded)
		for i := range p {
			p[i] = foldRune(r&^0xff | rune(i))
		}
		pages[r>>8].Store(p)
	}
	return &p[r&0xff]
}

// iotaSubscript is the one mark that folds to a letter, so that its place among other marks would matter. It goes.
const iotaSubscript = "\u0345"

func foldRune(r rune) folded {
	s := string(r)
	caser := cases.Fold()
	for range 4 { // folding can make new decomposable characters, and the other way round
		s = strings.ReplaceAll(norm.NFKD.String(s), iotaSubscript, "")
		s = norm.NFKD.String(caser.String(s))
	}
	out := make([]byte, 0, len(s))
	for _, c := range s {
		switch {
		case ignorable(c) || unicode.IsControl(c) && !unicode.IsSpace(c):
		case unicode.IsSpace(c):
			out = append(out, ' ')
		default:
			out = utf8.AppendRune(out, c)
		}
	}
	f := folded{out: string(out)}
	f.seam = f.out == "" || r >= 0x80 && !unicode.IsLetter(r) && strings.ContainsFunc(f.out, func(c rune) bool { return c > ' ' && c < 0x7f })
	if f.out != "" {
		a, _ := utf8.DecodeRuneInString(f.out)
		z, _ := utf8.DecodeLastRuneInString(f.out)
		f.mark = norm.NFKD.PropertiesString(string(a)).CCC() != 0
		f.marked = norm.NFKD.PropertiesString(string(z)).CCC() != 0
	}
	return f
}
