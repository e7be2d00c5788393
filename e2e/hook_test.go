package e2e

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const localCall = `{"session_id":"c","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u"}`

// TestHookBlocks: whatever goes wrong in the hook's process ends it with 2 and one sentence, and the client then blocks.
func TestHookBlocks(t *testing.T) {
	t.Parallel()
	needE2E(t)
	bouncer := bouncerBinary(t)
	tests := map[string]struct {
		in    string
		spoil func(s *sandbox)
		argv  []string
		code  int
	}{
		"a command that stays here":  {in: localCall},
		"nothing":                    {code: 2},
		"garbage":                    {in: "x", code: 2},
		"another client":             {in: localCall, argv: []string{"emacs"}, code: 2},
		"a flag that there is not":   {in: localCall, argv: []string{"claude-code", "--allow"}, code: 2},
		"a home that was moved":      {in: localCall, argv: []string{"claude-code", "--home", "/elsewhere"}, code: 2},
		"a policy that is not there": {in: localCall, argv: []string{"claude-code", "--policy", "/none.yaml"}, code: 2},
		"a policy that is broken": {in: localCall, code: 2, spoil: func(s *sandbox) {
			write(t, filepath.Join(s.bouncer, "policy.yaml"), "a: [")
		}},
		"a home that is a file": {in: localCall, code: 2, spoil: func(s *sandbox) {
			file := filepath.Join(s.work, "file")
			write(t, file, "")
			*s = s.with("BOUNCER_HOME=" + file)
		}},
		"a log that is a directory": {in: strings.Replace(localCall, "ls", "curl https://x.example", 1), code: 2, spoil: func(s *sandbox) {
			if err := os.Mkdir(filepath.Join(s.bouncer, "audit.jsonl"), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for name, tt := range tests {
		s := newSandbox(t)
		if err := os.Mkdir(s.bouncer, 0o700); err != nil {
			t.Fatal(err)
		}
		if tt.spoil != nil {
			tt.spoil(&s)
		}
		argv := tt.argv
		if argv == nil {
			argv = []string{"claude-code"}
		}
		out, said, code := runHook(t, s, strings.NewReader(tt.in), append([]string{bouncer, "hook"}, argv...)...)
		if code != tt.code || out != "" || (code != 0) != strings.HasPrefix(said, "bouncer: ") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, code, out, said)
		}
	}
}

// TestHookGivesUp: an event that never ends does not hold the client up for ever, and blocks.
func TestHookGivesUp(t *testing.T) {
	t.Parallel()
	needE2E(t)
	s := newSandbox(t)
	r, w := pipe(t)
	defer w.Close()
	out, said, code := runHook(t, s, r, bouncerBinary(t), "hook", "claude-code")
	if code != 2 || out != "" || !strings.Contains(said, "took longer") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, said)
	}
}

func runHook(t *testing.T, s sandbox, in io.Reader, argv ...string) (out, said string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.work, s.env, in, &stdout, &stderr
	cmd.Run() // its exit code says it
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}
