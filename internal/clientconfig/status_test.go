package clientconfig

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// statusIn returns the status of the one server called name on a machine whose home is dir.
func statusIn(t *testing.T, dir, home, bouncer, name string) (ServerStatus, FileStatus) {
	t.Helper()
	env := Env{GOOS: "linux", Home: dir, Dir: filepath.Join(dir, "work"), Getenv: func(string) string { return "" }}
	files, err := Status(env, home, bouncer)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Fatalf("%d files: %v", len(files), files)
	}
	for _, s := range files[0].Servers {
		if s.Name == name {
			return s, files[0]
		}
	}
	t.Fatalf("no server %q in %v", name, files[0])
	return ServerStatus{}, FileStatus{}
}

// wrapIn wraps a config file below a home of its own, as init does.
func wrapIn(t *testing.T, name, text string) (path, dir, home, bouncer string) {
	t.Helper()
	dir, home = t.TempDir(), t.TempDir()
	bouncer = filepath.Join(dir, "bouncer")
	if err := os.WriteFile(bouncer, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, text)
	settled(t, path, home, Options{Bouncer: bouncer})
	return path, dir, home, bouncer
}

func settled(t *testing.T, path, home string, o Options) []string {
	t.Helper()
	gone, err := applied(t, path, home, o).Settle(home)
	if err != nil {
		t.Fatal(err)
	}
	return gone
}

// A76: whoever takes Bouncer out of a config is found out, however it was done.
func TestWhatWasWrappedIsMissed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for the binary is no .exe")
	}
	tests := []struct {
		name   string
		change func(t *testing.T, path, bouncer string)
		state  State
		wrong  string // "" where nothing is
	}{
		{"nothing happened", func(t *testing.T, path, bouncer string) {}, Already, ""},
		{"the original came back", func(t *testing.T, path, _ string) { writeFile(t, path, simple) }, NotWrapped, "is not any more"},
		{"the server was taken out", func(t *testing.T, path, _ string) { writeFile(t, path, `{"mcpServers": {}}`) }, Gone, "no more"},
		{"the server was renamed", func(t *testing.T, path, _ string) { writeFile(t, path, strings.Replace(simple, `"a"`, `"b"`, 1)) }, Gone, "no more"},
		{"the server became a remote one", func(t *testing.T, path, _ string) {
			writeFile(t, path, `{"mcpServers": {"a": {"url": "https://x.example"}}}`)
		}, Remote, "is not any more"},
		{"the file is gone", func(t *testing.T, path, _ string) { os.Remove(path) }, Gone, "cannot be read"},
		{"the file is broken", func(t *testing.T, path, _ string) { writeFile(t, path, "{") }, Gone, "cannot be read"},
		{"another file took its place", func(t *testing.T, path, _ string) {
			other := filepath.Join(t.TempDir(), "other.json")
			writeFile(t, other, simple)
			relink(t, path, other)
		}, NotWrapped, "is not any more"},
		{"a program of that name took its place", func(t *testing.T, path, bouncer string) {
			fake := filepath.Join(t.TempDir(), "bouncer")
			if err := os.WriteFile(fake, nil, 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, strings.ReplaceAll(readFile(t, path), bouncer, fake))
		}, Already, "now"},
		{"the binary is gone", func(t *testing.T, _, bouncer string) { os.Remove(bouncer) }, Already, "cannot start"},
		{"the binary cannot be run", func(t *testing.T, _, bouncer string) { chmod(t, bouncer, 0o644) }, Already, "cannot start"},
		{"the server's command was cut off", func(t *testing.T, path, bouncer string) {
			writeFile(t, path, `{"mcpServers": {"a": {"command": "`+bouncer+`", "args": ["run", "--name", "a", "--"]}}}`)
		}, Already, "no server to start"},
		{"the file was closed to writing", func(t *testing.T, path, _ string) { chmod(t, path, 0o444) }, Already, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, dir, home, bouncer := wrapIn(t, ".cursor/mcp.json", simple)
			tt.change(t, path, bouncer)
			s, _ := statusIn(t, dir, home, bouncer, "a")
			if s.State != tt.state || (s.Wrong == "") != (tt.wrong == "") || !strings.Contains(s.Wrong, tt.wrong) {
				t.Errorf("%s (%q), want %s (%q)", s.State, s.Wrong, tt.state, tt.wrong)
			}
		})
	}
}

// The record follows what init does, in every format, and is gone when nothing is wrapped.
func TestRecordFollowsInit(t *testing.T) {
	for _, tt := range []struct{ file, text string }{
		{".cursor/mcp.json", `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`},
		{".codex/config.toml", "[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.b]\ncommand = \"y\"\nargs = [\"z\"]\n"},
		{".continue/config.yaml", "mcpServers:\n  - {name: a, command: x}\n  - {name: b, command: y}\n"},
		{".config/opencode/opencode.json", `{"mcp": {"a": {"command": ["x"]}, "b": {"command": ["y"]}}}`},
	} {
		t.Run(tt.file, func(t *testing.T) {
			path, dir, home, bouncer := wrapIn(t, tt.file, tt.text)
			count := func() int {
				records, err := Records(home)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, r := range records {
					n += len(r.Servers)
				}
				return n
			}
			if n := count(); n != 2 {
				t.Errorf("%d servers are recorded after init", n)
			}
			if s, f := statusIn(t, dir, home, bouncer, "a"); s.State != Already || s.Wrong != "" || f.Title == "" {
				t.Errorf("%s %s (%s)", f.Title, s.State, s.Wrong)
			}
			settled(t, path, home, Options{Bouncer: bouncer, Undo: true, Servers: []string{"a"}})
			if n := count(); n != 1 {
				t.Errorf("%d servers are recorded after one was unwrapped", n)
			}
			if s, _ := statusIn(t, dir, home, bouncer, "a"); s.State != NotWrapped || s.Wrong != "" {
				t.Errorf("%s (%s)", s.State, s.Wrong)
			}
			settled(t, path, home, Options{Bouncer: bouncer, Undo: true})
			if n := count(); n != 0 || readFile(t, path) != tt.text {
				t.Errorf("%d servers are recorded after undo, and the file is\n%s", n, readFile(t, path))
			}
		})
	}
}

// A user who takes a server out says so by running init again.
func TestInitForgetsWhatIsGone(t *testing.T) {
	path, dir, home, bouncer := wrapIn(t, ".cursor/mcp.json", simple)
	writeFile(t, path, `{"mcpServers": {"z": {"command": "y"}}}`)
	if gone := settled(t, path, home, Options{Bouncer: bouncer}); strings.Join(gone, " ") != "a" {
		t.Errorf("gone are %q", gone)
	}
	if s, f := statusIn(t, dir, home, bouncer, "z"); s.State != Already || len(f.Servers) != 1 {
		t.Errorf("%v", f.Servers)
	}
	os.Remove(path)
	if found, err := Forget(home, path); !found || err != nil {
		t.Errorf("forget: %v, %v", found, err)
	}
	if records, err := Records(home); len(records) != 0 || err != nil {
		t.Errorf("still recorded: %v, %v", records, err)
	}
}

// A kill between the record and the write must not hide what is not wrapped; the other way round it would.
func TestTheRecordComesFirst(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	writeFile(t, path, simple)
	c, err := Plan(path, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	recorded := 0
	c.hook = func() {
		records, err := Records(home)
		if err != nil || len(records) != 1 {
			t.Errorf("before the write: %v, %v", records, err)
			return
		}
		recorded = len(records[0].Servers)
	}
	if err := c.Apply(home); err != nil || recorded != 1 {
		t.Errorf("%v, %d servers were recorded before the write", err, recorded)
	}
}

func TestAFailedWriteIsNotRecorded(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	writeFile(t, path, simple)
	c, err := Plan(path, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	c.look = func() { writeFile(t, path, "{") }
	if err := c.Apply(home); err == nil {
		t.Error("a broken file was written")
	}
	if records, err := Records(home); len(records) != 0 || err != nil {
		t.Errorf("recorded: %v, %v", records, err)
	}
}

// Without the records it cannot be told what was wrapped, and that is said.
func TestBrokenRecords(t *testing.T) {
	for _, text := range []string{"", "{", `{"version": 2, "path": "/x"}`, `{"version": 1, "path": "x"}`, `{"version": 1, "path": "/x", "more": 1}`, `{"version": 1, "path": "/x"} {}`} {
		path, dir, home, bouncer := wrapIn(t, ".cursor/mcp.json", simple)
		writeFile(t, filepath.Join(home, "wrapped", "x.json"), text)
		env := Env{GOOS: "linux", Home: dir, Dir: dir, Getenv: func(string) string { return "" }}
		files, err := Status(env, home, bouncer)
		if err == nil || !strings.Contains(err.Error(), "x.json") || len(files) != 1 {
			t.Errorf("%q: %d files, %v", text, len(files), err)
		}
		writeFile(t, path, simple)
		c, err := Plan(path, Options{Bouncer: bouncer})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Apply(home); err == nil || readFile(t, path) != simple {
			t.Errorf("%q: wrapped without a record: %v", text, err)
		}
	}
}

func TestHooks(t *testing.T) {
	dir := t.TempDir()
	env := Env{GOOS: "linux", Home: dir, Dir: filepath.Join(dir, "p"), Getenv: func(string) string { return "" }}
	if got := Hooks(env); len(got) != 0 {
		t.Errorf("hooks without files: %v", got)
	}
	path := filepath.Join(dir, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ text, want string }{
		{`{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "/opt/bouncer hook prompt"}]}], "Stop": [{"hooks": [{"command": "say hook"}]}]}}`, "UserPromptSubmit"},
		{`{"hooks": {"Stop": [{"hooks": [{"command": "/opt/bouncer status"}]}]}}`, ""},
		{`{"hooks": [1]}`, ""}, {`{`, ""}, {``, ""},
	}
	for _, tt := range tests {
		writeFile(t, path, tt.text)
		events := ""
		for _, h := range Hooks(env) {
			events += strings.Join(h.Events, " ")
		}
		if events != tt.want {
			t.Errorf("%s: %q", tt.text, events)
		}
	}
}
