package destination

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// Reading is a text as somebody reads it who takes a disguise off.
type Reading struct {
	Text    []byte // each line was found on its own
	Through string // for people: "base64", "percent signs"
}

const (
	unveilDepth = 2       // base64 in percent signs, and no deeper
	unveilMost  = 1 << 20 // of a longer text only the beginning is looked at
	encodedMin  = 8       // the fewest characters of an encoded token
	encodedMost = 1 << 16
)

// Unveil returns what stands in a text in a disguise: HTML entities, percent signs, quoted-printable, base64 and hex tokens,
// addresses spelled out ("name at host dot example") or broken over two lines, look-alike letters. It is for taint alone: nothing
// that is found so is trusted. The work is linear in the text, and what is returned is at most a few times its size.
func Unveil(text []byte) []Reading {
	return unveil(nil, text[:min(len(text), unveilMost)], unveilDepth)
}

func unveil(out []Reading, text []byte, depth int) []Reading {
	if depth == 0 {
		return out
	}
	from := len(out)
	signs := signsOf(text)
	add := func(reading []byte, through string) {
		if len(reading) > 0 && !bytes.Equal(reading, text) {
			out = append(out, Reading{reading, through})
		}
	}
	if signs&hasAmp != 0 && bytes.IndexByte(text, ';') >= 0 {
		add(wordsWith(text, '&', func(w []byte) []byte { return []byte(html.UnescapeString(string(w))) }), "HTML entities")
	}
	if signs&hasPercent != 0 {
		add(wordsWith(text, '%', func(w []byte) []byte { return decodeHex(w, '%') }), "percent signs")
	}
	if signs&hasEquals != 0 {
		add(wordsWith(text, '=', func(w []byte) []byte { return decodeHex(w, '=') }), "quoted-printable")
	}
	if signs&hasToken != 0 {
		plain64, plain16 := tokens(text)
		add(plain64, "base64")
		add(plain16, "hex")
	}
	if signs&(hasDot|hasBracket) != 0 {
		add(spelledOut(text), "words for signs")
	}
	if signs&hasBreak != 0 {
		add(broken(text), "a line break")
	}
	if signs&hasWide != 0 {
		add(lookAlike(text), "look-alike letters")
	}
	for _, r := range out[from:len(out):len(out)] {
		n := len(out)
		out = unveil(out, r.Text, depth-1)
		for i := range out[n:] {
			out[n+i].Through = r.Through + " and " + out[n+i].Through
		}
	}
	return out
}

type signs uint16

const (
	hasAmp signs = 1 << iota
	hasPercent
	hasEquals
	hasToken
	hasDot
	hasBracket
	hasBreak
	hasWide
)

// signsOf finds in one pass what a text could hide. Most texts hide nothing.
func signsOf(text []byte) (s signs) {
	run, mixed := 0, false
	for i, c := range text {
		k := unveilClass[c]
		if k&isToken == 0 {
			run, mixed = 0, false
		} else {
			run++
			mixed = mixed || k&isMixed != 0 && run > 1
			if mixed && run >= encodedMin {
				s |= hasToken
			}
		}
		if k&isSign != 0 {
			s |= signAt(text, i)
		}
	}
	return s
}

func signAt(text []byte, i int) signs {
	next := func(n int) byte {
		if i+n < len(text) {
			return text[i+n] | 0x20
		}
		return 0
	}
	switch c := text[i]; {
	case c >= 0x80:
		return hasWide
	case c == '&':
		return hasAmp
	case c == '%':
		return hasPercent
	case c == '=':
		return hasEquals
	case c == '\n' || c == '\r':
		return hasBreak
	case c == '[' || c == '(' || c == '{':
		n := 1
		if next(1) == ' ' {
			n = 2
		}
		if a := next(n); a == 'a' && next(n+1) == 't' || a == 'd' && next(n+1) == 'o' || a == 'p' && next(n+1) == 'u' || i+n < len(text) && strings.IndexByte(".@:", text[i+n]) >= 0 {
			return hasBracket
		}
	case c|0x20 == 'd' && next(1) == 'o' && next(2) == 't' && i > 0 && text[i-1] <= ' ' && next(3) == ' ': // a word of its own
		return hasDot
	case c|0x20 == 'h' && next(1) == 'x' && next(2) == 'x' && next(3) == 'p':
		return hasDot
	}
	return 0
}

const (
	isToken = 1
	isSign  = 2
	isMixed = 4 // a digit or a capital: inside of a word, a sign that it is none
)

var unveilClass = func() (t [256]uint8) {
	for c := range t {
		b := byte(c)
		if letter(b) || digit(b) || b == '+' || b == '/' || b == '-' || b == '_' || b == '=' {
			t[c] |= isToken
		}
		if bytes.IndexByte([]byte("&%=\n\r[({dDhH"), b) >= 0 || c >= 0x80 {
			t[c] |= isSign
		}
		if digit(b) || b >= 'A' && b <= 'Z' {
			t[c] |= isMixed
		}
	}
	return t
}()

// wordsWith decodes the words of a text that hold a mark, one a line, where that changes them into other text.
func wordsWith(text []byte, mark byte, decode func([]byte) []byte) (out []byte) {
	for i := 0; i < len(text); {
		j := bytes.IndexByte(text[i:], mark)
		if j < 0 {
			return out
		}
		from, end := i+j, i+j
		for from > i && text[from-1] > ' ' {
			from--
		}
		for end < len(text) && text[end] > ' ' {
			end++
		}
		word := text[from:end]
		if plain := decode(word); !bytes.Equal(plain, word) && utf8.Valid(plain) {
			out = append(append(out, bytes.ReplaceAll(plain, []byte("\n"), []byte(" "))...), '\n')
		}
		i = end
	}
	return out
}

// decodeHex replaces a mark and two hex digits by their byte, until nothing changes, three times at most.
func decodeHex(text []byte, mark byte) []byte {
	for range 3 {
		out := make([]byte, 0, len(text))
		for i := 0; i < len(text); i++ {
			var b [1]byte
			if text[i] == mark && i+2 < len(text) {
				if _, err := hex.Decode(b[:], text[i+1:i+3]); err == nil {
					out = append(out, b[0])
					i += 2
					continue
				}
			}
			out = append(out, text[i])
		}
		if bytes.Equal(out, text) {
			break
		}
		text = out
		if mark == '=' {
			break
		}
	}
	return text
}

// tokens decodes what it can of the runs of letters, digits and +/-_=, one a line. A word without digits and capitals inside is a word.
func tokens(text []byte) (plain64, plain16 []byte) {
	for i := 0; i < len(text); {
		if unveilClass[text[i]]&isToken == 0 {
			i++
			continue
		}
		end, mixed := i, false
		for end < len(text) && unveilClass[text[end]]&isToken != 0 {
			mixed = mixed || end > i && unveilClass[text[end]]&isMixed != 0
			end++
		}
		if n := end - i; mixed && n >= encodedMin && n <= encodedMost {
			for _, run := range [][]byte{text[i:end], afterSlash(text[i:end])} {
				if plain := decode64(run); telling(plain) {
					plain64 = append(append(plain64, plain...), '\n')
				}
				if plain := decode16(run); telling(plain) {
					plain16 = append(append(plain16, plain...), '\n')
				}
			}
		}
		i = end
	}
	return plain64, plain16
}

// afterSlash is the last part of a path, where an encoded token stands in a URL; nil when there is no other.
func afterSlash(run []byte) []byte {
	if i := bytes.LastIndexAny(run, "/="); i > 0 && i+1+encodedMin <= len(run) {
		return run[i+1:]
	}
	return nil
}

func decode64(run []byte) []byte {
	run = bytes.TrimRight(run, "=")
	if len(run) < encodedMin || len(run)%4 == 1 {
		return nil
	}
	enc := base64.RawStdEncoding
	if bytes.ContainsAny(run, "-_") {
		enc = base64.RawURLEncoding
	}
	var head [6]byte // most runs are words, and six bytes show it
	if n, err := enc.Decode(head[:], run[:8]); err != nil || !printable(head[:n]) {
		return nil
	}
	out := make([]byte, enc.DecodedLen(len(run)))
	n, err := enc.Decode(out, run)
	if err != nil {
		return nil
	}
	return out[:n]
}

func decode16(run []byte) []byte {
	if len(run) == 0 || len(run)%2 != 0 {
		return nil
	}
	for _, c := range run[:min(len(run), 8)] {
		if !(digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f') {
			return nil
		}
	}
	out := make([]byte, len(run)/2)
	if _, err := hex.Decode(out, run); err != nil {
		return nil
	}
	return out
}

// telling reports a text that could name a destination.
func telling(plain []byte) bool {
	return len(plain) >= 6 && utf8.Valid(plain) && printable(plain) && bytes.ContainsAny(plain, "@./:#+0123456789")
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

var (
	spelledAt  = regexp.MustCompile(`(?i)\s*[\[({<]\s*(?:at|@)\s*[\])}>]\s*|\s+at\s+`)
	spelledDot = regexp.MustCompile(`(?i)\s*[\[({<]\s*(?:dot|punkt|\.)\s*[\])}>]\s*|\s+dot\s+`)
	spelledURL = regexp.MustCompile(`(?i)\bhxxp(s?)|\[:\]|\[://\]`)
	spelled    = regexp.MustCompile(`(?i)[a-z0-9._%+-]{1,64}(?:\s*[\[({<]\s*(?:at|@)\s*[\])}>]\s*|\s+at\s+|@)(?:[a-z0-9-]{1,63}(?:\s*[\[({<]\s*(?:dot|punkt|\.)\s*[\])}>]\s*|\s+dot\s+|\.)){1,8}[a-z0-9-]{2,63}|` +
		`(?:hxxps?(?:\[:\]|:)//)?(?:[a-z0-9-]{1,63}(?:\s*[\[({<]\s*(?:dot|punkt|\.)\s*[\])}>]\s*|\s+dot\s+)){1,8}[a-z0-9-]{2,63}|hxxps?(?:\[:\]|:)//\S{3,200}`)
)

// spelledOut returns the addresses and hosts that are spelled in words or with brackets around their signs, one a line.
func spelledOut(text []byte) (out []byte) {
	end := 0 // of what was looked at
	for i := range text {
		if unveilClass[text[i]]&isSign == 0 || signAt(text, i)&(hasDot|hasBracket) == 0 || i < end {
			continue
		}
		from := max(end, i-maxSpelled)
		end = min(len(text), i+2*maxSpelled)
		out = append(out, spelledIn(text[from:end])...)
	}
	return out
}

// maxSpelled is how far around a sign in words its address may reach.
const maxSpelled = 160

func spelledIn(text []byte) (out []byte) {
	for _, m := range spelled.FindAll(text, -1) {
		m = spelledDot.ReplaceAll(m, []byte("."))
		m = spelledAt.ReplaceAll(m, []byte("@"))
		m = spelledURL.ReplaceAllFunc(m, func(b []byte) []byte {
			switch {
			case len(b) == 5 && b[0] != '[':
				return []byte("https")
			case b[0] == '[':
				return bytes.Trim(b, "[]")
			}
			return []byte("http")
		})
		out = append(append(out, m...), '\n')
	}
	return out
}

// maxHalf is how much of a line can belong to a destination that goes on in the next one.
const maxHalf = 128

// broken joins the last word of a line to the first of the next where the two can be one address or URL.
func broken(text []byte) (out []byte) {
	for i := 0; i < len(text); i++ {
		if text[i] != '\n' && text[i] != '\r' {
			continue
		}
		end := i + 1
		if text[i] == '\r' && end < len(text) && text[end] == '\n' {
			end++
		}
		a, b := i, end
		for a > 0 && i-a < maxHalf && text[a-1] > ' ' {
			a--
		}
		for end < len(text) && (text[end] == ' ' || text[end] == '\t' || text[end] == '>') { // an indented or quoted line
			end++
		}
		for b = end; b < len(text) && b-end < maxHalf && text[b] > ' '; b++ {
		}
		left, right := bytes.TrimSuffix(text[a:i], []byte("=")), text[end:b] // "=" ends a line softly in quoted-printable
		if len(left) > 0 && len(right) > 0 && joins(left, right) {
			out = append(append(append(out, left...), right...), '\n')
		}
		i = max(i, end-1)
	}
	return out
}

// joins tells "spy@evil.exa-mple" over two lines from the end of a sentence and the start of the next.
func joins(left, right []byte) bool {
	host := left[bytes.LastIndexByte(left, '@')+1:]
	if i := bytes.Index(host, []byte("://")); i >= 0 {
		if host = host[i+3:]; bytes.IndexByte(host, '/') >= 0 {
			return false // the host is whole, and that is what taints
		}
	}
	if dot := bytes.LastIndexByte(host, '.'); dot > 0 && dot+1 < len(host) {
		if _, known := publicsuffix.PublicSuffix(string(host[dot+1:])); known {
			return false // it ends on .com or the like: nothing is missing
		}
	}
	return bytes.IndexByte(left, '@') >= 0 || bytes.Contains(left, []byte("://")) || bytes.IndexByte(right, '@') >= 0 || right[0] == '.' && len(right) > 2
}

// lookAlike spells the words that look like destinations and hold letters of other scripts in the letters that they look like.
func lookAlike(text []byte) (out []byte) {
	for i := 0; i < len(text); i++ {
		if text[i] < 0x80 {
			continue
		}
		from, end := i, i
		for from > 0 && text[from-1] > ' ' && i-from < 500 {
			from--
		}
		for end < len(text) && text[end] > ' ' && end-i < 500 {
			end++
		}
		if word := text[from:end]; bytes.ContainsAny(word, "@./") {
			if plain := plainLetters(word); plain != nil {
				out = append(append(out, plain...), '\n')
			}
		}
		i = end
	}
	return out
}

// plainLetters replaces look-alikes; nil when there are none.
func plainLetters(word []byte) []byte {
	plain, changed := make([]byte, 0, len(word)), false
	for _, r := range string(word) {
		if to, ok := twins()[r]; ok {
			plain = append(plain, to)
			changed = true
		} else {
			plain = utf8.AppendRune(plain, r)
		}
	}
	if !changed {
		return nil
	}
	return plain
}
