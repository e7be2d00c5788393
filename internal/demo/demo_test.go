package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"time"
)

// As a child of these tests, the test binary plays a Bouncer that misbehaves.
func TestMain(m *testing.M) {
	switch os.Getenv("DEMO_TEST_CHILD") {
	case "":
		os.Exit(runTests(m))
	case "hang":
		select {}
	case "crash":
		os.Stderr.WriteString("bouncer: out of luck\x1b[2J\n")
		os.Exit(3)
	case "open": // no firewall at all: the mail server answers directly
		if err := ServeMail(os.Stdin, os.Stdout, os.Args[len(os.Args)-1]); err != nil {
			os.Exit(1)
		}
	}
	os.Exit(0)
}

// scratch holds the program that the tests build.
var scratch string

func runTests(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "bouncer-demo-test-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(scratch)
	return m.Run()
}

func child(t *testing.T, role string) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DEMO_TEST_CHILD", role)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp) // its name on Windows
	return Options{Self: self, Out: &bytes.Buffer{}}
}

func TestRunWithoutBouncer(t *testing.T) {
	t.Run("absent", func(t *testing.T) {
		opts := Options{Self: filepath.Join(t.TempDir(), "absent"), Out: &bytes.Buffer{}}
		if ok, err := Run(opts); ok || err == nil {
			t.Errorf("ok %v, error %v", ok, err)
		}
	})
	t.Run("crash", func(t *testing.T) {
		ok, err := Run(child(t, "crash"))
		if ok || err == nil || !strings.Contains(err.Error(), `stderr: bouncer: out of luck\u{1b}`) {
			t.Errorf("ok %v, error %v", ok, err)
		}
	})
	t.Run("no firewall", func(t *testing.T) { // nothing is logged, and that alone must not pass
		if ok, err := Run(child(t, "open")); ok || err == nil {
			t.Errorf("ok %v, error %v", ok, err)
		}
	})
}

func TestRunEndsInTime(t *testing.T) {
	opts := child(t, "hang")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	ok, err := run(ctx, opts, story())
	if ok || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ok %v, error %v", ok, err)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	write := func(s string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(s); err != nil {
			t.Fatal(err)
		}
	}
	log, err := newTail(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.next(); err == nil {
		t.Error("a log that is not there was read")
	}
	write(`{"tool": "old"}` + "\n")
	if log, err = newTail(path); err != nil {
		t.Fatal(err)
	}
	write(`{"tool": "a", "evidence": [{"seen_tool": "read_email"}]}` + "\n" + `{"tool": "b"}` + "\n")
	lines, err := log.next()
	if err != nil || len(lines) != 2 || lines[0].Tool != "a" || lines[0].Evidence[0].Tool != "read_email" || lines[1].raw != `{"tool": "b"}` {
		t.Errorf("lines %+v, error %v", lines, err)
	}
	if lines, err := log.next(); err != nil || len(lines) > 0 {
		t.Errorf("lines %+v, error %v, want none", lines, err)
	}
	for _, bad := range []string{"{\"tool\": \"c\"}", "\n[1]\n", "not json\n"} {
		write(bad)
		if lines, err := log.next(); err == nil {
			t.Errorf("%q was read as %+v", bad, lines)
		}
	}
}

// variable is what may differ between two runs, in the order that it is replaced in.
var variable = regexp.MustCompile(`"id": "[^"]*"|"time": "[^"]*"|"session": "[^"]*"|"seen_call": "[^"]*"|"latency_us": \d+|"writer": "[^"]*"|"prev": "[^"]*"|"opened": "(?:[^"\\]|\\.)*"|"after": \{[^}]*\}|"at": \d+|"seq": \d+`)

// The real thing: the demo through the real program.
func TestDemo(t *testing.T) {
	self := buildBouncer(t)
	var texts []string
	for range 2 {
		var out bytes.Buffer
		home := t.TempDir()
		ok, err := Run(Options{Self: self, Out: &out, Home: home})
		if !ok || err != nil {
			t.Fatalf("ok %v, error %v\n%s", ok, err, out.String())
		}
		log, err := os.ReadFile(filepath.Join(home, "audit.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var verdicts strings.Builder
		for raw := range bytes.Lines(log) {
			if audit.IsEntry(raw) {
				verdicts.Write(raw)
			}
		}
		if verdicts.Len() == 0 || !strings.Contains(out.String(), verdicts.String()) {
			t.Errorf("the audit log is not printed as it stands:\n%s\nprinted:\n%s", log, out.String())
		}
		texts = append(texts, variable.ReplaceAllString(out.String(), "X"))
	}
	if texts[0] != texts[1] {
		t.Errorf("two runs print different things:\n%s\n%s", texts[0], texts[1])
	}
	t.Logf("\n%s", texts[0])
}

// A story that expects something else must fail on the real program, too.
func TestDemoCanFail(t *testing.T) {
	self := buildBouncer(t)
	for name, change := range map[string]func([]step){
		"a refusal that is expected to pass": func(s []step) { s[5].want, s[5].sends = []verdict{allow("")}, true },
		"another person":                     func(s []step) { s[6].answer = no },
		"other evidence":                     func(s []step) { s[5].seen = &place{"mail", "list_inbox", "content[0].text"} },
	} {
		t.Run(name, func(t *testing.T) {
			steps := story()
			change(steps)
			var out bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			if ok, err := run(ctx, Options{Self: self, Out: &out}, steps); ok || err != nil {
				t.Errorf("ok %v, error %v\n%s", ok, err, out.String())
			}
			if !strings.Contains(out.String(), "NOT AS EXPECTED") {
				t.Errorf("printed:\n%s", out.String())
			}
		})
	}
}

// build builds the real program, once.
var build = sync.OnceValues(func() (string, error) {
	self := filepath.Join(scratch, "bouncer")
	if runtime.GOOS == "windows" {
		self += ".exe"
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", self, "./cmd/bouncer")
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build cmd/bouncer: %w\n%s", err, text)
	}
	return self, nil
})

var root = filepath.Join("..", "..")

// buildBouncer returns the path of the real program. While that does not build, the test is skipped, but where end to
// end tests are required.
func buildBouncer(t *testing.T) string {
	t.Helper()
	noteSources(t)
	self, err := build()
	switch {
	case err != nil && os.Getenv("BOUNCER_E2E") == "required":
		t.Fatal(err)
	case err != nil:
		t.Skip(err)
	}
	return self
}

// noteSources looks at every source file, so that go test's cache knows that this test depends on them: another process
// compiles them.
func noteSources(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				_, err = os.Stat(path)
			}
			if errors.Is(err, fs.ErrNotExist) { // an editor's temporary file
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
