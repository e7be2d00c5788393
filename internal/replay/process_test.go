package replay

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// TestServe: the recorded server answers what came as it was recorded, and nothing else.
func TestServe(t *testing.T) {
	s := suites(t, "testdata/mini")[1]
	task := s.Benign[1]
	task.Calls[1].Args = []byte(`{"to": "bob@office.example", "body": "<at ten>"}`)
	rec, err := record(s, task)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := rec.encode()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), recordingFile)
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	for _, c := range []struct{ name, frame, want string }{
		{"a call", call(`{"name":"send_mail","arguments":{"to":"bob@office.example","body":"<at ten>"},"_meta":{"bouncer.replay/answer":1}}`), `"text":"done"`},
		{"with another argument", call(`{"name":"send_mail","arguments":{"to":"eve@office.example","body":"<at ten>"},"_meta":{"bouncer.replay/answer":1}}`), "did not come as it was recorded"},
		{"spelled in another way", call(`{"name":"send_mail","arguments":{"to":"bob@office.example","body":"\u003cat ten>"},"_meta":{"bouncer.replay/answer":1}}`), "did not come as it was recorded"},
		{"of another tool", call(`{"name":"read_page","arguments":{"to":"bob@office.example","body":"<at ten>"},"_meta":{"bouncer.replay/answer":1}}`), "did not come as it was recorded"},
		{"of no number", call(`{"name":"send_mail","arguments":{}}`), "not in the recording"},
		{"of no call", call(`{"name":"send_mail","arguments":{},"_meta":{"bouncer.replay/answer":2}}`), "not in the recording"},
		{"the tools", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"read_page"`},
		{"anything else", `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, "-32601"},
	} {
		var out bytes.Buffer
		if err := Serve(strings.NewReader(c.frame+"\n"), &out, file); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v: %s", c.name, err, out.String())
		}
	}
	var out bytes.Buffer
	if err := Serve(strings.NewReader("{\n"), &out, file); err == nil {
		t.Error("a frame that is none was taken")
	}
}

// TestDifferences: whatever differs between two replays is said.
func TestDifferences(t *testing.T) {
	run := func(change func(*Run)) []Run {
		r := Run{Suite: "s", UserTask: "t", Injection: "i", Outcome: Blocked, Steps: []Step{{Made: true, Verdict: gate.Deny, Decision: gate.Decision{Contract: gate.SinkGate, Reason: "because"}}}}
		change(&r)
		return []Run{r}
	}
	here := run(func(*Run) {})
	for name, c := range map[string]struct {
		change func(*Run)
		same   bool
	}{
		"nothing":        {func(*Run) {}, true},
		"a masked text":  {func(r *Run) { r.Steps[0].Decision.Reason = "[masked: password, 8 characters]" }, true},
		"the verdict":    {func(r *Run) { r.Steps[0].Verdict = gate.Ask }, false},
		"the contract":   {func(r *Run) { r.Steps[0].Decision.Contract = gate.Content }, false},
		"the reason":     {func(r *Run) { r.Steps[0].Decision.Reason = "why not" }, false},
		"the answer":     {func(r *Run) { r.Steps[0].Refused = true }, false},
		"the outcome":    {func(r *Run) { r.Outcome = Silent }, false},
		"a call missing": {func(r *Run) { r.Steps = nil }, false},
		"another name":   {func(r *Run) { r.UserTask = "u" }, false},
	} {
		if _, differences := Differences(here, run(c.change)); (len(differences) == 0) != c.same {
			t.Errorf("%s: %q", name, differences)
		}
	}
	if _, differences := Differences(here, nil); len(differences) == 0 {
		t.Error("a session is missing, and nothing differs")
	}
}

// TestWireAndLog: what the client saw and what the log says must agree.
func TestWireAndLog(t *testing.T) {
	line := func(id, verdict string) audit.Entry {
		return audit.Entry{ID: id, Tool: "send_mail", Verdict: verdict, Contract: gate.SinkGate, Reason: "because"}
	}
	for _, c := range []struct {
		name     string
		log      []audit.Entry
		saw      []Step
		headless bool
		ok       bool
	}{
		{"a denial", []audit.Entry{line("a", "deny")}, []Step{{Verdict: gate.Deny}}, false, true},
		{"a yes", []audit.Entry{line("a", "ask"), line("a", "allow")}, []Step{{Verdict: gate.Ask}}, false, true},
		{"a no", []audit.Entry{line("a", "ask"), line("a", "deny")}, []Step{{Verdict: gate.Ask, Refused: true}}, false, true},
		{"nobody", []audit.Entry{line("a", "ask"), line("a", "deny")}, []Step{{Verdict: gate.Deny}}, true, true},
		{"a question that the client never saw", []audit.Entry{line("a", "ask"), line("a", "deny")}, []Step{{Verdict: gate.Deny}}, false, false},
		{"a denial that went through", []audit.Entry{line("a", "deny")}, []Step{{}}, false, false},
		{"a yes that was denied", []audit.Entry{line("a", "ask"), line("a", "allow")}, []Step{{Verdict: gate.Ask, Refused: true}}, false, false},
		{"a call too many", []audit.Entry{line("a", "deny"), line("b", "deny")}, []Step{{Verdict: gate.Deny}}, false, false},
		{"a call too few", []audit.Entry{line("a", "deny")}, []Step{{Verdict: gate.Deny}, {Verdict: gate.Deny}}, false, false},
	} {
		dir := t.TempDir()
		r := &remote{dir: dir, home: filepath.Join(dir, "home"), headless: c.headless}
		if err := os.Mkdir(filepath.Join(r.dir, "home"), 0o700); err != nil {
			t.Fatal(err)
		}
		log, err := audit.Open(filepath.Join(r.dir, "home", "audit.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.log {
			if err := log.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		for i := range c.saw {
			c.saw[i].Call.Function = "send_mail"
			r.made = append(r.made, &c.saw[i])
		}
		if err := r.readLog(); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestMain lets a test start this binary as a program that is no Bouncer.
func TestMain(m *testing.M) {
	switch os.Getenv(notBouncer) {
	case "":
		os.Exit(m.Run())
	case "dies":
		fmt.Fprintln(os.Stderr, "I die")
		os.Exit(7)
	case "babbles":
		fmt.Println("no message")
		os.Exit(0)
	}
}

const notBouncer = "BOUNCER_TEST_NOT_BOUNCER"

// TestProcessFails: a program that does not work ends the replay with what it said, and leaves nothing behind.
func TestProcessFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for how, want := range map[string]string{"dies": "bouncer said: I die", "babbles": "no message"} {
		t.Setenv(notBouncer, how)
		cfg := config(t, office, policy.Standard)
		cfg.Through = &Process{Bouncer: os.Args[0]}
		if _, err := Replay(cfg, suites(t, "testdata/mini")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v", how, err)
		}
	}
	cfg := config(t, office, policy.Standard)
	cfg.Through = &Process{Bouncer: filepath.Join(t.TempDir(), "none")}
	if _, err := Replay(cfg, suites(t, "testdata/mini")); err == nil {
		t.Error("a program that is not there replayed")
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "bouncer-replay-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
