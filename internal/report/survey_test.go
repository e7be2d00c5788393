package report

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-bouncer/bouncer/internal/clientconfig"
)

// TestSurvey: an entry is called wrapped only if it is, and no secret of a config file comes along.
func TestSurvey(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put(".cursor/mcp.json", `{"mcpServers": {
		"wrapped": {"command": "/opt/bouncer", "args": ["run", "--name", "wrapped", "--policy", "/p.yaml", "--otlp", "http://x/s3cret", "--", "npx", "-y", "resend-mcp"],
			"x-bouncer-upstream": {"command": "npx", "args": ["-y", "resend-mcp"], "env": {"KEY": "s3cret"}}},
		"plain": {"command": "npx", "args": ["-y", "git+https://u:s3cret@host/x"], "env": {"KEY": "s3cret"}, "autoApprove": ["read"]},
		"oneline": {"command": "server --token s3cret"},
		"remote": {"url": "https://x/?key=s3cret", "headers": {"A": "s3cret"}},
		"planted": {"command": "evil s3cret", "x-bouncer-upstream": {"command": "x"}},
		"inside": {"command": "./bouncer", "args": ["run", "--name", "inside", "--", "x"]},
		"empty": {"command": "/opt/bouncer", "args": ["run", "--name", "empty"]},
		"odd": {"command": "x", "type": "s3cret"}}}`)
	put(".claude.json", `{"mcpServers": {"a": s3cret}}`)
	env := clientconfig.Env{GOOS: "linux", Home: dir, Dir: dir, Getenv: func(string) string { return "" }}
	all := Survey(env, "/opt/bouncer")
	got := map[string]Protection{}
	identity := []string(nil)
	for _, c := range all {
		if c.Problem != "" {
			got[filepath.Base(c.Path)] = "problem"
		}
		for _, s := range c.Servers {
			got[s.Name] = s.Protection
			if s.Name == "wrapped" {
				identity = s.Identity
			}
		}
	}
	want := map[string]Protection{".claude.json": "problem", "wrapped": Wrapped, "plain": Unwrapped, "oneline": Unwrapped, "remote": Remote, "planted": Unclear,
		"inside": Unclear, "empty": Unclear, "odd": Unclear}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("protection (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"resend-mcp"}, identity); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	for name, text := range rendered(t, Input{Log: filepath.Join(dir, "none"), Now: now, Clients: all}) {
		if strings.Contains(text, "s3cret") {
			t.Errorf("%s has a secret of a config: %s", name, text)
		}
		if !strings.Contains(text, "runs with --policy /p.yaml") || !strings.Contains(text, "autoApprove") {
			t.Errorf("%s lacks notes: %s", name, text)
		}
	}
}

// TestWrite: the file is whole, for its owner alone, and never put over another one unless that was asked for.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.md")
	put := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	holds := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("it holds %q, %v; want %q", got, err, want)
		}
	}
	if err := Write(path, false, nil, put("one")); err != nil {
		t.Fatal(err)
	}
	holds("one")
	if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := Write(path, false, nil, put("two")); !errors.Is(err, ErrExists) {
		t.Errorf("overwriting is %v", err)
	}
	holds("one")
	if err := Write(path, true, nil, put("two")); err != nil {
		t.Error(err)
	}
	holds("two")
	broken := errors.New("broken")
	if err := Write(path, true, nil, func(w io.Writer) error { io.WriteString(w, "half"); return broken }); !errors.Is(err, broken) {
		t.Errorf("a broken render is %v", err)
	}
	holds("two")
	if err := Write(path, true, []string{path}, put("three")); err == nil {
		t.Error("a file to keep was overwritten")
	}
	holds("two")
	if err := Write(dir, true, nil, put("x")); err == nil {
		t.Error("a directory was overwritten")
	}
	// A file that comes up while the report is made is not overwritten either.
	late := filepath.Join(dir, "late.md")
	err := Write(late, false, nil, func(w io.Writer) error { return os.WriteFile(late, []byte("theirs"), 0o600) })
	if got, _ := os.ReadFile(late); !errors.Is(err, ErrExists) || string(got) != "theirs" {
		t.Errorf("a late file: %v, %q", err, got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".bouncer-report-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if os.Symlink(path, filepath.Join(dir, "link")) == nil {
		if err := Write(filepath.Join(dir, "link"), true, nil, put("x")); err == nil {
			t.Error("a link was replaced")
		}
	}
}
