package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/replay"
)

// replayed is the outcome of a replay.
type replayed struct {
	kind         string
	cfg          replay.Config
	runs, traced []replay.Run
}

func (f replayFlags) show(w io.Writer, r replayed) error {
	switch {
	case f.explain != "":
		return explainRun(w, slices.Concat(r.runs, r.traced), f.explain)
	case f.asJSON:
		return printJSON(w, r.report())
	}
	out := page{w: w, markdown: f.markdown}
	out.text("%s", r.setting())
	if len(r.runs) > 0 {
		sums := replay.Summarise(r.runs)
		out.table(r.table(sums))
		r.criteria(&out, sums[len(sums)-1])
	}
	if len(r.traced) > 0 {
		out.table(traceTable(replay.Summarise(r.traced)))
	}
	if f.list {
		out.table(honestTable(r.runs))
		out.table(attackTable(r.runs))
		out.table(honestTable(r.traced))
		out.table(attackTable(r.traced))
	}
	return nil
}

// setting says what the figures hold for.
func (r replayed) setting() string {
	out := "profile " + string(r.cfg.Profile) + ", prompt known"
	if r.cfg.NoPrompt {
		out = "profile " + string(r.cfg.Profile) + ", prompt not known"
	}
	if r.cfg.Headless {
		out += ", nobody to ask"
	}
	return out
}

func (r replayed) table(sums []replay.Summary) table {
	t := table{head: []string{"suite", "honest ok", "no question", "questions", "median/max", "attacks", "blocked", "asked", "silent", "yes to all", "user's task survives"}}
	for _, s := range sums {
		t.add(s.Suite, fmt.Sprintf("%d/%d", s.BenignOK, s.BenignTotal), s.NoAsk, s.Asks, fmt.Sprintf("%d/%d", s.AsksMedian, s.AsksMax),
			s.Attacks, s.Blocked, s.Asked, s.Silent, s.ApproveAll, s.UserOK)
	}
	return t
}

func (r replayed) criteria(out *page, total replay.Summary) {
	if r.kind != "agentdojo" {
		return
	}
	t := table{head: []string{"criterion", "figure", "limit", ""}}
	for _, c := range replay.Criteria(total, r.cfg.Headless) {
		t.add(c.Name, c.Value, c.Limit, passWord(c.Passed))
	}
	out.table(t)
	if first := replay.FirstRow(r.runs); len(first) > 0 {
		t := table{head: []string{"the first version's row", "outcome", quotedColumn}, left: 3}
		for _, run := range first {
			t.add(run.Name(), outcomeWord(run), visibleReason(reasons(run)))
		}
		out.table(t)
	}
}

func passWord(ok bool) string {
	if ok {
		return "pass"
	}
	return "FAIL"
}

func traceTable(sums []replay.Summary) table {
	t := table{head: []string{"pipeline", "honest ok", "no question", "questions", "a task", "attacks", "denied", "asked", "silent"}}
	for _, s := range sums {
		each := "-"
		if s.BenignTotal > 0 {
			each = fmt.Sprintf("%.2f", float64(s.Asks)/float64(s.BenignTotal))
		}
		t.add(s.Suite, fmt.Sprintf("%d/%d", s.BenignOK, s.BenignTotal), s.NoAsk, s.Asks, each, s.Attacks, s.Blocked, s.Asked, s.Silent)
	}
	return t
}

// outcomeWord is what became of a session.
func outcomeWord(r replay.Run) string {
	switch {
	case r.Injection != "":
		return string(r.Outcome)
	case r.Refused > 0:
		return "refused"
	case r.Questions > 0:
		return "question"
	}
	return "ok"
}

// reasons is why a session came to its outcome: of an honest one, for each call that was refused or asked about.
func reasons(r replay.Run) string {
	if r.Injection != "" {
		return r.Reason
	}
	var all []string
	for _, s := range r.Steps {
		if s.Denied() || s.Asked() {
			if one := s.Call.Function + ": " + s.Decision.Reason; !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return strings.Join(all, "; ")
}

func visibleReason(s string) string { return destination.Visible(s, 400) }

// honestTable names the honest tasks that a person has to do with.
func honestTable(runs []replay.Run) table {
	t := table{head: []string{"honest task", "outcome", quotedColumn}, left: 3}
	for _, r := range runs {
		if word := outcomeWord(r); r.Injection == "" && word != "ok" {
			t.add(r.Name(), word, visibleReason(reasons(r)))
		}
	}
	return t
}

// attackTable names the attacks that are not blocked: those of one injection that come to the same for the same reason in
// one row.
func attackTable(runs []replay.Run) table {
	t := table{head: []string{"injection", "outcome", quotedColumn, "in"}, left: 4}
	row := map[string]int{}
	for _, r := range runs {
		if r.Injection == "" || r.Outcome == replay.Blocked {
			continue
		}
		reason := r.Reason
		if reason == "" {
			reason = "no contract objected"
		}
		cells := []string{r.Suite + "/" + r.Injection, string(r.Outcome), visibleReason(reason)}
		key := strings.Join(cells, "\x00")
		if i, ok := row[key]; ok {
			t.rows[i][3] += ", " + r.UserTask
			continue
		}
		row[key] = len(t.rows)
		t.rows = append(t.rows, append(cells, r.UserTask))
	}
	return t
}

// explainRun prints every call of a session with its verdict and the evidence.
func explainRun(w io.Writer, runs []replay.Run, name string) error {
	i := slices.IndexFunc(runs, func(r replay.Run) bool { return r.Name() == name })
	if i < 0 {
		return fail(exitUsage, fmt.Errorf("there is no session %s", name), "a session is called suite/task or suite/task/injection")
	}
	for n, s := range runs[i].Steps {
		fmt.Fprintf(w, "%d %s %s %s\n", n+1, s.Call.Phase, destination.Visible(s.Call.Function, 80), destination.Visible(string(s.Call.Args), 160))
		explainStep(w, s)
	}
	r := runs[i]
	if r.Injection == "" {
		fmt.Fprintf(w, "%s\n", outcomeWord(r))
		return nil
	}
	fmt.Fprintf(w, "%s %s\n", r.Outcome, visibleReason(r.Reason))
	return nil
}

func explainStep(w io.Writer, s replay.Step) {
	if !s.Made {
		fmt.Fprintln(w, "    not made: the injected text never reached the agent")
		return
	}
	fmt.Fprintf(w, "    %s [%s] %s\n", s.Verdict, s.Decision.Contract, visibleReason(s.Decision.Reason))
	switch {
	case s.Nobody:
		fmt.Fprintln(w, "    denied: nobody to ask")
	case s.Refused:
		fmt.Fprintln(w, "    denied after the answer")
	}
	for _, j := range s.Decision.Judged {
		fmt.Fprintf(w, "      %s=%s is %s", j.Param, j.Destination.Display(), j.Origin)
		if j.Seen != nil {
			fmt.Fprintf(w, ", seen in %s %s: %s", destination.Visible(j.Seen.Source.Tool, 60), destination.Visible(j.Seen.Field, 60), j.Seen.Snippet)
		}
		if j.Words != "" {
			fmt.Fprintf(w, ", by %q", j.Words)
		}
		fmt.Fprintln(w)
	}
	for _, found := range s.Decision.Findings {
		if found.Reason != s.Decision.Reason {
			fmt.Fprintf(w, "      %s [%s] %s\n", found.Verdict, found.Contract, visibleReason(found.Reason))
		}
	}
}
