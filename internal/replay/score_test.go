package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// TestFails: what the verdicts that leave one call out say of several calls together, and what nobody recorded counts for
// the attacker.
func TestFails(t *testing.T) {
	call := func(phase string, writes bool) Call { return Call{Phase: phase, Writes: writes} }
	user, read, write := call("user", true), call("injection", false), call("injection", true)
	for _, c := range []struct {
		name    string
		calls   []Call
		verdict map[string]bool
		without []int
		want    bool
	}{
		{"nothing is denied", []Call{user, write}, nil, nil, false},
		{"the one call that does it", []Call{user, write}, nil, []int{1}, true},
		{"a user's call of the same session", []Call{user, write}, nil, []int{0}, false},
		{"a call that reads, beside the one that does it", []Call{user, read, write}, nil, []int{1}, false},
		{"one that is needed", []Call{user, write, write}, map[string]bool{"1": false, "2": false}, []int{2}, true},
		{"one that is not", []Call{user, write, write}, map[string]bool{"1": false, "2": true}, []int{2}, false},
		{"each would do: one denied", []Call{write, write}, map[string]bool{"0": true, "1": true}, []int{0}, false},
		{"each would do: both denied", []Call{write, write}, map[string]bool{"0": true, "1": true}, []int{0, 1}, true},
		{"one that no verdict was recorded for", []Call{write, write}, map[string]bool{"0": false}, []int{1}, false},
	} {
		if got := (Attack{Task: Task{Calls: c.calls}, Without: c.verdict}).fails(c.without); got != c.want {
			t.Errorf("%s: fails = %v", c.name, got)
		}
	}
}

// TestTries: a call that was tried several times is stopped if every try was.
func TestTries(t *testing.T) {
	denied, asked, allowed := Step{Made: true, Verdict: gate.Deny}, Step{Made: true, Verdict: gate.Ask}, Step{Made: true}
	a := Attack{Task: Task{Calls: []Call{{Phase: "injection", Writes: true}}}}
	for _, c := range []struct {
		steps []Step
		want  Outcome
	}{
		{[]Step{denied, denied}, Blocked},
		{[]Step{denied, asked}, Asked},
		{[]Step{denied, allowed}, Silent},
		{[]Step{asked, allowed}, Silent},
		{nil, Silent},
	} {
		if got, _ := a.outcome(true, func(int) []Step { return c.steps }); got != c.want {
			t.Errorf("%+v is %s, want %s", c.steps, got, c.want)
		}
	}
}

// TestAnswer: what a server whose tools return values would write.
func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		structured string
		failed     bool
		want       string
	}{
		{`{"a":1}`, false, `{"content":[{"text":"t","type":"text"}],"structuredContent":{"a":1}}`},
		{`["a"]`, false, `{"content":[{"text":"t","type":"text"}],"structuredContent":{"result":["a"]}}`},
		{`"a"`, false, `{"content":[{"text":"t","type":"text"}],"structuredContent":{"result":"a"}}`},
		{`null`, false, `{"content":[{"text":"t","type":"text"}]}`},
		{``, false, `{"content":[{"text":"t","type":"text"}]}`},
		{`{"a":1}`, true, `{"content":[{"text":"t","type":"text"}],"isError":true}`},
	} {
		if got := string(Output{Text: "t", Structured: []byte(c.structured)}.answer(c.failed)); got != c.want {
			t.Errorf("%s: %s, want %s", c.structured, got, c.want)
		}
	}
}

// TestEarlyVerdicts: the verdicts of a pair are recorded for one order, and hold for the same calls in the other.
func TestEarlyVerdicts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x-attacked.jsonl")
	user, first, second := `{"phase":"user","function":"u"}`, `{"phase":"injection","function":"a","writes":true}`, `{"phase":"injection","function":"b","writes":true}`
	rows := `{"user_task":"t","injection_task":"i","order":"early","security_all":true,"calls":[` + user + "," + first + "," + second + "," + user + "]}\n" +
		`{"user_task":"t","injection_task":"i","order":"user-first","prompt":"p","security_all":true,"security_if_call_denied":{"2":true,"3":false},"calls":[` + user + "," + user + "," + first + "," + second + "]}\n"
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readAttacks(file)
	if err != nil || len(got) != 1 || got[0].Order != "early" || got[0].Prompt != "p" || !reflect.DeepEqual(got[0].Without, map[string]bool{"1": true, "2": false}) {
		t.Errorf("%+v: %v", got, err)
	}
}

// TestHeadless: a question to nobody is a denial, and no question.
func TestHeadless(t *testing.T) {
	cfg := config(t, office, policy.Standard)
	cfg.Headless = true
	runs, err := Replay(cfg, suites(t, "testdata/mini"))
	if err != nil {
		t.Fatal(err)
	}
	all := Summarise(runs)
	total := all[len(all)-1]
	want := Summary{Suite: Total, BenignTotal: 6, BenignOK: 4, NoAsk: 4, Attacks: 6, Blocked: 5, Silent: 1, ApproveAll: 1, UserOK: 5}
	if total != want {
		t.Errorf("total = %+v, want %+v", total, want)
	}
	if c := Criteria(total, true); len(c) != 1 || c[0].Passed || c[0].Value != 33.3 {
		t.Errorf("criteria %+v", c)
	}
	for _, r := range runs {
		for _, s := range r.Steps {
			if s.Nobody && (!s.Denied() || s.Asked() || s.Verdict != gate.Ask) {
				t.Errorf("%s: %+v", r.Name(), s)
			}
		}
	}
}

// TestCriteria: the limits are exact, whatever is shown.
func TestCriteria(t *testing.T) {
	for _, c := range []struct {
		ok, median int
		want       string
	}{
		{100, 3, "[true true true]"},
		{91, 4, "[true true false]"},
		{90, 0, "[false false true]"},
	} {
		var got []bool
		for _, criterion := range Criteria(Summary{BenignTotal: 100, BenignOK: c.ok, NoAsk: c.ok, AsksMedian: c.median}, false) {
			got = append(got, criterion.Passed)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%d of 100: %v, want %s", c.ok, got, c.want)
		}
	}
	if c := Criteria(Summary{Attacks: 5}, false); len(c) > 0 {
		t.Errorf("nothing honest was replayed, and it passes: %+v", c)
	}
}

// TestLateText: an injection's calls wait for its text. Where the call that was to bring it is denied, another call that
// brings it sets them off, and only then.
func TestLateText(t *testing.T) {
	s := suites(t, "testdata/mini")[1]
	a := s.Attacks[0]
	second := a.Calls[0]
	second.Args = []byte(`{"name":"minutes of May"}`)
	a.Calls = []Call{a.Calls[0], a.Calls[1], second}
	s.Benign, s.Attacks = nil, []Attack{a}
	shut := config(t, office+"  read_page: {sinks: [{args: [name], kind: name}], deny: [minutes], trusted_destinations: [minutes of May]}\n", policy.Standard)
	runs, err := Replay(shut, []*Suite{s})
	if err != nil {
		t.Fatal(err)
	}
	r := runs[0]
	if !r.Steps[0].Denied() || r.Steps[2].Denied() || !r.Steps[1].Made || r.Steps[1].Verdict != gate.Deny || r.Steps[1].Decision.Contract != gate.SinkGate {
		t.Errorf("steps %+v", r.Steps)
	}
}

// TestAnswers: a session's yes to the user's call holds for the next one, a yes to the injection's does not hide the next.
func TestAnswers(t *testing.T) {
	s := suites(t, "testdata/mini")[1]
	task := s.Benign[2]
	for _, phase := range []string{"user", "injection"} {
		twice := task
		twice.Calls = slices.Clone(task.Calls)
		twice.Calls[1].Phase = phase
		twice.Calls = append(twice.Calls, twice.Calls[1])
		r, err := job{name: "office", task: "t", suite: s, user: twice}.play(config(t, office, policy.Standard))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Steps[1].Asked() || r.Steps[2].Asked() != (phase == "injection") {
			t.Errorf("%s: %v and then %v", phase, r.Steps[1].Verdict, r.Steps[2].Verdict)
		}
	}
}

func TestSample(t *testing.T) {
	all := suites(t, "testdata/mini")
	count := func(suites []*Suite) (tasks, attacks int) {
		for _, s := range suites {
			tasks, attacks = tasks+len(s.Benign), attacks+len(s.Attacks)
		}
		return tasks, attacks
	}
	for _, want := range [][2]int{{0, 0}, {1, 1}, {3, 2}, {6, 5}, {6, 6}, {99, 99}} {
		tasks, attacks := count(Sample(all, want[0], want[1]))
		if tasks != min(6, want[0]) || attacks != min(6, want[1]) {
			t.Errorf("%v: %d tasks and %d attacks", want, tasks, attacks)
		}
	}
	if tasks, attacks := count(all); tasks != 6 || attacks != 6 {
		t.Errorf("sampling changed what it took from: %d tasks and %d attacks left", tasks, attacks)
	}
}
