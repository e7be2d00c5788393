package mandate

import (
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

var identities = set(`address email e-mail mail account iban recipient recipients payee landlord number url website site page link contact id
	handle username user channel alias to cc bcc beneficiary inbox konto empfänger homepage webpage repo repository folder`)

// leading verbs of sentences that say where somebody is: "You can reach her at a@x", "Use DE89... for it".
var pointers = set(`reach contact use find`)

// statement reports that token i stands in a sentence that says whose it is, and that the nearest request asks for these
// acts and leaves its target to it.
func (r *Request) statement(i int, k destination.Kind, w [][]string) bool {
	t := r.tokens[i]
	if t.role == source || t.role == outside || !r.identifies(i) {
		return false
	}
	a, b := r.sentence(t.sentence)
	self, who := r.whose(a, i)
	for _, n := range r.nearest(t.sentence, self || who != "" && !pronouns[who]) {
		asks, own := false, false
		for v := range r.verbs {
			if r.verbs[v].sentence == n && r.asks(v, w) && v != t.verb {
				asks = true
				own = own || r.has(v, k, toward) || r.has(v, k, direct)
			}
		}
		if !asks {
			continue
		}
		if self {
			return !own && r.holds(n, "me", "us", "my", "myself", "mine")
		}
		if who != "" && !pronouns[who] && title(r.original(a, b, who)) {
			return r.holds(n, who) || !own && r.holds(n, "him", "her", "them", "his", "their")
		}
		return !own
	}
	return false
}

var pronouns = set(`her his their its him them she he they it this that`)

// identifies reports a sentence like "Her address is a@x", "Recipient: a@x", "a@x is her address", "You can reach her at a@x".
func (r *Request) identifies(i int) bool {
	t := r.tokens[i]
	a, b := r.sentence(t.sentence)
	if b > a && r.tokens[b-1].text == "?" {
		return false
	}
	if t.verb >= 0 {
		v := r.verbs[t.verb]
		return v.stance == asked && pointers[v.low] && (v.low != "use" || t.role == direct) && (v.low != "find" && v.low != "contact" || v.tok > a && r.tokens[v.tok-1].kind == word && (r.tokens[v.tok-1].low == "can" || r.tokens[v.tok-1].low == "could")) && !r.verbBefore(a, v.tok)
	}
	left, copula := false, -1
	for j := a; j < i; j++ {
		low := r.tokens[j].low
		switch {
		case questions[low] && j == a && low != "who", r.tokens[j].verb >= 0, r.tokens[j].role == source && r.tokens[j].kind == mention:
			return false
		case low == "is" || low == "are" || low == "=" || low == ":" || low == "becomes":
			copula = j
		case past(low) && low != "set":
			return false
		case identities[low] && copula < 0:
			left = true
		}
	}
	switch {
	case copula >= 0 && left:
		return true
	case copula > a && copula-a <= 3:
		return true // "She is at a@x", "Bob: a@x"
	case copula >= 0:
		return false
	}
	// "a@x is her address"
	return i <= a+1 && i+1 < b && r.tokens[i+1].low == "is" && r.anyIdentity(i+2, b)
}

func (r *Request) verbBefore(a, tok int) bool {
	for _, v := range r.verbs {
		if v.tok >= a && v.tok < tok {
			return true
		}
	}
	return false
}

func (r *Request) anyIdentity(a, b int) bool {
	for j := a; j < b; j++ {
		if identities[r.tokens[j].low] {
			return true
		}
		if past(r.tokens[j].low) {
			return false
		}
	}
	return false
}

// whose says whose address it is: the user's own, or a pronoun or name.
func (r *Request) whose(a, i int) (self bool, who string) {
	for j := a; j < i; j++ {
		low := r.tokens[j].low
		switch {
		case r.tokens[j].verb >= 0 && r.verbs[r.tokens[j].verb].tok == j: // "Use"
		case strings.HasSuffix(low, "'s") && len(low) > 2 && low != "it's" && low != "that's":
			return false, strings.TrimSuffix(low, "'s")
		case low == "my" || low == "our":
			self = true
		case identities[low]:
			return self, who
		case who == "" && r.tokens[j].kind == word && (pronouns[low] || title(r.tokens[j].text) && !functionWords[low] && !fillers[low]):
			who = low
		}
	}
	return false, who
}

// original returns a word as the user wrote it in the sentence.
func (r *Request) original(a, b int, low string) string {
	for j := a; j < b; j++ {
		if r.tokens[j].low == low || r.tokens[j].low == low+"'s" {
			return r.tokens[j].text
		}
	}
	return ""
}

// nearest returns the sentences with a request that are next to sentence n: the one before, and, where the statement
// does not need one ("her"), else the one behind.
func (r *Request) nearest(n int, both bool) (out []int) {
	before, after := -1, -1
	for _, v := range r.verbs {
		if v.stance != asked || pointers[v.low] && v.sentence == n {
			continue
		}
		if v.sentence <= n {
			before = v.sentence
		} else if after < 0 {
			after = v.sentence
		}
	}
	if before >= 0 {
		out = append(out, before)
	}
	if after >= 0 && (both || before < 0) {
		out = append(out, after)
	}
	return out
}

// holds reports whether a sentence has one of the words.
func (r *Request) holds(n int, low ...string) bool {
	a, b := r.sentence(n)
	for j := a; j < b; j++ {
		for _, w := range low {
			if r.tokens[j].low == w || r.tokens[j].low == w+"'s" {
				return true
			}
		}
	}
	return false
}
