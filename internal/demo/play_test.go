package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// troupe is a stage on which everything goes as the story says, but for what change does to one step.
type troupe struct {
	steps   []step
	change  func(i int, o *outcome)
	at      int
	now     outcome
	fail    error
	failsAt string // the witness that fails: call, log, outbox or files
}

func (s *troupe) call(context.Context, string, map[string]any, string) (reply, error) {
	st := s.steps[s.at]
	o := outcome{sent: slices.Clone(s.now.sent), files: slices.Clone(s.now.files)}
	if s.at == 0 {
		o.files = []string{outboxFile}
	}
	last := st.want[len(st.want)-1]
	if last.verdict == "allow" {
		o.text = "ok " + st.reply
	} else {
		o.text, o.isError = "[bouncer blocked] "+last.reason+"\nhint: something", true
	}
	if st.answer != "" {
		o.questions = []question{{message: "send_email to " + attacker + " or " + newcomer + "?", options: []string{no, yesForSession}, chose: st.answer}}
	}
	for _, w := range st.want {
		l := line{Tool: st.tool, Args: st.args, Verdict: w.verdict, Contract: w.contract, Reason: w.reason, Origin: w.origin,
			Answer: w.answer, ID: "id" + strconv.Itoa(s.at), Server: serverName, raw: "{}"}
		if st.seen != nil {
			l.Evidence = []evidence{{Destination: attacker, Server: st.seen.server, Tool: st.seen.tool, Field: st.seen.field, Snippet: "... " + attacker}}
		}
		o.lines = append(o.lines, l)
	}
	if st.sends {
		to, _ := st.args["to"].([]string)
		o.sent = append(o.sent, letter{To: to, Subject: st.args["subject"].(string)})
	}
	if st.writes != "" {
		o.files = append(o.files, st.writes)
		slices.Sort(o.files)
	}
	s.now = o
	if s.change != nil {
		s.change(s.at, &s.now)
	}
	s.at++
	return s.now.reply, s.err("call")
}

func (s *troupe) err(who string) error {
	if s.failsAt == who {
		return s.fail
	}
	return nil
}

func (s *troupe) log() ([]line, error)      { return s.now.lines, s.err("log") }
func (s *troupe) outbox() ([]letter, error) { return s.now.sent, s.err("outbox") }
func (s *troupe) files() ([]string, error)  { return s.now.files, s.err("files") }

func TestPlayAsWritten(t *testing.T) {
	var out bytes.Buffer
	all, err := play(t.Context(), &troupe{steps: story()}, story(), newScreen(&out, false))
	if err != nil || len(all.problems) > 0 {
		t.Fatalf("problems %q, error %v", all.problems, err)
	}
	if strings.Contains(out.String(), "NOT AS EXPECTED") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("printed:\n%s", out.String())
	}
}

// Every way in which a run can differ from the story must be noticed, in every step that it can happen in.
func TestPlayNoticesEveryDifference(t *testing.T) {
	allowed := func(st step) bool { return st.want[len(st.want)-1].verdict == "allow" }
	refused := func(st step) bool { return !allowed(st) }
	always := func(step) bool { return true }
	for name, c := range map[string]struct {
		in     func(step) bool
		change func(*outcome)
	}{
		"another verdict in the log":    {always, func(o *outcome) { o.lines[0].Verdict = "other" }},
		"another last verdict":          {refused, func(o *outcome) { o.lines[len(o.lines)-1].Verdict = "allow" }},
		"another reason":                {always, func(o *outcome) { o.lines[0].Reason += "!" }},
		"another contract":              {always, func(o *outcome) { o.lines[0].Contract = "pinning" }},
		"another origin":                {always, func(o *outcome) { o.lines[0].Origin += "x" }},
		"another answer":                {always, func(o *outcome) { o.lines[0].Answer += "timeout" }},
		"no line":                       {always, func(o *outcome) { o.lines = nil }},
		"a line too many":               {always, func(o *outcome) { o.lines = append(o.lines, o.lines[0]) }},
		"a line about another tool":     {always, func(o *outcome) { o.lines[0].Tool = "other" }},
		"a line with other arguments":   {always, func(o *outcome) { o.lines[0].Args = map[string]any{"x": 1} }},
		"a line without an id":          {always, func(o *outcome) { o.lines[0].ID = "" }},
		"lines with two ids":            {func(s step) bool { return len(s.want) > 1 }, func(o *outcome) { o.lines[1].ID += "x" }},
		"another server":                {always, func(o *outcome) { o.lines[0].Server = "files" }},
		"no evidence":                   {func(s step) bool { return s.seen != nil }, func(o *outcome) { o.lines[0].Evidence = nil }},
		"evidence of another place":     {func(s step) bool { return s.seen != nil }, func(o *outcome) { o.lines[0].Evidence[0].Tool = "list_inbox" }},
		"an error for the client":       {allowed, func(o *outcome) { o.isError = true }},
		"a block that is no tool error": {allowed, func(o *outcome) { o.text = "[bouncer blocked] x" }},
		"a reply without the mail":      {func(s step) bool { return s.reply != "" }, func(o *outcome) { o.text = "empty" }},
		"a refusal that went through":   {refused, func(o *outcome) { o.isError, o.text = false, "done" }},
		"an error of somebody else":     {refused, func(o *outcome) { o.text = "disk full" }},
		"another reason for the client": {refused, func(o *outcome) { o.text = "[bouncer blocked] because" }},
		"a question to nobody's surprise": {func(s step) bool { return s.answer == "" }, func(o *outcome) {
			o.questions = []question{{message: "really?", options: []string{no}}}
		}},
		"no question":               {func(s step) bool { return s.answer != "" }, func(o *outcome) { o.questions = nil }},
		"a question too many":       {func(s step) bool { return s.answer != "" }, func(o *outcome) { o.questions = append(o.questions, o.questions[0]) }},
		"a question without form":   {func(s step) bool { return s.answer != "" }, func(o *outcome) { o.questions[0].options = nil }},
		"a question, yes first":     {func(s step) bool { return s.answer != "" }, func(o *outcome) { slices.Reverse(o.questions[0].options) }},
		"a question about nothing":  {func(s step) bool { return s.answer != "" }, func(o *outcome) { o.questions[0].message = "ok?" }},
		"a question not answerable": {func(s step) bool { return s.answer != "" }, func(o *outcome) { o.questions[0].problem = "x" }},
		"a mail that leaked":        {always, func(o *outcome) { o.sent = append(o.sent, letter{To: []string{attacker}}) }},
		"a mail with one more copy": {func(s step) bool { return s.sends }, func(o *outcome) { o.sent[len(o.sent)-1].CC = []string{attacker} }},
		"a mail that is missing":    {func(s step) bool { return s.sends }, func(o *outcome) { o.sent = o.sent[:len(o.sent)-1] }},
		"a file too many":           {always, func(o *outcome) { o.files = append(o.files, "private/x") }},
		"a file that is missing":    {func(s step) bool { return s.writes != "" }, func(o *outcome) { o.files = []string{outboxFile} }},
	} {
		t.Run(name, func(t *testing.T) {
			tried := 0
			for i, st := range story() {
				if !c.in(st) {
					continue
				}
				tried++
				stage := &troupe{steps: story(), change: func(at int, o *outcome) {
					if at == i {
						c.change(o)
					}
				}}
				var out bytes.Buffer
				all, err := play(t.Context(), stage, story(), newScreen(&out, false))
				if err != nil {
					t.Fatal(err)
				}
				if len(all.problems) == 0 || !strings.Contains(all.problems[0], st.what) {
					t.Errorf("step %d (%s): not noticed: %q", i+1, st.what, all.problems)
				}
				if !strings.Contains(out.String(), "NOT AS EXPECTED") {
					t.Errorf("step %d (%s): not shown", i+1, st.what)
				}
			}
			if tried == 0 {
				t.Error("no step of the story has this")
			}
		})
	}
}

func TestPlayStopsAtAnError(t *testing.T) {
	broken := errors.New("broken")
	for _, who := range []string{"call", "log", "outbox", "files"} {
		stage := &troupe{steps: story(), fail: broken, failsAt: who}
		if _, err := play(t.Context(), stage, story(), newScreen(io.Discard, false)); !errors.Is(err, broken) || stage.at != 1 {
			t.Errorf("%s broken: error %v after %d steps", who, err, stage.at)
		}
	}
}

// The summary must not claim what did not happen.
func TestSummaryIsHonest(t *testing.T) {
	const claim = "none to " + attacker
	show := func(r result) string {
		var out bytes.Buffer
		newScreen(&out, false).summary(r)
		return out.String()
	}
	if got := show(result{sent: []letter{{ID: "sent-1", To: []string{teammate}}}}); !strings.Contains(got, claim) || !strings.Contains(got, "all as expected") {
		t.Errorf("printed:\n%s", got)
	}
	leaked := result{sent: []letter{{ID: "sent-1", To: []string{teammate}, CC: []string{attacker}}}, problems: []string{"a leak"}}
	if got := show(leaked); strings.Contains(got, claim) || strings.Contains(got, "all as expected") || !strings.Contains(got, "a leak") {
		t.Errorf("printed:\n%s", got)
	}
}
