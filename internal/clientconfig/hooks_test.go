package clientconfig

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var ownCommandLine = HookCommand("/opt/bin/bouncer", "/home/u/.bouncer")

// settingsFiles are settings as people have them. What is put in is taken out again, byte for byte.
var settingsFiles = map[string]string{
	"empty":                   "{}",
	"empty, broken":           "{\n}\n",
	"two spaces":              "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": [\"Read\"]\n  }\n}\n",
	"four spaces":             "{\n    \"model\": \"opus\"\n}\n",
	"tabs":                    "{\n\t\"model\": \"opus\"\n}",
	"one line":                `{"model":"opus"}`,
	"one line, hooks":         `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"x"}]}]},"model":"opus"}`,
	"windows":                 "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n",
	"other hooks":             "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]\n      }\n    ],\n    \"Stop\": [{\"hooks\": []}]\n  },\n  \"model\": \"opus\"\n}\n",
	"empty hooks":             "{\n  \"hooks\": {}\n}\n",
	"empty events":            "{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"PostToolUse\": [ ],\n    \"UserPromptSubmit\": []\n  }\n}\n",
	"comments":                "{\n  // mine\n  \"model\": \"opus\", // best\n  \"hooks\": {\n    // none yet\n  }\n}\n",
	"a BOM's width":           "\n\n{ \"a\" : 1 }\n\n",
	"somebody else's bouncer": `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"bouncer-lint hook"}]}]}}`,
}

func TestHooksInAndOut(t *testing.T) {
	for name, text := range settingsFiles {
		in, err := editHooks([]byte(text), ownCommandLine, false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, event := range answeredEvents {
			if n := count(t, in, event); n != 1 {
				t.Errorf("%s: %d hooks of %s:\n%s", name, n, event, in)
			}
		}
		again, err := editHooks(in, ownCommandLine, false)
		if err != nil || string(again) != string(in) {
			t.Errorf("%s: a second time changes it (%v):\n%s", name, err, again)
		}
		moved, err := editHooks(in, HookCommand("/usr/bin/bouncer", "/h"), false)
		if err != nil || strings.Contains(string(moved), "/opt/bin") || strings.Count(string(moved), "/usr/bin/bouncer") != len(answeredEvents) {
			t.Errorf("%s: another binary leaves the old one (%v):\n%s", name, err, moved)
		}
		out, err := editHooks(in, "", true)
		if err != nil || string(out) != text {
			t.Errorf("%s: taken out it is (%v)\n%q, was\n%q", name, err, out, text)
		}
	}
}

// count returns how many of Bouncer's hooks stand under an event, as the client reads the file.
func count(t *testing.T, text []byte, event string) (n int) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(string(text)) { // encoding/json reads no comments
		if before, _, ok := strings.Cut(line, "// "); ok {
			line = before
		}
		lines = append(lines, line)
	}
	var file struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct {
				Type, Command, OnFailure string
				Timeout                  int
			}
		}
	}
	if err := json.Unmarshal([]byte(strings.Join(lines, "")), &file); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	for _, g := range file.Hooks[event] {
		for _, h := range g.Hooks {
			if strings.HasPrefix(h.Command, ownCommandLine) && h.Type == "command" && h.OnFailure == "block" && h.Timeout == hookTimeout && (g.Matcher == "*") == strings.Contains(event, "Tool") {
				n++
			}
		}
	}
	return n
}

// TestHooksEditedBetween: what the user does to the file meanwhile stays.
func TestHooksEditedBetween(t *testing.T) {
	in, err := editHooks([]byte(settingsFiles["other hooks"]), ownCommandLine, false)
	if err != nil {
		t.Fatal(err)
	}
	in = []byte(strings.Replace(string(in), `"lint"`, `"lint --fix"`, 1))
	in = []byte(strings.Replace(string(in), `"model": "opus"`, `"model": "haiku"`, 1))
	out, err := editHooks(in, "", true)
	want := strings.Replace(strings.Replace(settingsFiles["other hooks"], `"lint"`, `"lint --fix"`, 1), "opus", "haiku", 1)
	if err != nil || string(out) != want {
		t.Errorf("got (%v)\n%s", err, out)
	}
}

func TestHooksRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "garbage": "{", "a list": "[]", "hooks as a list": `{"hooks":[]}`, "an event as an object": `{"hooks":{"PreToolUse":{}}}`,
		"hooks twice": `{"hooks":{},"hooks":{}}`, "an event twice": `{"hooks":{"PreToolUse":[],"PreToolUse":[]}}`,
	} {
		if out, err := editHooks([]byte(text), ownCommandLine, false); err == nil {
			t.Errorf("%s: became %s", name, out)
		}
	}
}

func TestHooksFile(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, ".claude", "settings.json")
	apply := func(undo bool) *HookChange {
		t.Helper()
		c, err := PlanHooks(path, ownCommandLine, undo)
		if err == nil {
			err = c.Apply(home)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := apply(true); c.Edited() {
		t.Errorf("an undo of nothing changes %s", c.Diff())
	}
	apply(false)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the new file: %v %v", info, err)
	}
	if c := apply(false); c.Edited() {
		t.Errorf("a second time changes %s", c.Diff())
	}
	apply(true)
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("what was made is still there: %v", err)
	}

	const own = "{\n  \"disableAllHooks\": true\n}\n"
	if err := os.WriteFile(path, []byte(own), 0o640); err != nil {
		t.Fatal(err)
	}
	c := apply(false)
	if len(c.Notes) != 1 || !strings.Contains(c.Diff(), "+  \"hooks\"") {
		t.Errorf("notes %q, diff\n%s", c.Notes, c.Diff())
	}
	if kept, err := os.ReadFile(BackupPath(home, c.snapshot.real)); err != nil || string(kept) != own {
		t.Errorf("the backup holds %q, %v", kept, err)
	}
	apply(true)
	if back, err := os.ReadFile(path); err != nil || string(back) != own {
		t.Errorf("after undo: %q, %v", back, err)
	}
	if err := os.WriteFile(path, []byte("{ broken"), 0o640); err != nil {
		t.Fatal(err)
	}
	if c := apply(true); c.Edited() {
		t.Errorf("an undo changes what it never wrote: %s", c.Diff())
	}
	if _, err := PlanHooks(path, ownCommandLine, false); err == nil {
		t.Error("a broken file was to be edited")
	}
	if err := os.WriteFile(path, []byte(own), 0o640); err != nil {
		t.Fatal(err)
	}
	stale, err := PlanHooks(path, ownCommandLine, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := stale.Apply(home); err == nil {
		t.Error("it was written over what another program wrote meanwhile")
	}
}

// TestHookDiff: what else stands on the line is not shown.
func TestHookDiff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(`{"env":{"TOKEN":"hunter2"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := PlanHooks(path, ownCommandLine, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := c.Diff(); strings.Contains(diff, "hunter2") || strings.Count(diff, ownCommandLine) != 1 || !strings.Contains(diff, "+SessionStart, ") {
		t.Errorf("it shows\n%s", diff)
	}
}

func TestHookCommand(t *testing.T) {
	for _, tt := range []struct{ bouncer, home, want string }{
		{"/opt/bouncer", "/home/u/.bouncer", "/opt/bouncer hook claude-code --home /home/u/.bouncer"},
		{"/opt/my tools/bouncer", "/h", "'/opt/my tools/bouncer' hook claude-code --home /h"},
		{"/o'neil/bouncer", "/$h", `'/o'\''neil/bouncer' hook claude-code --home '/$h'`},
		{`C:\tools\bouncer.exe`, `C:\h`, `'C:\tools\bouncer.exe' hook claude-code --home 'C:\h'`},
	} {
		got := HookCommand(tt.bouncer, tt.home)
		if got != tt.want || !ownHook.MatchString(got) {
			t.Errorf("got %s", got)
		}
	}
}
