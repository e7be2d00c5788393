package mandate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// kind is what a token is.
type kind byte

const (
	word    kind = iota
	mention      // a destination
	name         // a short quotation
	thing        // a long quotation: something, whatever stands in it
	punct
	stop // the end of a sentence
)

// role is the part that a token plays for the verb that governs it.
type role byte

const (
	bare    role = iota // before any verb
	direct              // the object itself
	toward              // after to, cc, into
	loose               // after at, in, with, for ...
	source              // after from, by, of, about ...
	outside             // after except, not, instead of
)

// token is one piece of the user's own words.
type token struct {
	kind    kind
	text    string // as written; of a name what stands inside the marks
	low     string // in lower case, with the plain apostrophe
	dest    []destination.Destination
	at      int // in the sheet
	blank   bool
	doubted bool

	// What reading the sentence adds:
	verb     int // index of the verb that governs it, or -1
	role     role
	prep     string
	nested   bool // behind the "to" of another
	negated  bool // in a part of the sentence that says no
	sentence int
}

const maxPrompt = 1 << 20 // a longer prompt vouches for nothing

// tokens cuts the user's words into tokens. overfull says that there are more destinations than are read.
func (sh *sheet) tokens() (out []token, overfull bool) {
	plain := []byte(sh.s)
	for i := range plain {
		if k := sh.kind(i); k != said && k != named {
			plain[i] = ' '
			if k == cut || sh.s[i] == '\n' {
				plain[i] = '\n'
			}
		}
	}
	ms := destination.Mentions(string(plain))
	if len(ms) > 0 && ms[len(ms)-1].Kind == destination.Opaque && ms[len(ms)-1].End == len(plain) && len(ms) > 1000 {
		return nil, true
	}
	t := tokeniser{sh: sh, names: sh.names, mentions: ms}
	for t.i < len(sh.s) {
		t.next()
	}
	t.end()
	return t.out, false
}

type tokeniser struct {
	sh       *sheet
	i        int
	names    []span
	mentions []destination.Mention
	out      []token
	blank    bool
}

func (t *tokeniser) add(k kind, at, end int) *token {
	text := t.sh.s[at:end]
	t.out = append(t.out, token{kind: k, text: text, low: strings.ReplaceAll(strings.ToLower(text), "’", "'"), at: at, blank: t.blank,
		doubted: t.sh.class[at]&doubted != 0, verb: -1})
	t.blank = false
	return &t.out[len(t.out)-1]
}

// end ends the sentence, once.
func (t *tokeniser) end() {
	if n := len(t.out); n > 0 && t.out[n-1].kind != stop {
		t.add(stop, min(t.i, len(t.sh.s)-1), min(t.i, len(t.sh.s)-1))
	}
}

func (t *tokeniser) next() {
	s := t.sh.s
	for len(t.names) > 0 && t.names[0].at < t.i {
		t.names = t.names[1:]
	}
	for len(t.mentions) > 0 && t.mentions[0].At < t.i {
		t.mentions = t.mentions[1:]
	}
	c := t.sh.kind(t.i)
	switch {
	case c == cut:
		t.end()
		t.i = t.run(cut)
	case c == quoted:
		at := t.i
		t.i = t.run(quoted)
		t.add(thing, at, at)
	case len(t.names) > 0 && t.names[0].at == t.i:
		t.name(t.names[0])
	case c == named: // what is left of a name that was cut
		t.i++
	case len(t.mentions) > 0 && t.mentions[0].At == t.i:
		m := t.mentions[0]
		t.add(mention, m.At, m.End).dest = t.same(m)
		t.i = m.End
	case s[t.i] == '\n':
		t.newline()
	case s[t.i] <= ' ':
		t.blank = true
		t.i++
	default:
		t.word()
	}
}

func (t *tokeniser) run(c class) int {
	i := t.i
	for i < len(t.sh.s) && t.sh.kind(i) == c {
		i++
	}
	return i
}

// same collects the readings of one mention: "cc/bob@x.example" has two, and then each is in doubt.
func (t *tokeniser) same(m destination.Mention) (ds []destination.Destination) {
	for _, other := range t.mentions {
		if other.At >= m.End {
			break
		}
		ds = append(ds, other.Destination)
	}
	return ds
}

func (t *tokeniser) name(n span) {
	inner := strings.TrimSpace(t.sh.s[n.at:n.end])
	at := n.at + strings.Index(t.sh.s[n.at:n.end], inner)
	tok := t.add(name, at, at+len(inner))
	if len(t.mentions) > 0 && t.mentions[0].At < n.end {
		tok.kind, tok.dest = mention, []destination.Destination{t.mentions[0].Destination}
	}
	t.i = n.end
}

// newline ends a sentence, unless the line was only wrapped: the next one goes on in lower case or with a destination, and
// this one ended without punctuation. A line that ends with a colon goes on into a list of destinations.
func (t *tokeniser) newline() {
	i := t.i
	t.blank = true
	t.i++
	rest := t.sh.s[t.i:]
	text := strings.TrimLeft(rest, " \t\r")
	if text == "" || text[0] == '\n' || len(t.out) == 0 || t.sh.kind(t.i+len(rest)-len(text)) > named {
		t.i = i
		t.end()
		t.i++
		return
	}
	last := t.out[len(t.out)-1]
	line, _, _ := strings.Cut(text, "\n")
	item := strings.TrimLeft(line, "-*•+0123456789.) \t")
	r, _ := utf8.DecodeRuneInString(text)
	switch {
	case last.kind == punct && last.text == ":" || t.listed(last):
		if len(item) < 400 && onlyPlaces(item) {
			t.i += len(rest) - len(text) + len(line) - len(item)
			t.out = append(t.out, token{kind: punct, text: ",", low: ",", at: i, verb: -1})
			return
		}
	case last.kind != punct && (unicode.IsLower(r) || last.low == "to"), last.kind == punct && last.text == "," && item == line:
		return
	}
	t.end()
}

// listed reports that the last line was an item of a list of destinations.
func (t *tokeniser) listed(last token) bool {
	n := len(t.out)
	return last.kind == mention && n > 1 && t.out[n-2].kind == punct && t.sh.s[t.out[n-2].at] == '\n'
}

// word reads a word, or one sign.
func (t *tokeniser) word() {
	s, at := t.sh.s, t.i
	limit := len(s)
	if len(t.mentions) > 0 {
		limit = min(limit, t.mentions[0].At)
	}
	end := at
	for end < limit && t.sh.kind(end) == said && !separating(s[end:]) {
		end++
	}
	whole := end
	for end > at && strings.IndexByte(".'*_", s[end-1]) >= 0 {
		end--
	}
	if end == at && whole > at { // nothing but signs: the last of them counts
		t.i = whole - 1
		t.sign()
		return
	}
	if end == at || s[at] == '.' && at > 0 && inWord(runeBefore(s, at)) { // what is left of "websites.Note"
		t.sign()
		return
	}
	if dot := strings.IndexByte(s[at:end], '.'); dot > 1 && glued(s[at:at+dot], s[at+dot+1:end]) {
		end = at + dot
	}
	t.add(word, at, end)
	t.i = end
}

// separating reports whether s starts with something that is in no word.
func separating(s string) bool {
	if s[0] < 0x80 {
		return s[0] <= ' ' || strings.IndexByte(",;:!?()[]{}<>\"`=|", s[0]) >= 0
	}
	if s[0] < 0xc0 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r != '’' && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}

// glued reports two sentences without a blank between them: "their websites.Note that".
func glued(a, b string) bool {
	return len(b) > 2 && strings.Trim(a, "abcdefghijklmnopqrstuvwxyz") == "" && b[0] >= 'A' && b[0] <= 'Z' &&
		strings.Trim(b[1:], "abcdefghijklmnopqrstuvwxyz") == "" && (functionWords[strings.ToLower(b)] || verbs[strings.ToLower(b)] || fillers[strings.ToLower(b)])
}

// sign reads one sign, and ends the sentence where it does.
func (t *tokeniser) sign() {
	s := t.sh.s
	size := max(1, len(string(runeAt(s, t.i))))
	size = min(size, len(s)-t.i)
	at := t.i
	t.i += size
	switch s[at] {
	case '!', '?', ';':
		t.add(punct, at, at+size)
		t.end()
	case '.':
		if t.fullStop(at) {
			t.end()
		}
	case '"', '\'', '`', '*', '_':
		t.blank = true
	default:
		if r := runeAt(s, at); r == '。' || r == '！' || r == '？' {
			t.end()
		} else if r == '”' || r == '“' || r == '„' || r == '‘' || r == '’' {
			t.blank = true
		} else {
			t.add(punct, at, at+size)
		}
	}
}

// fullStop reports whether the dot at i ends a sentence.
func (t *tokeniser) fullStop(i int) bool {
	if i+1 < len(t.sh.s) && t.sh.s[i+1] == '.' {
		return false // of several the last one
	}
	if n := len(t.out); n > 0 && t.out[n-1].kind == word && abbreviations[t.out[n-1].low] && t.out[n-1].at+len(t.out[n-1].text) == i {
		return false
	}
	return true
}
