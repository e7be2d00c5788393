// Package mandate reads the user's own words: which acts they ask for, and which destinations they name for them. It is
// pure: text in, answers out.
//
// It must not decide anything, and it must doubt: a mention is not a mandate. What it does not understand vouches for
// nothing, which costs the user a question and never a leak.
//
// A prompt is read once, in four steps. What the user pasted or quoted is cut away; what is left becomes tokens; each
// sentence is scanned for its verbs, each of them asked for, refused or somebody else's; and each destination gets the
// verb that governs it and the part it plays there ("to bob@x.example", "from amy@x.example"). The reading is English
// first: with other languages a sentence that starts with its verb is understood, and the rest vouches for nothing.
package mandate

import (
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Request is what the user asked for. A nil Request is one that is not known: it asks for nothing and names nothing. A
// Request does not change once it is read, and may be used from several goroutines.
type Request struct {
	tokens    []token
	verbs     []verb
	sentences []int // where each starts; the last element is the end
	text      flat
	quotes    map[string][]int // the tokens of short quotations, by what stands in them
	overfull  bool
}

// Read reads a prompt. It takes time linear in its length; a prompt of more than a megabyte vouches for nothing.
func Read(text string) *Request {
	r := &Request{quotes: map[string][]int{}}
	if len(text) > maxPrompt {
		return r
	}
	sh := readSheet(text)
	if r.tokens, r.overfull = sh.tokens(); r.overfull {
		return r
	}
	for a := 0; a < len(r.tokens); {
		b := a
		for b < len(r.tokens) && r.tokens[b].kind != stop {
			b++
		}
		sentence(r.tokens, &r.verbs, a, b, len(r.sentences))
		r.sentences = append(r.sentences, a)
		a = b + 1
	}
	r.sentences = append(r.sentences, len(r.tokens)+1)
	r.takeBack()
	r.index()
	return r
}

// takeBack reads "ignore the above", "scratch that" and "ignore the next line": what they point at counts only against.
func (r *Request) takeBack() {
	above, below := 0, len(r.tokens)
	for n := 0; n+1 < len(r.sentences); n++ {
		a, b := r.sentence(n)
		at := a
		for at < b && (fillers[r.tokens[at].low] || r.tokens[at].kind == punct) {
			at++
		}
		if at == b {
			continue
		}
		rest := r.tokens[at:min(b, at+8)]
		up, down := false, false
		switch rest[0].low {
		case "scratch", "forget", "disregard", "ignore", "skip", "cancel", "undo":
			for _, t := range rest[1:] {
				up = up || t.low == "above" || t.low == "previous" || t.low == "earlier" || t.low == "before" || t.low == "said" || t.low == "wrote" || t.low == "last"
				down = down || t.low == "next" || t.low == "following" || t.low == "below" || t.low == "rest"
			}
			up = up || len(rest) > 1 && (rest[1].low == "that" || rest[1].low == "it" || rest[1].low == "everything") && (len(rest) == 2 || rest[2].kind == punct)
		case "never", "nevermind":
			up = rest[0].low == "nevermind" || len(rest) > 1 && rest[1].low == "mind"
		case "on":
			up = len(rest) > 2 && rest[1].low == "second" && (rest[2].low == "thought" || rest[2].low == "thoughts")
		}
		if up {
			above = a
		}
		if down {
			below = min(below, b)
		}
	}
	for i := range r.tokens {
		r.tokens[i].doubted = r.tokens[i].doubted || i < above || i >= below
	}
	for i := range r.verbs {
		r.verbs[i].doubted = r.verbs[i].doubted || r.tokens[r.verbs[i].tok].doubted
	}
}

// sentence returns the tokens of sentence n.
func (r *Request) sentence(n int) (a, b int) { return r.sentences[n], r.sentences[n+1] - 1 }

// Asks reports whether the user asks for an act that one of the intent words names. An entry may be several words ("set
// up", "add event"): the first is the verb or its object, the others follow it in the same clause. Without intent words
// nothing is asked for: the caller knows what a tool without them means.
func (r *Request) Asks(intent []string) bool {
	if r == nil {
		return false
	}
	for i := range r.verbs {
		if r.asks(i, acts(intent)) {
			return true
		}
	}
	return false
}

// acts are the stems of intent words, one entry a list.
func acts(intent []string) (out [][]string) {
	for _, entry := range intent {
		var one []string
		for w := range strings.FieldsSeq(entry) {
			one = append(one, stem(w))
		}
		if len(one) > 0 {
			out = append(out, one)
		}
	}
	return out
}

// asks reports whether verb i is a request for one of the acts.
func (r *Request) asks(i int, acts [][]string) bool {
	v := r.verbs[i]
	return v.stance == asked && !v.doubted && !(v.self && toMe[v.low]) && r.means(i, acts)
}

// means reports whether verb i is one of the acts, whoever does it.
func (r *Request) means(i int, acts [][]string) bool {
	v := r.verbs[i]
	for _, act := range acts {
		for _, own := range v.acts {
			if matches(own, act[0]) && r.followed(v, act[1:]) {
				return true
			}
		}
	}
	return false
}

// followed reports whether the other words of an act stand behind its verb.
func (r *Request) followed(v verb, rest []string) bool {
	for i := v.tok + 1; i < v.end && len(rest) > 0; i++ {
		if t := r.tokens[i]; t.kind == word && matches(stem(t.low), rest[0]) {
			rest = rest[1:]
		}
	}
	return len(rest) == 0
}

var confirming = set(`yes yep yeah yup ok okay sure ja oui sí absolutely definitely certainly affirmative agreed confirm confirmed approve
	approved correct right perfect proceed continue lgtm exactly y`)

var confirmed = set(`please go ahead do it that this sounds looks good great fine thanks thank you of course by all means make so is
	that's it's the them him her now both all i we am are with and then to for me let's nice awesome cool just`)

const confirmWords = 8

// Follow reads the next prompt of the same conversation: one that only confirms ("yes, go ahead", "ok, send it") asks for
// what r asked. Whatever names something new, or says no, is a request of its own.
func (r *Request) Follow(text string) *Request {
	if r == nil || len(text) > 200 || len(destination.Mentions(text)) > 0 {
		return Read(text)
	}
	next := words(destination.Readable(text))
	if len(next) == 0 || len(next) > confirmWords {
		return Read(text)
	}
	yes := false
	for i, w := range next {
		w = strings.ReplaceAll(w, "’", "'")
		affirms := w == "ahead" || (w == "do" || w == "proceed") && (i+1 == len(next) || next[i+1] == "it" || next[i+1] == "that" || next[i+1] == "so") || w == "good" || w == "great" || w == "fine"
		yes = yes || confirming[w] || affirms
		if !confirming[w] && !confirmed[w] && !r.did(w) {
			return Read(text)
		}
	}
	if !yes || strings.ContainsAny(text, "?\"'`>") && !strings.Contains(text, "'s") {
		return Read(text)
	}
	return r
}

// did reports whether a word is an act that r asks for already.
func (r *Request) did(low string) bool {
	for _, v := range r.verbs {
		if v.stance == asked && !v.doubted && len(v.acts) > 0 && v.acts[0] == stem(low) {
			return true
		}
	}
	return false
}
