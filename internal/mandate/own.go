package mandate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// class says whose words a byte of the prompt belongs to. What is higher wins.
type class byte

const (
	said   class = iota // the user's own
	named               // inside a short quotation: a name
	quoted              // a long quotation in the user's own sentence: a thing without an inside
	cut                 // not the user's
	kinds  class = 0x0f
	// doubted words are perhaps pasted: what they say against something counts, what they ask for does not.
	doubted class = 0x10
)

// nameWords is how many words a quotation may have and still be a name.
const nameWords = 8

// span is a short quotation, without its marks.
type span struct{ at, end int }

// sheet is a prompt with the origin of each byte.
type sheet struct {
	s     string
	class []class
	names []span
}

// readSheet tells the user's own words from what the user pasted or quoted. In doubt they are not the user's. Adding a
// fenced or quoted block must never give a word back to the user: cut and quoted stay what they are, and what a block that
// was left open could swallow becomes doubted, so that a "don't" in it still counts.
func readSheet(text string) *sheet {
	s := destination.Readable(text)
	sh := &sheet{s: s, class: make([]class, len(s))}
	sh.fences()
	sh.quotations()
	sh.pasted()
	sh.tags()
	sh.introduced()
	sh.names = slices.DeleteFunc(sh.names, func(n span) bool { return sh.kind(n.at) != named })
	slices.SortFunc(sh.names, func(a, b span) int { return a.at - b.at })
	return sh
}

func (sh *sheet) paint(at, end int, c class) {
	for i := at; i < end; i++ {
		if sh.class[i]&kinds < c {
			sh.class[i] = sh.class[i]&doubted | c
		}
	}
}

func (sh *sheet) doubt(at, end int) {
	for i := at; i < end; i++ {
		sh.class[i] |= doubted
	}
}

func (sh *sheet) kind(i int) class { return sh.class[i] & kinds }

// line is one line of the prompt, without its end.
type line struct {
	at, end int
	text    string // trimmed
}

func (sh *sheet) lines() []line {
	var out []line
	for at := 0; at <= len(sh.s); {
		end := strings.IndexByte(sh.s[at:], '\n')
		if end < 0 {
			end = len(sh.s)
		} else {
			end += at
		}
		out = append(out, line{at, end, strings.TrimSpace(sh.s[at:end])})
		at = end + 1
	}
	return out
}

// own reports whether a line starts in the user's words.
func (sh *sheet) own(l line) bool {
	at := l.at + len(sh.s[l.at:l.end]) - len(strings.TrimLeft(sh.s[l.at:l.end], " \t\r"))
	return l.text != "" && sh.kind(at) == said
}

// fences cuts fenced code, and lines that start with ">". A pasted text may hold a fence of its own and so seem to end
// early: with more than two, only what stands before the first and behind the last is surely the user's.
func (sh *sheet) fences() {
	first, last, open, count := -1, -1, -1, 0
	kind := ""
	for _, l := range sh.lines() {
		switch {
		case strings.HasPrefix(l.text, ">"):
			sh.paint(l.at, l.end, cut)
		case strings.HasPrefix(l.text, "```"), strings.HasPrefix(l.text, "~~~"):
			mark := l.text[:3]
			sh.paint(l.at, l.end, cut)
			switch {
			case len(l.text) > 6 && strings.HasSuffix(l.text, mark): // all on one line
				continue
			case open < 0:
				open, kind = l.at, mark
			case mark == kind:
				sh.paint(open, l.end, cut)
				open = -1
			default:
				continue // text inside of the other kind
			}
			if count++; first < 0 {
				first = l.at
			}
			last = l.end
		}
	}
	if open >= 0 {
		sh.paint(open, len(sh.s), cut)
	}
	if count > 2 {
		sh.doubt(first, last)
	}
}

// tags cuts what stands between <tag> at the start of a line and the last </tag>: a pasted text may close it early.
func (sh *sheet) tags() {
	const most = 64
	met, until := 0, 0
	for _, l := range sh.lines() {
		if l.at < until || !sh.own(l) || !strings.HasPrefix(l.text, "<") {
			continue
		}
		name := strings.TrimLeft(l.text, "<")
		end := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' && r != '-' && !unicode.IsDigit(r) })
		if end == 0 || !strings.Contains(l.text, ">") || strings.Contains(l.text[:strings.IndexByte(l.text, '>')], "@") {
			continue
		}
		if end > 0 {
			if strings.IndexByte("> /\t", name[end]) < 0 {
				continue // <https://x.example>
			}
			name = name[:end]
		}
		until = len(sh.s)
		if met++; met <= most {
			if i := strings.LastIndex(sh.s, "</"+name+">"); i > l.at {
				until = i + len(name) + 3
			}
		}
		sh.paint(l.at, until, cut)
	}
}

// words splits a text at everything that is no letter, digit, apostrophe or hyphen, in lower case.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' && r != '-'
	})
}

// sentenceMarks reports punctuation that ends a sentence inside of s, or a line break.
func sentenceMarks(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n':
			return true
		case '.', '!', '?', ';':
			if i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\t') {
				return true
			}
		}
	}
	return false
}

// isName reports whether a quotation is one name, title, address, link or file name. With a destination and other words
// in it, it is somebody's sentence.
func isName(inner string) bool {
	inner = strings.TrimSpace(inner)
	if inner == "" || len(inner) > 300 || len(strings.Fields(inner)) > nameWords || sentenceMarks(inner) || strings.ContainsAny(inner, "\"“”") {
		return false
	}
	ms := destination.Mentions(inner)
	if len(ms) == 0 {
		return true
	}
	whole := destination.Parse(inner) // "Bob <bob@x.example>" is one too
	return len(ms) == 1 && len(whole) == 1 && whole[0].Canonical == ms[0].Canonical && whole[0].Ambiguous == ""
}

// withoutMentions blanks the destinations in a text.
func withoutMentions(text string) string {
	b := []byte(text)
	for _, m := range destination.Mentions(text) {
		for i := m.At; i < m.End; i++ {
			b[i] = ' '
		}
	}
	return string(b)
}

func runeBefore(s string, i int) rune {
	if i == 0 {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return r
}

func runeAt(s string, i int) rune {
	if i >= len(s) {
		return ' '
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r
}
