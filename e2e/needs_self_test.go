package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadMode(t *testing.T) {
	tests := []struct {
		e2e, shared, ci string
		want            mode
		bad             bool
	}{
		{"", "", "", mode{}, false},
		{"", "", "true", mode{}, false}, // plain go test on a CI machine without npm
		{"0", "", "true", mode{}, false},
		{"1", "", "", mode{on: true}, false},
		{"1", "", "true", mode{on: true, needNode: true}, false},
		{"required", "", "", mode{on: true, needNode: true}, false},
		{"", "required", "", mode{needShared: true}, false},
		{"1", "required", "", mode{on: true, needShared: true}, false},
		{"true", "", "", mode{}, true},
		{"Required", "", "", mode{}, true},
		{"", "1", "", mode{}, true},
	}
	for _, tt := range tests {
		env := map[string]string{"BOUNCER_E2E": tt.e2e, "BOUNCER_SHARED": tt.shared, "CI": tt.ci}
		got, err := readMode(func(name string) string { return env[name] })
		if got != tt.want || (err != nil) != tt.bad {
			t.Errorf("%v: %+v, %v; want %+v, an error: %t", env, got, err, tt.want, tt.bad)
		}
	}
}

// outcome is a test that notes how it ended instead of ending the real one.
type outcome struct {
	testing.TB
	how string
}

func (o *outcome) Helper()                      {}
func (o *outcome) Skip(args ...any)             { o.end("skip: " + fmt.Sprint(args...)) }
func (o *outcome) Fatal(args ...any)            { o.end("fatal: " + fmt.Sprint(args...)) }
func (o *outcome) Fatalf(f string, args ...any) { o.end("fatal: " + fmt.Sprintf(f, args...)) }
func (o *outcome) end(how string)               { o.how = how; runtime.Goexit() }
func outcomeOf(t *testing.T, f func(testing.TB)) string {
	o := &outcome{TB: t, how: "went on"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(o)
	}()
	<-done
	return o.how
}

func TestAbsenceIsASkipOrAFailure(t *testing.T) {
	none := func(t testing.TB) { needShared(t, "no", "such", "file") }
	tool := func(t testing.TB) { needPackage(t, "no-such-package") }
	tests := []struct {
		name        string
		e2e, shared string
		noPath      bool
		do          func(testing.TB)
		want        string
	}{
		{"shared, may be absent", "", "", false, none, "skip: "},
		{"shared, required", "", "required", false, none, "fatal: required here"},
		{"e2e is off", "", "", false, tool, "skip: BOUNCER_E2E is not set"},
		{"node, may be absent", "1", "", true, tool, "skip: exec: "},
		{"node, required", "required", "", true, tool, "fatal: required here: exec: "},
		{"bad value", "yes", "", false, tool, "fatal: BOUNCER_E2E="},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("BOUNCER_E2E", tt.e2e)
			t.Setenv("BOUNCER_SHARED", tt.shared)
			t.Setenv("CI", "")
			if tt.noPath {
				t.Setenv("PATH", t.TempDir())
			}
			if got := outcomeOf(t, tt.do); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestPackageScript(t *testing.T) {
	const (
		pinned = `{"dependencies":{"@a/b":"1.2.3"}}`
		lock   = `{"lockfileVersion":3}`
		one    = `{"bin":{"b":"dist/index.js"}}`
	)
	tests := []struct {
		name, want, stamp, have string
		script                  bool
		bad                     string // "" for no error
		program                 string
	}{
		{"as pinned", pinned, pinned + lock, one, true, "", ""},
		{"other lock", pinned, pinned + `{}`, one, true, "another lock", ""},
		{"lock cut short", pinned, pinned, one, true, "another lock", ""},
		{"not installed", pinned, "", "", false, "not installed", ""},
		{"not pinned", `{}`, `{}` + lock, one, true, "not in e2e/package.json", ""},
		{"package gone", pinned, pinned + lock, "", false, filepath.Join("@a", "b", "package.json"), ""},
		{"script gone", pinned, pinned + lock, one, false, "index.js", ""},
		{"two programs", pinned, pinned + lock, `{"bin":{"b":"x","c":"y"}}`, true, "2 programs", ""},
		{"no program", pinned, pinned + lock, `{}`, true, "0 programs", ""},
		{"package.json cut short", pinned, pinned + lock, `{"bin":`, true, "unexpected end", ""},
		{"named, of two", pinned, pinned + lock, `{"bin":{"b":"dist/index.js","c":"y"}}`, true, "", "b"},
		{"named, and none of them", pinned, pinned + lock, one, true, "no program d", "d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			home := filepath.Join(dir, "node_modules", "@a", "b")
			write(t, filepath.Join(dir, "package.json"), tt.want)
			write(t, filepath.Join(dir, "package-lock.json"), lock)
			if tt.stamp != "" {
				write(t, filepath.Join(dir, "node_modules", ".bouncer-lock"), tt.stamp)
			}
			if tt.have != "" {
				write(t, filepath.Join(home, "package.json"), tt.have)
			}
			if tt.script {
				write(t, filepath.Join(home, "dist", "index.js"), "")
			}
			got, err := packageScript(dir, "@a/b", tt.program)
			if tt.bad == "" {
				if want := filepath.Join(home, "dist", "index.js"); got != want || err != nil {
					t.Errorf("%q, %v; want %q", got, err, want)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("%q, %v; want an error with %q", got, err, tt.bad)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestGoBuild(t *testing.T) {
	path := filepath.Join(t.TempDir(), exe("hello"))
	if err := goBuild(repoRoot(), path, "./e2e/testdata/hello"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path).Output(); err != nil || string(out) != "hello\n" {
		t.Errorf("hello says %q, %v", out, err)
	}
	err := goBuild(repoRoot(), path, "./e2e/testdata/broken")
	if err == nil || !strings.Contains(err.Error(), "undefinedHere") {
		t.Errorf("error is %v, want the compiler's", err)
	}
}

func TestBouncerBinary(t *testing.T) {
	s := newSandbox(t)
	cmd := exec.Command(bouncerBinary(t), "version")
	cmd.Dir, cmd.Env = s.work, s.env
	if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 {
		t.Errorf("bouncer version: %v\n%s", err, out)
	}
}
