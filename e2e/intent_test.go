//go:build unix

package e2e

import (
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// answersAtTerminal runs a program at a terminal, answers its question, and returns what it said and its exit code.
func answersAtTerminal(t *testing.T, s sandbox, answer string, argv ...string) (said string, code int) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.work, s.env
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	defer time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }).Stop()
	if _, err := io.WriteString(tty, answer); err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(tty) // ends with an error when the other side is gone
	cmd.Wait()
	return string(text), cmd.ProcessState.ExitCode()
}

// TestIntent: what a person says at a terminal counts in the session that runs, and nobody else can say it.
func TestIntent(t *testing.T) {
	t.Parallel()
	needE2E(t)
	s, bouncer := newSandbox(t), bouncerBinary(t)
	words := "Mail the payroll to bob@corp.example."
	if said, code := answersAtTerminal(t, s, "y\n", bouncer, "intent", words); code != 1 || !strings.Contains(said, "no session runs") {
		t.Errorf("without a session: exit %d, %s", code, said)
	}
	mail := sdkClient(t, s, "mail", bouncer, "demo-server", s.work)
	args := map[string]any{"to": []string{"bob@corp.example"}, "cc": []string{}, "subject": "Payroll", "body": "Three employees."}
	blocked := func(when string, want bool) {
		t.Helper()
		if got := sdkCall(t, mail, "send_email", args); got.IsError != want {
			t.Errorf("%s: %+v", when, got)
		}
	}
	blocked("before anything was said", true)

	cmd := exec.Command(bouncer, "intent", words)
	cmd.Dir, cmd.Env, cmd.Stdin = s.work, s.env, strings.NewReader("y\n")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "a person at a terminal") {
		t.Errorf("from a pipe: %v\n%s", err, out)
	}
	if said, code := answersAtTerminal(t, s, "n\n", bouncer, "intent", words); code != 1 {
		t.Errorf("after a no: exit %d, %s", code, said)
	}
	if said, code := answersAtTerminal(t, s, "y\n", bouncer, "intent", "--session", "p0", words); code != 2 || !strings.Contains(said, "--session p") {
		t.Errorf("for another session: exit %d, %s", code, said)
	}
	if said, code := answersAtTerminal(t, s, "y\n", bouncer, "intent", " "); code != 2 {
		t.Errorf("without words: exit %d, %s", code, said)
	}
	blocked("after what was not said", true)

	if said, code := answersAtTerminal(t, s, "y\n", bouncer, "intent", words); code != 0 || !strings.Contains(said, words) {
		t.Errorf("at a terminal: exit %d, %s", code, said)
	}
	blocked("after it was said", false)
}
