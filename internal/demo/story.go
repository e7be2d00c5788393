package demo

// opening is the point of it all, printed first.
const opening = `Same tool, same address, and yet Bouncer answers differently: all that counts is where the address came from.
One that your policy names goes through. One that nobody has written yet is put to you. And the very same one, once a
stranger's mail has told the agent to use it, is refused.`

// step is one tool call of the agent, and what must become of it.
type step struct {
	chapter string         // printed before the step; "" continues the last one
	what    string         // the step in a few words
	tool    string         // the call
	args    map[string]any // the call
	answer  string         // what the person picks when asked; "" when nobody may be asked
	want    []verdict      // the lines in the audit log; the last one is what became of the call
	seen    *place         // for a refusal: where the evidence must say that the address was first seen
	reply   string         // what an allowed call's reply must contain
	show    bool           // print that reply
	sends   bool           // a mail with these arguments must be in the outbox afterwards
	writes  string         // this file must be there afterwards
	link    bool           // the step needs a symbolic link, which not every account on Windows may make
}

// verdict is what the story expects of one line of the audit log.
type verdict struct {
	verdict, contract, reason string
	origin, answer            string // "" when the line has none
}

// place is where a server wrote something.
type place struct{ server, tool, field string }

// The answers that a person can give, in the form's own words.
const (
	yesForSession = "Allow for this session"
	no            = "Deny"
)

func allow(origin string) verdict {
	return verdict{verdict: "allow", contract: "default", reason: "no contract objected", origin: origin}
}

func deny(contract, reason string) verdict {
	return verdict{verdict: "deny", contract: contract, reason: reason}
}

// ask is a question about an address; declined and vouched are what follows from the two answers.
func ask(param, address string) verdict {
	return verdict{verdict: "ask", contract: "sink_gate", origin: "unproven",
		reason: "destination " + param + "='" + address + "' is not a vouched recipient"}
}

func declined(param, address string) verdict {
	v := ask(param, address)
	v.verdict, v.answer = "deny", "declined"
	return v
}

func vouched() verdict {
	v := allow("approved")
	v.answer = "person"
	return v
}

func tainted(param, address string) []verdict {
	return []verdict{{verdict: "deny", contract: "sink_gate", origin: "untrusted",
		reason: "destination " + param + "='" + address + "' came from untrusted data"}}
}

func outside(path string) []verdict {
	return []verdict{deny("constraint", "path='"+path+"' outside allowed prefixes ['notes']")}
}

func email(subject string, to string, cc ...string) map[string]any {
	args := map[string]any{"to": []string{to}, "subject": subject, "body": "Three employees, 13200 in all."}
	if len(cc) > 0 {
		args["cc"] = cc
	}
	return args
}

func note(path string) map[string]any {
	return map[string]any{"path": path, "content": "Three employees, 13200 in all.\n"}
}

// story is the whole demo.
func story() []step {
	plain := []verdict{allow("")}
	poisoned := &place{"mail", "read_email", "content[0].text"}
	return []step{
		{chapter: "The agent reads its mail. Reading is not gated; Bouncer remembers what it saw.",
			what: "list the inbox", tool: "list_inbox", args: map[string]any{}, want: plain, reply: "m2"},
		{what: "read Dana's mail", tool: "read_email", args: map[string]any{"id": "m1"}, want: plain, reply: teammate},

		{chapter: "Dana gets her summary: your policy names her.",
			what: "send to " + teammate, tool: "send_email", args: email("Summary", teammate),
			want: []verdict{allow("allowlisted")}, sends: true},

		{chapter: "One address, twice. At first nobody has written it: it is only unknown, so you are asked.",
			what: "send to " + attacker, tool: "send_email", args: email("Payroll", attacker),
			answer: no, want: []verdict{ask("to[0]", attacker), declined("to[0]", attacker)}},
		{what: "read a stranger's mail", tool: "read_email", args: map[string]any{"id": "m2"}, want: plain, reply: attacker, show: true},
		{what: "send to " + attacker, tool: "send_email", args: email("Payroll", attacker),
			want: tainted("to[0]", attacker), seen: poisoned},

		{chapter: "A newcomer whom nobody has heard of. You vouch for the address, once for the session.",
			what: "send to " + newcomer, tool: "send_email", args: email("Welcome", newcomer),
			answer: yesForSession, want: []verdict{ask("to[0]", newcomer), vouched()}, sends: true},
		{what: "send to " + newcomer + " again", tool: "send_email", args: email("One more thing", newcomer),
			want: []verdict{allow("approved")}, sends: true},

		{chapter: "The attacker's address hides among the copies of an honest mail.",
			what: "send to " + teammate + ", three cc", tool: "send_email",
			args: email("Summary again", teammate, newcomer, attacker, teammate), want: tainted("cc[1]", attacker), seen: poisoned},

		{chapter: "Files stay inside notes/, however the path is spelled, and two notes are the limit.",
			what: "save the payroll in notes/", tool: "save_attachment",
			args: map[string]any{"id": "m1", "path": "notes/payroll.csv"}, want: plain, writes: "notes/payroll.csv"},
		{what: "save it through a link that leads out", tool: "save_attachment", link: true,
			args: map[string]any{"id": "m1", "path": "notes/shared/payroll.csv"}, want: outside("notes/shared/payroll.csv")},
		{what: "write a note out of notes/ with ..", tool: "write_note",
			args: note("notes/../private/summary.txt"), want: outside("notes/../private/summary.txt")},
		{what: "write a note in notes/", tool: "write_note", args: note("notes/summary.txt"), want: plain, writes: "notes/summary.txt"},
		{what: "write another one", tool: "write_note", args: note("notes/summary-2.txt"),
			want: []verdict{deny("budget", "call budget 2 for 'write_note' exceeded")}},
	}
}
