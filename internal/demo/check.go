package demo

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// line is one line of the audit log: the parts that the story is about, and the whole as it stands in the file.
type line struct {
	Tool     string
	Args     any
	Verdict  string
	Reason   string
	Contract string
	ID       string
	Server   string
	Origin   string
	Answer   string
	Evidence []evidence
	raw      string
}

type evidence struct {
	Destination string
	Origin      string
	Server      string `json:"seen_server"`
	Tool        string `json:"seen_tool"`
	Field       string `json:"seen_field"`
	Snippet     string
}

// check compares what happened with what the story says, and returns every difference. The client, the log and the
// mail server are three witnesses; each has to say the same.
func check(st step, got outcome, want expected) []string {
	var problems []string
	problems = append(problems, checkLog(st, got.lines)...)
	problems = append(problems, checkReply(st, got.reply)...)
	problems = append(problems, checkQuestions(st, got.questions)...)
	if !reflect.DeepEqual(recipients(got.sent), wanted(want.sent)) {
		problems = append(problems, fmt.Sprintf("the outbox holds %v, want %v", recipients(got.sent), wanted(want.sent)))
	}
	if !slices.Equal(got.files, want.files) {
		problems = append(problems, fmt.Sprintf("the server's files are %q, want %q", got.files, want.files))
	}
	return problems
}

func checkLog(st step, lines []line) []string {
	var problems []string
	if len(lines) != len(st.want) {
		problems = append(problems, fmt.Sprintf("%d lines in the audit log, want %d", len(lines), len(st.want)))
	}
	for i := range min(len(lines), len(st.want)) {
		l := lines[i]
		have := verdict{l.Verdict, l.Contract, l.Reason, l.Origin, l.Answer}
		if have != st.want[i] {
			problems = append(problems, fmt.Sprintf("the log says %+v, want %+v", have, st.want[i]))
		}
		if l.Tool != st.tool || !sameJSON(l.Args, st.args) || l.Server != serverName {
			problems = append(problems, "the log's line is about another call: "+l.raw)
		}
		if l.ID == "" || l.ID != lines[0].ID {
			problems = append(problems, "the log's lines about one call have no id in common")
		}
	}
	if st.seen != nil && !slices.ContainsFunc(lines, func(l line) bool { return l.sighted(*st.seen) }) {
		problems = append(problems, fmt.Sprintf("the evidence does not say that %s was first seen in %+v", attacker, *st.seen))
	}
	return problems
}

// sighted reports whether the line says that the attacker's address was first seen at p.
func (l line) sighted(p place) bool {
	return slices.ContainsFunc(l.Evidence, func(e evidence) bool {
		return e.Destination == attacker && place{e.Server, e.Tool, e.Field} == p && strings.Contains(e.Snippet, attacker)
	})
}

func checkReply(st step, r reply) []string {
	last := st.want[len(st.want)-1]
	blocked := "[bouncer blocked] " + last.reason
	first, _, _ := strings.Cut(r.text, "\n")
	switch {
	case last.verdict == "allow" && (r.isError || strings.Contains(r.text, "[bouncer")):
		return []string{"the client got an error: " + r.text}
	case last.verdict == "allow" && !strings.Contains(r.text, st.reply):
		return []string{fmt.Sprintf("the reply does not hold %q: %s", st.reply, r.text)}
	case last.verdict != "allow" && (!r.isError || first != blocked):
		return []string{fmt.Sprintf("the client got %q, want the tool error %q", first, blocked)}
	}
	return nil
}

func checkQuestions(st step, questions []question) []string {
	if st.answer == "" {
		if len(questions) > 0 {
			return []string{"somebody was asked: " + questions[0].message}
		}
		return nil
	}
	if len(questions) != 1 {
		return []string{fmt.Sprintf("%d questions, want 1", len(questions))}
	}
	q := questions[0]
	address := st.args["to"].([]string)[0]
	switch {
	case q.problem != "":
		return []string{"the question could not be answered: " + q.problem}
	case !strings.Contains(q.message, address) || !strings.Contains(q.message, st.tool):
		return []string{"the question names neither the address nor the tool: " + q.message}
	case len(q.options) == 0 || q.options[0] != no: // a hasty Enter must not let anything through
		return []string{fmt.Sprintf("the options are %q, and %q must come first", q.options, no)}
	}
	return nil
}

// recipients shows mails as "subject: to cc", which is enough to tell the story's apart.
func recipients(sent []letter) []string {
	var out []string
	for _, l := range sent {
		out = append(out, l.Subject+": "+strings.Join(slices.Concat(l.To, l.CC), " "))
	}
	return out
}

func wanted(calls []map[string]any) []string {
	var out []string
	for _, args := range calls {
		to, _ := args["to"].([]string)
		cc, _ := args["cc"].([]string)
		out = append(out, fmt.Sprint(args["subject"])+": "+strings.Join(slices.Concat(to, cc), " "))
	}
	return out
}

// sameJSON reports whether two values are the same JSON, whatever Go types they have.
func sameJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}
