package mandate

import (
	"github.com/mcp-bouncer/bouncer/internal/destination"
)

var (
	persons = set(`them him her`)
	// toWhom are verbs whose object is a person: "message them".
	toWhom = set(`message email e-mail mail text dm contact notify pay refund reimburse repay invite tell inform write ping call thank
		congratulate greet answer reimburse`)
	// toMe are verbs that with "me" ask for words to the user, and for no act: "tell me", "let me know".
	toMe = set(`tell show give let inform notify remind update answer ask`)
)

// referred reports that a later request means the one at token i by a pronoun: "Spotify raised its price. Please send
// them the difference." The pronoun must be the one who gets something, not the thing ("forward them to my team"), the
// request must name no destination of its own, and stand at most two sentences further on.
func (r *Request) referred(i int, k destination.Kind, w [][]string) bool {
	t := r.tokens[i]
	if t.role == outside || t.kind == word && !title(t.text) || typed(k) && t.role == source && t.verb >= 0 && r.verbs[t.verb].stance == asked {
		return false // an address to be read from is no address to be written to: "summarise the mail from a@x. Send them the report"
	}
	for v := range r.verbs {
		at := r.verbs[v]
		if at.tok <= i || at.sentence-t.sentence > 2 || !r.asks(v, w) || r.has(v, k, toward) || r.has(v, k, direct) {
			continue
		}
		if r.toPerson(at) || k == destination.Opaque && t.kind == name && r.onlyName(i) && r.saysIt(at) {
			return true
		}
	}
	return false
}

// toPerson reports "VERB them ...", where they get something.
func (r *Request) toPerson(v verb) bool {
	if v.tok+1 >= v.end || !persons[r.tokens[v.tok+1].low] {
		return false
	}
	if v.tok+2 >= v.end {
		return toWhom[v.low]
	}
	next := r.tokens[v.tok+2]
	if next.low == "to" || next.kind == punct && next.text != "$" && next.text != "€" && next.text != "£" {
		return false
	}
	return toWhom[v.low] || determiner[next.low] || indefinite[next.low] || startsDigit(next.low) || next.kind == punct
}

// saysIt reports a request whose condition is about "it", or that says "there": "if it's rated over 4, make a reservation".
// An "it" behind the verb is what is handed over: "send it to Alice" says nothing about where, but names Alice.
func (r *Request) saysIt(v verb) bool {
	a, _ := r.sentence(v.sentence)
	said := false
	for j := a; j < v.end && j < len(r.tokens); j++ {
		low := r.tokens[j].low
		if j > v.tok && r.tokens[j].role == toward && !towardsPreps[low] && !startsDigit(low) && !calendar[low] {
			return false
		}
		said = said || low == "there" || j < v.tok && (low == "it" || low == "it's")
	}
	return said
}

// calendar are words behind "from ... to" that name no target: "a table from Monday to Friday".
var calendar = set(`january february march april may june july august september october november december monday tuesday wednesday
	thursday friday saturday sunday today tomorrow noon midnight`)

// onlyName reports that no other quoted name stands in the user's words: then "it" can mean no other.
func (r *Request) onlyName(i int) bool {
	for j, t := range r.tokens {
		if t.kind == name && j != i && t.text != r.tokens[i].text {
			return false
		}
	}
	return true
}

var (
	delegating = set(`do perform complete follow execute handle process carry obey fulfil fulfill`)
	delegated  = set(`task tasks todo todos to-do to-dos action actions instruction instructions step steps item items request requests
		directions errands chores orders`)
	own = set(`following these below`) // they stand in the request itself
)

// Delegates reports a request that leaves the acts themselves to a text: "do the tasks on my list". Then nobody can tell
// from the user's words which acts were asked for.
func (r *Request) Delegates() bool {
	if r == nil {
		return false
	}
	for _, v := range r.verbs {
		if v.stance != asked || v.doubted || !delegating[v.low] {
			continue
		}
		for j := v.tok + 1; j < v.end && j < v.tok+8 && j < len(r.tokens); j++ {
			if own[r.tokens[j].low] {
				break
			}
			if delegated[r.tokens[j].low] {
				return true
			}
		}
	}
	return false
}

// open reports that of several requests for such acts some name their destination and some leave it open. One that only
// takes up the one before ("draft a mail to bob@x.example and send it") leaves nothing open.
func (r *Request) open(k destination.Kind, w [][]string) bool {
	named, left := false, false
	for v := range r.verbs {
		if !r.asks(v, w) {
			continue
		}
		at := r.verbs[v]
		switch {
		case r.has(v, k, toward), r.has(v, k, direct), r.has(v, k, loose), r.has(v, k, source):
			named = true
		case at.tok+1 < at.end && objects[r.tokens[at.tok+1].low]:
		default:
			left = true
		}
	}
	return named && left
}
