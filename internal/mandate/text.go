package mandate

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// flat is the user's own words as one text, in which names are looked up.
type flat struct {
	s, folded string
	starts    []int // of each token
}

const (
	longName   = 5    // a longer name is found whatever its case
	mostPlaces = 4096 // in which a name is looked at; what comes later names nothing
)

// index lays the tokens out as one text, with a single blank where there were some.
func (r *Request) index() {
	var b strings.Builder
	r.text.starts = make([]int, len(r.tokens))
	for i, t := range r.tokens {
		if t.blank {
			b.WriteByte(' ')
		}
		r.text.starts[i] = b.Len()
		switch t.kind {
		case name, thing:
			b.WriteByte(0)
		case stop:
			b.WriteByte(0)
		default:
			b.WriteString(strings.Join(strings.Fields(t.text), " "))
		}
		if t.kind == name || t.kind == mention {
			key := strings.Join(strings.Fields(t.text), " ")
			r.quotes[key] = append(r.quotes[key], i)
			if low := strings.ToLower(key); low != key {
				r.quotes[low] = append(r.quotes[low], i)
			}
		}
	}
	r.text.s = b.String()
	r.text.folded = lower(r.text.s)
}

// lower folds letter by letter, so that places stay. A letter whose lower case has another length stays as it is.
func lower(s string) string {
	return strings.Map(func(c rune) rune {
		if l := unicode.ToLower(c); utf8.RuneLen(l) == utf8.RuneLen(c) {
			return l
		}
		return c
	}, s)
}

// occurrences yields the places where text stands as a whole in the user's words, as first and last token, until yield
// says to stop.
func (r *Request) occurrences(text string, yield func(a, b int) bool) {
	text = strings.Join(strings.Fields(destination.Readable(text)), " ")
	if utf8.RuneCountInString(text) < 2 || len(text) > 4096 {
		return
	}
	in, key := r.text.s, text
	if len(text) > longName {
		in, key = r.text.folded, lower(text)
	}
	for _, i := range r.quotes[key] {
		if (len(text) > longName || strings.Join(strings.Fields(r.tokens[i].text), " ") == text) && !yield(i, i) {
			return
		}
	}
	number := strings.Trim(text, "0123456789.,") == ""
	for at, n := 0, 0; n < mostPlaces; n++ {
		i := strings.Index(in[at:], key)
		if i < 0 {
			return
		}
		i += at
		at = i + 1
		if !whole(in, i, i+len(key)) {
			continue
		}
		a, b := r.token(i), r.token(i+len(key)-1)
		if number && len(text) < 4 && !r.numbered(a) {
			continue
		}
		if !yield(a, b) {
			return
		}
	}
}

// token returns the token that byte i of the text is in.
func (r *Request) token(i int) int {
	return sort.SearchInts(r.text.starts, i+1) - 1
}

// numbered reports whether the word before says that a number is one: "id 13", "#13".
func (r *Request) numbered(i int) bool {
	if i > 0 && r.tokens[i-1].kind == punct {
		i--
	}
	if i == 0 {
		return false
	}
	switch r.tokens[i-1].low {
	case "id", "ids", "number", "numbers", "no", "nr", "num", "#":
		return true
	}
	return strings.HasPrefix(r.tokens[i].text, "#")
}

// joints are the signs that make one thing of what stands on both sides: report.txt, bob@x.example, a/b, twenty-one.
const joints = "._-@/\\+=~%:#?&"

// whole reports whether s[a:b] stands for itself, and is no part of a longer word, name or number.
func whole(s string, a, b int) bool {
	first, _ := utf8.DecodeRuneInString(s[a:])
	last, _ := utf8.DecodeLastRuneInString(s[:b])
	before, n := utf8.DecodeLastRuneInString(s[:a])
	after, m := utf8.DecodeRuneInString(s[b:])
	if a > 0 && inWord(first) && inWord(before) || b < len(s) && inWord(last) && inWord(after) {
		return false
	}
	if a > 0 && strings.ContainsRune(joints, before) {
		far, _ := utf8.DecodeLastRuneInString(s[:a-n])
		if !((before == '#' || before == '@') && (a == n || !inWord(far)) || before == ':' && !unicode.IsDigit(far) && first != '/') {
			return false
		}
	}
	if b < len(s) && strings.ContainsRune(joints, after) {
		far, _ := utf8.DecodeRuneInString(s[b+m:])
		if b+m < len(s) && inWord(far) || after == '/' || after == '\\' || after == '@' {
			return false
		}
	}
	return true
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

// Names reports whether text stands in the user's own words as a whole, outside of what they say no to. A number of less
// than four digits must stand in quotes or be called one ("id 13"): "13" is not named by "June 13".
func (r *Request) Names(text string) bool {
	if r == nil {
		return false
	}
	found := false
	r.occurrences(text, func(a, b int) bool {
		found = true
		for _, t := range r.tokens[a : b+1] {
			found = found && !t.negated && !t.doubted
		}
		return !found
	})
	if found {
		return true
	}
	for _, d := range destination.Parse(text) {
		if d.Ambiguous != "" || !typed(d.Kind) {
			return false
		}
		if !r.mentions(d, func(t token) bool { return !t.negated && !t.doubted }) {
			return false
		}
		found = true
	}
	return found
}

func typed(k destination.Kind) bool {
	return k == destination.Email || k == destination.URL || k == destination.Account
}

// mentions reports whether a token that ok accepts is the destination d.
func (r *Request) mentions(d destination.Destination, ok func(token) bool) bool {
	for _, t := range r.tokens {
		if t.kind == mention && is(t, d) && ok(t) {
			return true
		}
	}
	return false
}

// is reports whether a token is the destination d. A host that was typed without a scheme is also its https URL.
func is(t token, d destination.Destination) bool {
	for _, own := range t.dest {
		if own.Ambiguous != "" || own.Kind != d.Kind {
			continue
		}
		if own.Canonical == d.Canonical || own.Kind == destination.URL && "https://"+own.Canonical == d.Canonical {
			return true
		}
	}
	return false
}
