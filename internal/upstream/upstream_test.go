package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cancelled is a context with no patience left.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func startReport(t *testing.T, change func(*Spec)) report {
	t.Helper()
	p := start(t, "report", io.Discard, change)
	var r report
	if err := json.NewDecoder(p.Stdout()).Decode(&r); err != nil {
		t.Fatal(err)
	}
	await(t, p.Done(), "exit")
	return r
}

// A83, B40: the server's argv is the configured one, byte for byte.
func TestArgvIsExact(t *testing.T) {
	args := []string{
		"", " ", "a b", `"`, `'`, `a"b'c`, "line\nbreak", "\r\n", "tab\t", `back\slash\`, "$HOME", "${HOME}", "$(calc)",
		"`calc`", "%PATH%", "~", "*", "a;b|c&d>e<f", "--", "-", "Authorization:", "ünï→😀", "\xff\xfe", "",
	}
	if os.PathSeparator == '\\' {
		args = slices.DeleteFunc(args, func(s string) bool { return s == "\xff\xfe" }) // not UTF-16
	}
	want := args
	got := startReport(t, func(s *Spec) { s.Args = args })
	if got.Args[0] != self(t) {
		t.Errorf("argv[0] = %q", got.Args[0])
	}
	if os.PathSeparator != '\\' { // JSON cannot carry the invalid bytes
		i := slices.Index(args, "\xff\xfe")
		want = slices.Clone(args)
		want[i] = "\ufffd\ufffd"
	}
	if diff := cmp.Diff(want, got.Args[1:]); diff != "" {
		t.Error(diff)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("BOUNCER_UPSTREAM_INHERITED", "yes")
	t.Setenv(roleVar, "report")
	inherited := startReport(t, func(s *Spec) { s.Env = nil })
	if !slices.Contains(inherited.Env, "BOUNCER_UPSTREAM_INHERITED=yes") {
		t.Error("nil Env does not inherit")
	}
	own := []string{roleVar + "=report", "GORACE=atexit_sleep_ms=0", "ONLY=a=b c\n"}
	given := startReport(t, func(s *Spec) { s.Env = own })
	given.Env = slices.DeleteFunc(given.Env, func(s string) bool { return strings.HasPrefix(s, "SYSTEMROOT=") })
	slices.Sort(own)
	slices.Sort(given.Env)
	if diff := cmp.Diff(own, given.Env); diff != "" {
		t.Error(diff)
	}
}

// B37: Bouncer's working directory is the server's, unless the entry says otherwise.
func TestWorkingDirectory(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := startReport(t, nil); got.Dir != here {
		t.Errorf("inherited %q, want %q", got.Dir, here)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := startReport(t, func(s *Spec) { s.Dir = dir }); got.Dir != dir {
		t.Errorf("got %q, want %q", got.Dir, dir)
	}
	if now, _ := os.Getwd(); now != here {
		t.Errorf("Bouncer itself went to %q", now)
	}
}

func TestEcho(t *testing.T) {
	p := start(t, "echo", io.Discard, nil)
	want := strings.Repeat("0123456789abcde\n", 1<<16) // 1 MB: many times what the pipe holds
	go func() {
		_, _ = io.WriteString(p.Stdin(), want)
		_ = p.Stdin().Close()
	}()
	got, err := io.ReadAll(p.Stdout())
	if err != nil || string(got) != want {
		t.Fatalf("got %d bytes of %d, %v", len(got), len(want), err)
	}
	await(t, p.Done(), "exit")
	if p.ExitError() != nil || p.ExitCode() != 0 {
		t.Errorf("exit: %v, %d", p.ExitError(), p.ExitCode())
	}
}

// B34: a server that dies at once is reported as that.
func TestExitCode(t *testing.T) {
	p := start(t, "exit3", io.Discard, nil)
	await(t, p.Done(), "exit")
	var exit *exec.ExitError
	if p.ExitCode() != 3 || !errors.As(p.ExitError(), &exit) {
		t.Errorf("exit: %v, %d", p.ExitError(), p.ExitCode())
	}
	if rest, err := io.ReadAll(p.Stdout()); len(rest) != 0 || err != nil {
		t.Errorf("stdout: %q, %v", rest, err)
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Errorf("stop after exit: %v", err)
	}
	if _, err := p.Stdin().Write([]byte("x")); err == nil {
		t.Error("a write to a dead server succeeds")
	}
}

func TestRunningHasNoExit(t *testing.T) {
	p := start(t, "idle", io.Discard, nil)
	if p.ExitError() != nil || p.ExitCode() != -1 {
		t.Errorf("while running: %v, %d", p.ExitError(), p.ExitCode())
	}
}

// B46: a server that closes its stdout but lives is an EOF without Done.
func TestStdoutClosedEarly(t *testing.T) {
	p := start(t, "mute", io.Discard, nil)
	if rest, err := io.ReadAll(p.Stdout()); len(rest) != 0 || err != nil {
		t.Errorf("stdout: %q, %v", rest, err)
	}
	select {
	case <-p.Done():
		t.Error("exited")
	default:
	}
	if err := p.Stop(context.Background()); err != nil || p.ExitCode() != 0 {
		t.Errorf("stop: %v, exit %d", err, p.ExitCode())
	}
}

// B47: what goes wrong at the start is told without the values of arguments and environment.
func TestStartErrorsNameNoValues(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script.exe")
	if err := os.WriteFile(script, []byte("#!/does/not/exist\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	garbage := filepath.Join(dir, "garbage.exe")
	if err := os.WriteFile(garbage, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]Spec{
		"missing":             {Command: "bouncer-no-such-command"},
		"interpreter missing": {Command: script},
		"not a program":       {Command: garbage},
		"directory missing":   {Command: self(t), Dir: filepath.Join(dir, "none")},
		"directory is a file": {Command: self(t), Dir: script},
		"NUL in argument":     {Command: self(t), Args: []string{"sk-secret\x00"}},
		"NUL in environment":  {Command: self(t), Env: []string{"TOKEN=sk-secret\x00"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec.Args = append(spec.Args, "-e", "TOKEN=sk-secret")
			if spec.Env == nil {
				spec.Env = roleEnv("idle", "TOKEN=sk-secret")
			}
			p, err := Start(spec, io.Discard)
			if err == nil {
				stopNow(t, p)
				t.Fatal("started")
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("secret in %q", err)
			}
			if !strings.Contains(err.Error(), "start ") && !strings.Contains(err.Error(), "not found") {
				t.Errorf("unclear: %q", err)
			}
		})
	}
}
