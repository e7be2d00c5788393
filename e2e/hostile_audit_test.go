package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const unloggedReason = "[bouncer blocked] the verdict could not be written to the audit log"

// readUntilDenied calls the reading tool until it is denied, and wants that to be for the log's sake. What was answered
// before is returned.
func (h *hostile) readUntilDenied(most int) (passed int) {
	h.t.Helper()
	for range most {
		got := textOf(h.t, h.call("read", map[string]any{"n": 1}))
		if got.IsError {
			if !strings.HasPrefix(got.Text, unloggedReason) {
				h.t.Errorf("denied for another reason: %+v", got)
			}
			return passed
		}
		passed++
	}
	h.t.Fatalf("%d calls passed, though none of them can be logged", most)
	return 0
}

// The log's directory vanishes and comes back (B50). Meanwhile nothing passes, tools that only read included, and
// afterwards everything does again; every call that reached the server is in the log.
func TestLogVanishes(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain", "--session", "memory").open(nil) // the session's store, which vanishes too, would have its own say
	h.works()
	away := h.s.bouncer + ".away"
	if err := os.Rename(h.s.bouncer, away); err != nil {
		t.Fatal(err)
	}
	write(t, h.s.bouncer, "in the way, so that it cannot be made anew")
	passed := h.readUntilDenied(100_000) // the path is looked up a few times a second; until then the moved file grows
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"do", map[string]any{}, unloggedReason},
		{"read", map[string]any{"n": 2}, unloggedReason},
		{"send", map[string]any{"to": "ok@team.example"}, "approvals.yaml of the Bouncer home cannot be read"}, // nor can who was refused for ever
	} {
		if got := textOf(t, h.call(c.tool, c.args)); !strings.Contains(got.Text, c.want) || !got.IsError {
			t.Errorf("%s answers %+v", c.tool, got)
		}
	}
	if got := textOf(t, h.call("write", map[string]any{"path": "/etc/x"})); !got.IsError {
		t.Errorf("a call that is denied anyway answers %+v", got)
	}
	if got := len(h.reached()); got != 1+passed {
		t.Errorf("%d calls reached the server, want %d", got, 1+passed)
	}
	if err := os.Remove(h.s.bouncer); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, h.s.bouncer); err != nil {
		t.Fatal(err)
	}
	h.works()
	h.closes(0)
	if !strings.Contains(h.stderr(), "audit.jsonl") {
		t.Errorf("the user is not told:\n%s", h.stderr())
	}
	if log := h.log(); len(log) != 2+passed {
		t.Errorf("%d verdicts are logged, want those of the %d calls that passed", len(log), 2+passed)
	}
}

// The log is moved away or removed under a running Bouncer: what follows is logged where it is looked for.
func TestLogIsMovedAway(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain", "--session", "memory").open(nil)
	h.works()
	path := filepath.Join(h.s.bouncer, "audit.jsonl")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Skip(err) // Windows does not move what is open
	}
	h.works()
	if err := os.RemoveAll(h.s.bouncer); err != nil {
		t.Fatal(err)
	}
	h.works()
	h.closes(0)
	if log := h.log(); len(log) != 1 {
		t.Errorf("the log in the new directory has %d verdicts, want 1: %v", len(log), log)
	}
}

// Two Bouncers write one file under load: no line is lost, none is torn, no id is there twice (B50).
func TestTwoBouncersShareLog(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	const each = 2000
	var both []*hostile
	for i := range 2 {
		mine := s
		mine.work = filepath.Join(s.work, fmt.Sprint(i))
		if err := os.Mkdir(mine.work, 0o700); err != nil {
			t.Fatal(err)
		}
		both = append(both, wrapIn(t, mine, bouncerBinary(t), "plain"))
	}
	lines, reach := pipelineCalls(each)
	for _, h := range both {
		h.open(nil).works()
	}
	for i := 0; i < each; i += 100 {
		for _, h := range both {
			h.sendAll(lines[i : i+100])
		}
	}
	for _, h := range both {
		h.awaitAnswers(each + 2)
		h.closes(0)
		if got := len(h.reached()); got != len(reach)+1 {
			t.Errorf("%d calls reached a server, want %d", got, len(reach)+1)
		}
	}
	ids := map[string]bool{}
	log, torn := logLines(t, filepath.Join(s.bouncer, "audit.jsonl"))
	for _, v := range log {
		if ids[v.ID] {
			t.Errorf("id %q is in the log twice", v.ID)
		}
		ids[v.ID] = true
	}
	if want := 2 * (each + 1); len(log) != want {
		t.Errorf("%d verdicts in the log, want %d", len(log), want)
	}
	if torn > 0 {
		t.Errorf("%d torn lines in the log", torn)
	}
	// On a busy machine a write can be seen half done for longer than anybody waits; that leaves an empty line and no more.
	if n := blankLines(t, filepath.Join(s.bouncer, "audit.jsonl")); n > 3 {
		t.Errorf("%d blank lines: writers take each other's writes in progress for torn lines", n)
	}
	if out := runIn(t, s, bouncerBinary(t), "audit", "verify", filepath.Join(s.bouncer, "audit.jsonl")); out == "" {
		t.Error("audit verify says nothing")
	}
}

func blankLines(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count("\n"+string(data), "\n\n")
}
