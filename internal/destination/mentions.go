package destination

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Mention is a destination that stands in a text.
type Mention struct {
	Destination
	At, End int // where it stands, in bytes
}

// maxMentions bounds what one text can name; what lies beyond is one ambiguous rest.
const maxMentions = 1000

// Mentions returns the links, addresses and account numbers that stand in a text, in their order: e-mail addresses, URLs
// with a scheme, hosts without one under a suffix that names are registered under, and IBANs. A bare word like README.md
// or report.txt is a file, "e.g." and "v1.2" are nothing.
//
// The text is read twice where invisible characters stand in it: without them, and with a blank for each. Which of the
// two a mail program does is its own affair, and both readings are destinations. What was disguised is Ambiguous, like
// the same spelling in an argument.
func Mentions(text string) []Mention {
	t := readText(text, false)
	f := finder{text: t}
	f.find()
	if t.hidden {
		g := finder{text: readText(text, true)}
		g.find()
		f.merge(g)
	}
	return f.found
}

// Readable returns a text as Mentions reads it: without what cannot be seen, compatibility characters replaced. Positions
// that Mentions returns for it are positions in it.
func Readable(text string) string { return readText(text, false).s }

// finder looks for the mentions in one reading of a text.
type finder struct {
	text  readAs
	found []Mention
	full  bool
}

func (f *finder) find() {
	s := f.text.s
	for at := 0; at < len(s) && !f.full; {
		end := at
		for end < len(s) && !separates(s, end) {
			end++
		}
		if end > at {
			f.token(at, end)
			at = end
		} else {
			at += width(s, at)
		}
	}
	f.accounts()
	slices.SortStableFunc(f.found, func(a, b Mention) int { return a.At - b.At })
	if len(f.found) > maxMentions || f.full {
		f.cut()
	}
}

// cut leaves the first mentions and one rest that nobody can trust.
func (f *finder) cut() {
	f.found = f.found[:min(maxMentions, len(f.found))]
	at := f.found[len(f.found)-1].End
	rest := f.text.spelt(at, len(f.text.s))
	if len(rest) > 256 {
		rest = rest[:256]
	}
	f.found = append(f.found, Mention{one(Opaque, rest, opaqueCanonical(rest), "more than 1000 destinations in one text")[0], at, f.text.last()})
}

// add reads what stands at s[at:end] in the spelling of the original text, so that a disguise is ambiguous.
func (f *finder) add(at, end int) {
	if len(f.found) > maxMentions {
		f.full = true
		return
	}
	for _, d := range Parse(f.text.spelt(at, end)) {
		f.found = append(f.found, Mention{d, f.text.at(at), f.text.end(end)})
	}
}

// merge adds what only the other reading has.
func (f *finder) merge(g finder) {
	known := map[string]bool{}
	for _, m := range f.found {
		known[m.Canonical] = true
	}
	for _, m := range g.found {
		if !known[m.Canonical] {
			known[m.Canonical] = true
			f.found = append(f.found, m)
		}
	}
	slices.SortStableFunc(f.found, func(a, b Mention) int { return a.At - b.At })
	if len(f.found) > maxMentions+1 {
		f.cut()
	}
}

// separates reports whether what starts at s[i] ends a link in every program: blanks, angle brackets, double quotes.
func separates(s string, i int) bool {
	switch c := s[i]; {
	case c <= ' ', c == '<', c == '>', c == '"', c == '`', c == '|', c == 0x7f:
		return true
	case c < 0x80:
		return false
	}
	return wideSeparator(s[i:]) > 0
}

// wideSeparator returns the width of a quotation mark, dash or CJK bracket at the start of s, or 0.
func wideSeparator(s string) int {
	if len(s) == 0 || s[0] < 0xc0 {
		return 0
	}
	switch r, size := utf8.DecodeRuneInString(s); r {
	case '“', '”', '„', '‘', '’', '«', '»', '‹', '›', '、', '「', '」', '『', '』', '《', '》', '【', '】', '—', '–', '…', '\u00a0', '\u3000':
		return size
	}
	return 0
}

func width(s string, i int) int { return max(1, wideSeparator(s[i:])) }

// token looks into one piece of text without blanks: first for URLs, then for addresses in what is left, then for hosts in
// what is left of that.
func (f *finder) token(at, end int) {
	s := f.text.s
	for at < end {
		from, to := nextURL(s, at, end)
		if from < 0 {
			break
		}
		f.addresses(at, from)
		f.add(from, to)
		at = to
	}
	f.addresses(at, end)
}

// nextURL finds a URL that is written with its scheme, or -1.
func nextURL(s string, at, end int) (from, to int) {
	for i := at; i < end; i++ {
		if s[i] != ':' && s[i] != '%' {
			continue
		}
		from = i
		for from > at && (letter(s[from-1]) || digit(s[from-1]) || s[from-1] == '+' || s[from-1] == '-') {
			from--
		}
		for from < i && !letter(s[from]) {
			from++
		}
		scheme := strings.ToLower(s[from:i])
		web := scheme == "http" || scheme == "https"
		rest := s[i:end]
		switch {
		case from == i:
		case s[i] == '%' && web && len(rest) > 3 && strings.EqualFold(rest[:3], "%3a"),
			scheme == "mailto" && len(rest) > 1,
			web && len(rest) > 1 && (rest[1] == '/' || rest[1] == '\\' || hostByte(rest[1])),
			strings.HasPrefix(rest, "://") && len(rest) > 3:
			return from, linkEnd(s, i+1, end, from > 0 && s[from-1] == '\'')
		}
	}
	return -1, -1
}

// linkEnd finds where a link ends: at a bracket that was not opened in it, and before punctuation that ends a sentence.
func linkEnd(s string, at, end int, quoted bool) int {
	var open [3]int
	to := at
scan:
	for ; to < end; to++ {
		switch c := s[to]; c {
		case '(', '[', '{':
			open[strings.IndexByte("([{", c)]++
		case ')', ']', '}':
			i := strings.IndexByte(")]}", c)
			if open[i]--; open[i] < 0 {
				break scan
			}
		case '\'':
			if quoted {
				break scan
			}
		}
	}
	for to > at && strings.IndexByte(".,;:!?'*_~([{", s[to-1]) >= 0 {
		to--
	}
	for strings.HasSuffix(s[at:to], "。") {
		to -= len("。")
	}
	return to
}

// accounts looks for IBANs, which may have blanks in them, outside of what was found.
func (f *finder) accounts() {
	s := f.text.s
	known := 0
	links := len(f.found)
	for i := 0; i+shortestAccount <= len(s) && !f.full; i++ {
		if !letter(s[i]) || !letter(s[i+1]) || !digit(s[i+2]) || !digit(s[i+3]) || i > 0 && (letter(s[i-1]) || digit(s[i-1])) {
			continue
		}
		end := accountEnd(s, i)
		if end < 0 {
			continue
		}
		at, last := f.text.at(i), f.text.end(end)
		for known < links && f.found[known].End <= at {
			known++
		}
		if known == links || f.found[known].At >= last {
			f.account(i, end)
		}
		i = end - 1
	}
}

// account adds an IBAN. Spelt in a way that Parse does not take for one, with hyphens, it still is one to a person.
func (f *finder) account(at, end int) {
	raw := f.text.spelt(at, end)
	if ds := Parse(raw); len(ds) == 1 && ds[0].Kind == Account {
		f.add(at, end)
		return
	}
	canonical := strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(f.text.s[at:end]))
	f.found = append(f.found, Mention{one(Account, raw, canonical, "account number in an unusual spelling")[0], f.text.at(at), f.text.end(end)})
}

// accountEnd returns where the account that may start at s[at] ends, or -1: the longest text whose check digits are right,
// else what has the shape of one in capitals.
func accountEnd(s string, at int) int {
	var joined []byte
	best, shaped, counted := -1, -1, 0
	group := 0
	for i := at; i < len(s) && len(joined) <= longestAccount; i++ {
		c := s[i]
		if letter(c) || digit(c) {
			joined = append(joined, c)
			group++
			if digit(c) {
				counted++
			}
			if i+1 < len(s) && (letter(s[i+1]) || digit(s[i+1]) || s[i+1] >= 0x80 || s[i+1] == '_') {
				continue
			}
			text := string(joined)
			if !accountShaped(text) {
				continue
			}
			if checked(strings.ToUpper(text)) {
				best = i + 1
			}
			// Without check digits: in one piece, or a group that the last one allows.
			if one := i+1-at == len(joined); counted >= someDigits && text == strings.ToUpper(text) && (one || strings.ContainsAny(s[i+1-group:i+1], "0123456789") && grouped(s[at:i+1])) {
				shaped = i + 1
			}
			continue
		}
		if (c != ' ' && c != '-') || i+1 == len(s) || !letter(s[i+1]) && !digit(s[i+1]) {
			break
		}
		group = 0
	}
	if best > 0 {
		return best
	}
	return shaped
}
