package clientconfig

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// buildBouncer builds the real command, and skips where the tree does not build.
func buildBouncer(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "bouncer")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", exe, "./cmd/bouncer")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("bouncer does not build: %v\n%s", err, out)
	}
	return exe
}

// bouncer runs the real command without a terminal and returns its exit code and what it printed.
func bouncer(t *testing.T, exe, home string, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = append(os.Environ(), "BOUNCER_HOME="+home)
	detach(cmd)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// Invariant 7, B40: the server receives the argv that it would have had without Bouncer.
func TestArgvReachesTheServer(t *testing.T) {
	exe := buildBouncer(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argvs := map[string][]string{
		"none": {}, "spaces": {"a b", " "}, "quotes": {`"`, `'`, `\`, "`", `a"b c`}, "empty": {"", "", "x", ""},
		"dash": {"--", "--name", "x", "--", "-h", "--help"}, "unicode": {"日本", "é😀"}, "shell": {"$HOME", "${X:-y}", "*", ";", "a\nb", "%PATH%"},
		"-flag": {"run", "--config", "c"}, "--": {"--"}, "": {"unnamed"},
	}
	servers := map[string]any{}
	for name, argv := range argvs {
		servers[name] = map[string]any{"command": self, "args": argv}
	}
	text, err := json.MarshalIndent(map[string]any{"mcpServers": servers, "projects": map[string]any{"/p": map[string]any{"mcpServers": servers}}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	dir, home := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	writeFile(t, path, string(text))
	if code, out := bouncer(t, exe, home, "init", "--config", path, "--yes"); code != 0 {
		t.Fatalf("init: %d\n%s", code, out)
	}
	c, err := Plan(path, Options{Bouncer: exe})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Entries) != 2*len(argvs) {
		t.Fatalf("%d entries", len(c.Entries))
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		t.Run(e.Project+" "+e.Name, func(t *testing.T) {
			if e.State != Already || e.Reason != "" {
				t.Errorf("%s (%s)", e.State, e.Reason)
			}
			if diff := cmp.Diff(argvs[e.Name], launch(t, e.was, home)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// launch starts an entry as a client does and returns the arguments that the server got.
func launch(t *testing.T, entry []byte, home string) []string {
	t.Helper()
	v, err := hujson.Parse(entry)
	if err != nil {
		t.Fatal(err)
	}
	s, reason := readShape(v, form{key: "command"})
	if reason != "" {
		t.Fatal(reason)
	}
	got := filepath.Join(t.TempDir(), "argv")
	t.Setenv("CLIENTCONFIG_ROLE", "argv")
	t.Setenv("CLIENTCONFIG_OUT", got)
	_, out := bouncer(t, s.command, home, s.args...)
	argv := []string{}
	text, err := os.ReadFile(got)
	if err != nil {
		t.Fatalf("the server was not started: %v\n%s", err, out)
	}
	if err := json.Unmarshal(text, &argv); err != nil {
		t.Fatal(err)
	}
	return argv
}

func TestInitCommand(t *testing.T) {
	exe := buildBouncer(t)
	dir, home := t.TempDir(), filepath.Join(t.TempDir(), "home")
	good, bad := filepath.Join(dir, "good.json"), filepath.Join(dir, "bad.json")
	writeFile(t, good, simple)
	writeFile(t, bad, "{")
	tests := []struct {
		name string
		args []string
		code int
		says []string
	}{
		{"dry run", []string{"--config", good, "--dry-run"}, 0, []string{"wrapped", "+++", "--upstream-name"}},
		{"no terminal", []string{"--config", good}, 2, []string{"no terminal", "hint: --yes"}},
		{"refused", []string{"--config", bad, "--yes"}, 3, []string{"bad.json:1:2", "not valid JSON"}},
		{"refused in a dry run", []string{"--config", bad, "--dry-run"}, 3, []string{"not valid JSON"}},
		{"missing", []string{"--config", filepath.Join(dir, "none.json"), "--yes"}, 1, []string{"none.json"}},
		{"unknown client", []string{"--client", "cursr"}, 2, []string{"did you mean cursor"}},
		{"unknown server", []string{"--config", good, "--server", "zz", "--yes"}, 1, []string{`no file that was looked at has a server "zz"`}},
		{"unknown flag", []string{"--force"}, 2, []string{"--force"}},
		{"nothing to undo", []string{"--config", good, "--undo"}, 0, []string{"not wrapped"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out := bouncer(t, exe, home, append([]string{"init"}, tt.args...)...)
			if code != tt.code {
				t.Errorf("exit %d, want %d\n%s", code, tt.code, out)
			}
			for _, want := range tt.says {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not said in\n%s", want, out)
				}
			}
			if readFile(t, good) != simple || readFile(t, bad) != "{" {
				t.Error("a file was written")
			}
			if _, err := os.Lstat(home); err == nil {
				t.Error("the Bouncer home was made for nothing")
			}
		})
	}
}

// A client that starts the binary of a go run later would find nothing.
func TestTemporaryBinaryIsRefused(t *testing.T) {
	exe := buildBouncer(t)
	dir := filepath.Join(t.TempDir(), "go-build123", "b001", "exe")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	temporary := filepath.Join(dir, filepath.Base(exe))
	if err := os.Rename(exe, temporary); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mcp.json")
	writeFile(t, path, simple)
	code, out := bouncer(t, temporary, t.TempDir(), "init", "--config", path, "--yes")
	if code != 1 || !strings.Contains(out, "go install ./cmd/bouncer") || readFile(t, path) != simple {
		t.Errorf("exit %d\n%s", code, out)
	}
}
