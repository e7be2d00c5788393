package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refusesToStart runs Bouncer in front of a server that notes its start, and wants it to end with this code and with all
// of these in its error, without having started the server or said a word to the client.
func refusesToStart(t *testing.T, s sandbox, code int, says ...string) {
	t.Helper()
	refusesRun(t, s, code, runCommand(t, s, bouncerBinary(t)), says...)
}

func refusesRun(t *testing.T, s sandbox, code int, argv []string, says ...string) {
	t.Helper()
	c := start(t, s.with(stubMode+"="+scriptedMode+"plain", quickExit, "BOUNCER_HOME="+s.bouncer), argv...)
	h := &hostile{c, t, s}
	h.ends(code, "bouncer: ")
	for _, text := range says {
		if !strings.Contains(h.stderr(), text) {
			t.Errorf("stderr does not say %q:\n%s", text, h.stderr())
		}
	}
	if strings.Contains(h.stderr(), "goroutine ") {
		t.Errorf("a stack trace:\n%s", h.stderr())
	}
	if frames := h.in.all(); len(frames) > 0 {
		t.Errorf("said to the client: %v", frames)
	}
	if started := pids(t, s); len(started) > 0 {
		t.Errorf("the server was started: %v", started)
	}
}

// A policy that cannot be read as it was meant stops the start, before anything of the server's has run.
func TestBrokenPolicyStartsNothing(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no yaml":          "send: [",
		"a list":           "- send\n",
		"an unknown key":   "send: {exfiltrates: true}\n",
		"a wrong type":     "send: {max_calls: many}\n",
		"a bad pattern":    "send: {arg_patterns: {to: \"(\"}}\n",
		"twice":            "send: {max_calls: 1}\nsend: {max_calls: 2}\n",
		"two documents":    "send: {max_calls: 1}\n---\nsend: {max_calls: 2}\n",
		"no utf-8":         "send: {max_calls: 1} # \xff\xfe\n",
		"binary":           strings.Repeat("\x00", 100),
		"a future version": "version: 99\n",
		"an alias bomb":    "a: &a {max_calls: 1}\nb: *a\n",
		"a negative":       "send: {max_calls: -1}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			argv := runCommand(t, s, bouncerBinary(t))
			policy := filepath.Join(s.home, "policy.yaml")
			write(t, policy, text)
			refusesRun(t, s, 3, argv, policy)
			if _, err := os.Stat(filepath.Join(s.bouncer, "audit.jsonl")); err == nil {
				t.Error("a log was begun")
			}
		})
	}
	for name, make := range map[string]func(path string) error{
		"absent":      func(string) error { return nil },
		"a directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"a dead link": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			argv := runCommand(t, s, bouncerBinary(t))
			policy := filepath.Join(s.home, "policy.yaml")
			if err := os.Remove(policy); err != nil {
				t.Fatal(err)
			}
			if err := make(policy); err != nil {
				t.Skip(err)
			}
			refusesRun(t, s, 3, argv, policy)
		})
	}
}

// The global policy counts as much as one that was named: one that is there and broken is not passed over.
func TestBrokenGlobalPolicyStartsNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	if err := os.Mkdir(s.bouncer, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.bouncer, "policy.yaml"), "send: [")
	refusesRun(t, s, 3, []string{bouncerBinary(t), "run", "--name", "x", "--", os.Args[0]}, "policy.yaml")
}

// B34, B35: the message names the command and the PATH that was searched.
func TestMissingCommand(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	path := os.Getenv("PATH")
	refusesRun(t, s, 1, []string{bouncerBinary(t), "run", "--name", "x", "--", "no-such-mcp-server"}, `"no-such-mcp-server"`, path)
	refusesRun(t, s, 1, []string{bouncerBinary(t), "run", "--name", "x", "--", filepath.Join(s.work, "gone")}, filepath.Join(s.work, "gone"))
	script := filepath.Join(s.work, "script")
	write(t, script, "#!/no/such/interpreter\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	refusesRun(t, s, 1, []string{bouncerBinary(t), "run", "--name", "x", "--", script}, script)
}

// A home that cannot be made, or is none, is a start that is refused: a Bouncer without a log does not run.
func TestHomeThatIsNone(t *testing.T) {
	t.Parallel()
	t.Run("a file", func(t *testing.T) {
		t.Parallel()
		s := newSandbox(t)
		write(t, s.bouncer, "not a directory")
		refusesToStart(t, s, 1, s.bouncer)
	})
	t.Run("below a file", func(t *testing.T) {
		t.Parallel()
		s := newSandbox(t)
		write(t, s.bouncer, "not a directory")
		s.bouncer = filepath.Join(s.bouncer, "deeper")
		refusesToStart(t, s, 1, filepath.Dir(s.bouncer))
	})
	t.Run("the log is a directory", func(t *testing.T) {
		t.Parallel()
		s := newSandbox(t)
		if err := os.MkdirAll(filepath.Join(s.bouncer, "audit.jsonl"), 0o700); err != nil {
			t.Fatal(err)
		}
		refusesToStart(t, s, 1, "audit.jsonl")
	})
}
