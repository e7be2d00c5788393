package audit

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Story tells in sentences, one a line, what became of the call that lines are about: who wanted what, why it was
// decided so, where its destinations were first seen, how it was answered. Text of others is escaped and quoted.
func Story(lines []Record) string {
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	first := lines[0]
	client := "The client"
	if first.Client != "" {
		client = "Client " + quoted(first.Client)
	}
	say("%s UTC: %s called %s of server %s in session %s.", first.Time.Format(time.DateTime), client, quoted(first.Tool), quoted(first.Server), quoted(first.Session))
	say("Its arguments were %s.", destination.Visible(string(first.Args), 2000))
	for i, r := range lines {
		if i > 0 {
			say("")
		}
		r.tell(say, i > 0)
	}
	return b.String()
}

func (r Record) tell(say func(string, ...any), again bool) {
	when := ""
	if again {
		when = r.Time.Format(time.DateTime) + " UTC: "
	}
	switch r.Verdict {
	case "allow":
		say("%sIt was allowed, and forwarded (contract %s): %s.", when, quoted(r.Contract), shown(r.Reason))
	case "deny":
		say("%sIt was denied, and never reached the server (contract %s): %s.", when, quoted(r.Contract), shown(r.Reason))
	case "ask":
		say("%sA person was asked (contract %s): %s.", when, quoted(r.Contract), shown(r.Reason))
	default:
		say("%sThe verdict was %s (contract %s): %s.", when, quoted(r.Verdict), quoted(r.Contract), shown(r.Reason))
	}
	if r.Answer != "" {
		say("How it was answered: %s.", answers(r.Answer))
	}
	if again {
		return // the same destinations as before
	}
	for _, e := range r.Evidence {
		e.tell(say)
	}
}

func (e Evidence) tell(say func(string, ...any)) {
	if e.Destination == "" {
		if e.Reason != "" {
			say("Contract %s objected: %s.", quoted(e.Contract), shown(e.Reason))
		}
		return
	}
	param := ""
	if e.Param != "" {
		param = " in argument " + quoted(e.Param)
	}
	say("The destination %s%s (%s) is %s.", quoted(e.Destination), param, shown(or(e.Kind, "of no known kind")), shown(or(e.Origin, "of no known origin")))
	if e.Server == "" && e.Tool == "" {
		return
	}
	say("It was first seen in what %s/%s returned, in field %s of call %s (match: %s).", shown(e.Server), shown(e.Tool), quoted(e.Field), quoted(e.Call), shown(or(e.Match, "exact")))
	if e.Snippet != "" {
		say("There it says: %s", quoted(e.Snippet))
	}
}

// answers puts the log's word for an answer into a sentence: a person's no and a client's must not read alike (D15).
func answers(how string) string {
	words := map[string]string{
		"person": "a person decided", "declined": "the question was declined", "timeout": "nobody answered in time", "unsupported": "the client cannot ask",
	}
	if s := words[how]; s != "" {
		return s
	}
	return shown(how)
}

func shown(s string) string { return destination.Visible(s, 600) }

func quoted(s string) string { return "\u201c" + shown(s) + "\u201d" }
