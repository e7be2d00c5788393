package approval

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Fastest is the least time in which a person can have seen a question and chosen: a quarter of a second, which is what it takes
// them to react to a light. What comes sooner was a machine's answer, yes or no (B19).
const Fastest = 250 * time.Millisecond

// habit is what a client is known to do with questions when no person looks.
type habit struct {
	name    string // of clientInfo, in lower case
	through string // the last version that does it; "" is every one so far
	drops   bool   // shows nothing and never answers; else it declines by itself
	why     string
}

// habits are the clients that answer, or do not, by themselves, by the names that they give themselves. Clients that do so in
// some of their modes only, under one name, are told by their speed. A name that is listed wrongly costs a person a second
// place to answer at; it never lets anything through.
var habits = []habit{
	{name: "codex-mcp-client", why: "Codex declines by itself where it runs without a dialogue (codex exec, app server)"},
	{name: "cursor-vscode", through: "3.10.20", drops: true, why: "this version of Cursor drops the questions of local servers"},
}

// habitOf finds what is known of a client, which is named as "name version".
func habitOf(client string) (habit, bool) {
	name, version, _ := strings.Cut(strings.ToLower(strings.TrimSpace(client)), " ")
	for _, h := range habits {
		if h.name == name && (h.through == "" || !later(version, h.through)) {
			return h, true
		}
	}
	return habit{}, false
}

// later compares versions number by number. A version that is none is not later: what is not known counts as known to be
// bad.
func later(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	for i := range max(len(a), len(b)) {
		var x, y int
		var err error
		if i < len(a) {
			if x, err = strconv.Atoi(a[i]); err != nil {
				return false
			}
		}
		if i < len(b) {
			y, _ = strconv.Atoi(b[i])
		}
		if x != y {
			return x > y
		}
	}
	return false
}

// byMachine turns an answer that no person gave into Unanswered. took is how long after the question it came; fastest is
// the least that counts.
func byMachine(a Answer, client string, took, fastest time.Duration) Answer {
	switch a.How {
	case ByPerson, Declined, Cancelled:
	default:
		return a
	}
	if took < fastest {
		return Answer{How: Unanswered, Why: fmt.Sprintf("no person answered: the client's answer came after %s, sooner than anybody could have read the question", took.Round(time.Millisecond))}
	}
	if h, ok := habitOf(client); ok && !h.drops && a.How != ByPerson {
		return Answer{How: Unanswered, Why: "no person answered, as far as can be told: " + h.why}
	}
	return a
}

// seenByPerson reports an end that a person brought about, so that no other channel is tried.
func (a Answer) seenByPerson() bool {
	switch a.How {
	case ByPerson, ByTerminal, ByPage, Declined, Cancelled:
		return true
	}
	return false
}
