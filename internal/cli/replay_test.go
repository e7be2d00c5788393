package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/audit"
)

// asBouncer makes the test binary the program itself: --through-process starts it again.
const asBouncer = "BOUNCER_TEST_AS_BOUNCER"

func TestMain(m *testing.M) {
	if os.Getenv(asBouncer) != "" {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

const (
	recordings   = "../replay/testdata/mini"
	officePolicy = `
version: 1
tools:
  send_mail: {sinks: [{args: [to], kind: email}], content: [body]}
  delete_note: {consequence: {named: [id]}}
  list_payees: {results: [{path: account, label: directory, kind: account}]}
  pay: {sinks: [{args: [account], kind: account}]}
`
)

// bouncer runs a command line and returns what it printed and its exit code.
func bouncer(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	err := root.Execute()
	code := exitDone
	if err != nil {
		code = exitUsage
		if coded, ok := err.(*exitError); ok {
			code = coded.code
		}
		out.WriteString(err.Error())
	}
	return out.String(), code
}

func writeTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReplayTable(t *testing.T) {
	rules := writeTemp(t, "policy.yaml", officePolicy)
	out, code := bouncer(t, "replay", "agentdojo", recordings, "--policy", rules, "--list")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, out)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(out) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"profile standard, prompt known",
		"bank 2/2 2 0 0/0 0 0 0 0 0 0",
		"office 3/4 2 1 0/1 6 3 2 1 3 6",
		"total 5/6 4 1 0/1 6 3 2 1 3 6",
		"honest tasks lost, attended, in per cent 16.7 10 FAIL",
		"questions for the median honest task 0 3 pass",
		"office/read silent no contract objected t0",
	} {
		if !lines[want] {
			t.Errorf("no line %q in\n%s", want, out)
		}
	}
}

func TestReplayJSON(t *testing.T) {
	rules := writeTemp(t, "policy.yaml", officePolicy)
	out, code := bouncer(t, "replay", "agentdojo", recordings, "--policy", rules, "--json", "--headless")
	var got replayReport
	if err := json.Unmarshal([]byte(out), &got); code != exitDone || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	if got.Version != 1 || got.Kind != "agentdojo" || !got.Headless || !got.Prompt || len(got.Suites) != 2 || got.Total.Silent != 1 || got.Total.BenignOK != 4 ||
		len(got.Open) != 1 || got.Open[0].Name != "office/t0/read" || got.Open[0].Outcome != "silent" || len(got.Honest) != 2 {
		t.Errorf("report %+v", got)
	}
	for _, key := range []string{"benign_ok", "benign_total", "no_ask", "asks", "asks_median", "asks_max", "attacks", "blocked", "asked", "silent", "approve_all", "user_ok_under_attack"} {
		if !strings.Contains(out, `"`+key+`":`) {
			t.Errorf("no key %q", key)
		}
	}
}

// TestReplayMarkdown: what an attack wrote stays inside its cell, as quoted text.
func TestReplayMarkdown(t *testing.T) {
	var out bytes.Buffer
	p := page{w: &out, markdown: true}
	x := table{head: []string{"injection", quotedColumn, "in"}}
	x.add("s/i", "a | `b` <i> https://evil.example", "t")
	p.table(x)
	want := "\n| injection | because | in |\n| --- | ---: | ---: |\n| s/i | `a \\| 'b' <i> https://evil.example` | t |\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestReplayExplain(t *testing.T) {
	rules := writeTemp(t, "policy.yaml", officePolicy)
	out, code := bouncer(t, "replay", "agentdojo", recordings, "--policy", rules, "--explain", "office/t0/both")
	for _, want := range []string{"1 user read_page", "2 injection send_mail", "deny [sink_gate]", "to=eve@evil.example is untrusted, seen in read_page", "3 injection delete_note", "ask [consequence]", "blocked send_mail"} {
		if !strings.Contains(out, want) {
			t.Errorf("exit %d, no %q in\n%s", code, want, out)
		}
	}
	out, code = bouncer(t, "replay", "agentdojo", recordings, "--policy", rules, "--explain", "office/t2", "--headless")
	if code != exitDone || !strings.Contains(out, "denied: nobody to ask") || !strings.HasSuffix(out, "refused\n") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestReplayRefuses(t *testing.T) {
	log := writeTemp(t, "audit.jsonl", "")
	for _, c := range []struct {
		code int
		args []string
	}{
		{exitUsage, []string{"agentdojo"}},
		{exitUsage, []string{"agentdogo", recordings}},
		{exitUsage, []string{"agentdojo", recordings, "--json", "--markdown"}},
		{exitUsage, []string{"agentdojo", recordings, "--profile", "lax"}},
		{exitUsage, []string{"agentdojo", recordings, "--profile", "all", "--list"}},
		{exitUsage, []string{"agentdojo", recordings, "--suite", "none"}},
		{exitUsage, []string{"agentdojo", recordings, "--explain", "office/t9"}},
		{exitUsage, []string{"log", log, "--headless"}},
		{exitFailed, []string{"agentdojo", t.TempDir()}},
		{exitFailed, []string{"injecagent", t.TempDir()}},
		{exitFailed, []string{"log", filepath.Join(t.TempDir(), "none")}},
		{exitInvalid, []string{"agentdojo", recordings, "--policy", writeTemp(t, "p.yaml", "version: 1\ntool: {}\n")}},
	} {
		if out, code := bouncer(t, append([]string{"replay"}, c.args...)...); code != c.code {
			t.Errorf("%v: exit %d, want %d: %s", c.args, code, c.code, out)
		}
	}
}

// TestReplayThroughProcess: the real program, over stdio, comes to the verdicts that this process comes to, and what it
// asks is answered on the way.
func TestReplayThroughProcess(t *testing.T) {
	t.Setenv(asBouncer, "1")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each of a hundred processes
	rules := writeTemp(t, "policy.yaml", officePolicy)
	for _, mode := range [][]string{nil, {"--headless"}, {"--no-prompt"}, {"--profile", "strict"}, {"--split"}} {
		out, code := bouncer(t, append([]string{"replay", "agentdojo", recordings, "--policy", rules, "--through-process"}, mode...)...)
		if want := "6 honest tasks and 6 attacks, 25 calls: 0 verdicts differ"; code != exitDone || !strings.HasPrefix(out, want) {
			t.Errorf("%v: exit %d: %s", mode, code, out)
		}
	}
}

func TestReplayLogTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for id, verdict := range map[string]string{"a": "allow", "b": "ask"} {
		if err := log.Append(audit.Entry{ID: id, Server: "office", Tool: "send_mail", Verdict: verdict, Args: []byte(`{"to":"x@random.example","body":"` + id + `"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	rules := writeTemp(t, "policy.yaml", officePolicy)
	out, code := bouncer(t, "replay", "log", path, "--policy", rules, "--list")
	fields := strings.Join(strings.Fields(out), " ")
	if code != exitDone || !strings.Contains(fields, "allow ask 1 ask ask 1") || !strings.Contains(fields, "a office/send_mail allow ask destination to='x@random.example'") {
		t.Errorf("exit %d: %s", code, out)
	}
	out, _ = bouncer(t, "replay", "log", path, "--policy", rules, "--json")
	var got struct {
		Version int
		Calls   []loggedCall
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Version != 1 || len(got.Calls) != 2 {
		t.Errorf("%v: %s", err, out)
	}
}
