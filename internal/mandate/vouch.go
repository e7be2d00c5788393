package mandate

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Vouches reports whether the user names d as a destination of such an act, and the words that do. d must be named in a
// clause that asks for the act, as its target: "summarise the mail from a@x and send it to b@y" names b@y alone. An
// answer goes back to where something came from. A sentence that says what somebody's address is ("Her address is a@x")
// names it for the nearest request. What the user excludes anywhere ("not to b@x") is never named, and what two readers
// could read differently is nobody's word.
func (r *Request) Vouches(d destination.Destination, intent []string) (words string, ok bool) {
	if r == nil || d.Ambiguous != "" || len(intent) == 0 {
		return "", false
	}
	w := acts(intent)
	at := -1
	r.places(d, func(i int) bool {
		if r.vetoes(i, d, w) {
			at = -1
			return false
		}
		if at < 0 && r.vouches(i, d, w) {
			at = i
		}
		return true
	})
	if at < 0 {
		return "", false
	}
	return r.words(at), true
}

// Closed returns another destination of d's kind that the user names for such an act: a request that names its own
// destination leaves no room for another. Names of channels and files close nothing, they are too easily misread.
func (r *Request) Closed(d destination.Destination, intent []string) (other string, ok bool) {
	if r == nil || !typed(d.Kind) {
		return "", false
	}
	w := acts(intent)
	if r.open(d.Kind, w) {
		return "", false
	}
	for i, t := range r.tokens {
		if t.kind != mention || is(t, d) || justReading(w) && t.verb >= 0 && giving[r.verbs[t.verb].acts[0]] {
			continue
		}
		for _, own := range t.dest {
			if own.Kind == d.Kind && own.Ambiguous == "" && own.Canonical != d.Canonical && r.vouches(i, own, w) {
				return own.Canonical, true
			}
		}
	}
	return "", false
}

// places yields the tokens at which d is named.
func (r *Request) places(d destination.Destination, yield func(i int) bool) {
	if typed(d.Kind) {
		for i, t := range r.tokens {
			if t.kind == mention && is(t, d) && !yield(i) {
				return
			}
		}
		return
	}
	seen := map[int]bool{}
	for _, text := range []string{d.Canonical, d.Raw, bareName(d.Canonical)} {
		text = strings.TrimSpace(text)
		if utf8.RuneCountInString(text) < 2 || functionWords[strings.ToLower(text)] {
			continue
		}
		onward := true
		r.occurrences(text, func(a, _ int) bool {
			if !seen[a] {
				seen[a] = true
				onward = yield(a)
			}
			return onward
		})
		if !onward {
			return
		}
	}
}

// bareName is a channel's or a person's name without its sign: "#general" and "general" are one to people.
func bareName(s string) string {
	if len(s) > 2 && (s[0] == '#' || s[0] == '@') {
		return s[1:]
	}
	return ""
}

// vetoes reports that the user says no to the destination at token i, for these acts or for all.
func (r *Request) vetoes(i int, d destination.Destination, w [][]string) bool {
	t := r.tokens[i]
	if t.role == outside {
		return true
	}
	if !t.negated {
		return false
	}
	return t.verb < 0 || r.verbs[t.verb].stance != denied || r.means(t.verb, w)
}

// vouches reports whether the destination at token i is the target of a request for these acts.
func (r *Request) vouches(i int, d destination.Destination, w [][]string) bool {
	t := r.tokens[i]
	if t.doubted || t.negated {
		return false
	}
	if t.verb >= 0 && r.asks(t.verb, w) && (r.target(i, d.Kind) || r.verbs[t.verb].back && t.role == source) {
		return true
	}
	if d.Kind == destination.URL && t.verb >= 0 && r.verbs[t.verb].stance == asked && verbs[r.verbs[t.verb].low] && !r.verbs[t.verb].doubted && justReading(w) {
		return true // who points at a page asks for it to be read
	}
	return r.statement(i, d.Kind, w) || t.role == source && r.answered(i, d.Kind, w) || r.composed(i, d.Kind, w) || r.referred(i, d.Kind, w)
}

var (
	coreReading = set(`read visit open fetch browse navigat summariz scrap crawl view`)
	giving      = set(`send post publish upload shar email mail messag forward writ pay transfer invit submit put delet book reserv creat`)
)

// justReading reports acts that read and give nothing away.
func justReading(w [][]string) bool {
	reads := false
	for _, act := range w {
		if giving[act[0]] {
			return false
		}
		reads = reads || coreReading[act[0]]
	}
	return reads
}

// target reports whether the part that token i plays for its verb is where something goes.
func (r *Request) target(i int, k destination.Kind) bool {
	t := r.tokens[i]
	v := r.verbs[t.verb]
	if v.self && k == destination.Email && t.role == toward && !r.sharesSelf(v, i) {
		return false // "send me the letter to a@x"
	}
	switch t.role {
	case direct, toward:
		return t.role == toward || !r.passedOver(i, k)
	case source:
		return (k == destination.URL || k == destination.Opaque || k == destination.Path) && (reading[v.low] || r.readObject(v)) && t.prep != "that"
	case loose:
		return r.loosely(i, k)
	}
	return false
}

// sharesSelf reports "send me and bob@x the report".
func (r *Request) sharesSelf(v verb, i int) bool {
	return v.tok+3 >= i && r.tokens[v.tok+2].low == "and"
}

// readObject reports that a verb's object is what reading yields: "post the SUMMARY of the page".
func (r *Request) readObject(v verb) bool {
	for _, a := range v.acts[1:] {
		if a == "summariz" || a == "translat" || a == "overview" || a == "content" || a == "review" {
			return true
		}
	}
	return false
}

// passedOver reports that a destination stands directly behind a verb that has another target: the object of "send
// report.txt to bob@x" is no destination of the sending.
func (r *Request) passedOver(i int, k destination.Kind) bool {
	return k == destination.Account && r.has(r.tokens[i].verb, k, toward) || k == destination.URL && r.has(r.tokens[i].verb, "", toward)
}

// has reports whether verb v governs a destination of a kind ("" is any) in a role.
func (r *Request) has(v int, k destination.Kind, as role) bool {
	for j := r.verbs[v].tok + 1; j < r.verbs[v].end && j < len(r.tokens); j++ {
		t := r.tokens[j]
		if t.verb != v || t.role != as {
			continue
		}
		for _, d := range t.dest {
			if k == "" || d.Kind == k {
				return true
			}
		}
	}
	return false
}

// loosely judges what stands behind at, in, with, for: a target for some kinds, and only where no "to" names another.
func (r *Request) loosely(i int, k destination.Kind) bool {
	t := r.tokens[i]
	switch k {
	case destination.Email:
		if r.has(t.verb, k, toward) || t.nested && t.prep != "at" {
			return false
		}
		return t.prep == "with" || t.prep == "for" || t.prep == "at" || t.prep == "für"
	case destination.Account:
		return !r.has(t.verb, k, toward) && (t.prep == "for" || t.prep == "on" || t.prep == "at" || t.prep == "auf")
	}
	return t.prep != "as" && t.prep != "than" && t.prep != "before" && t.prep != "after" && t.prep != "during" && t.prep != "per" &&
		!(t.nested && (t.prep == "with" || t.prep == "for"))
}

// answered reports that a later request answers the one who is named at token i as where something came from: "They sent
// me too much (from DE89...). Send it back." It must name no other destination of the kind.
func (r *Request) answered(i int, k destination.Kind, w [][]string) bool {
	if k == destination.Opaque && r.tokens[i].kind != name {
		return false
	}
	last := -1
	for v := range r.verbs {
		if r.verbs[v].tok < i {
			continue
		}
		if r.verbs[v].back && r.asks(v, w) && !r.has(v, k, toward) && !r.has(v, k, direct) {
			last = v
			break
		}
	}
	if last < 0 {
		return false
	}
	for j := i + 1; j < r.verbs[last].tok; j++ { // the nearest one is meant
		if t := r.tokens[j]; t.kind == mention && t.role == source && len(t.dest) > 0 && t.dest[0].Kind == k && t.verb != r.tokens[i].verb {
			return false
		}
	}
	return true
}

// composed reports "draft a mail to bob@x and send it": the next clause sends what this one addresses.
func (r *Request) composed(i int, k destination.Kind, w [][]string) bool {
	v := r.tokens[i].verb
	if v < 0 || v+1 >= len(r.verbs) || r.verbs[v].stance != asked || r.verbs[v].doubted || !composing[r.verbs[v].low] || !r.target(i, k) {
		return false
	}
	next := r.verbs[v+1]
	return r.asks(v+1, w) && next.tok+1 < len(r.tokens) && objects[r.tokens[next.tok+1].low] &&
		!r.has(v+1, k, toward) && !r.has(v+1, k, direct) && next.sentence-r.verbs[v].sentence <= 1
}

const maxWords = 160

// words returns the clause that names token i, in one line.
func (r *Request) words(i int) string {
	a, b := r.sentence(r.tokens[i].sentence)
	if v := r.tokens[i].verb; v >= 0 {
		a, b = r.verbs[v].tok, min(b, r.verbs[v].end)
	}
	var out strings.Builder
	for j := a; j < b && j < len(r.tokens); j++ {
		if out.Len() > maxWords && j > i {
			out.WriteString("…")
			break
		}
		if j > a && r.tokens[j].blank {
			out.WriteByte(' ')
		}
		if r.tokens[j].kind == thing {
			out.WriteString("“…”")
		}
		out.WriteString(strings.Join(strings.Fields(r.tokens[j].text), " "))
	}
	text := []rune(out.String())
	if len(text) <= 2*maxWords {
		return string(text)
	}
	return string(text[:maxWords]) + "…" + string(text[len(text)-maxWords:])
}
