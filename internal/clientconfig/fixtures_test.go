package clientconfig

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each shared fixture meets its line of the index: what is found in it (a line an entry), what is said about it, or
// why it is refused.
var fixtures = []struct {
	file    string
	entries string   // "NAME: STATE" joined by "; "
	says    []string // in reasons and notes
	refused string   // in the refusal; "" when it is taken
	at      string   // LINE:COLUMN of the refusal
}{
	{file: "01-claude-desktop-plain.json", entries: "files: wrapped; notes: wrapped", says: []string{"@example/server-files has no fixed version"}},
	{file: "02-project-mcp-json-mixed.json", entries: "db: wrapped; tracker: remote, not protected yet; legacy: remote, not protected yet"},
	{file: "04-cursor-tabs-mixed-indent.json", entries: "lint: wrapped; docs: wrapped", says: []string{"@example/lint-mcp@latest has no fixed version"}},
	{file: "05-crlf.json", entries: "a: wrapped"},
	{file: "07-utf16le-bom.json", refused: "UTF-16"},
	{file: "08-empty.json", says: []string{"nothing to wrap"}},
	{file: "10-comments-only.jsonc", says: []string{"nothing to wrap"}},
	{file: "11-no-mcpservers-key.json", says: []string{"nothing to wrap"}},
	{file: "13-cline-roo-extra-fields.json", entries: "browser: wrapped", says: []string{"alwaysAllow: the client will not ask for these: navigate, click"}},
	{file: "14-windows-cmd-c.json", entries: "brave: wrapped; exe: wrapped", says: []string{"@example/brave-mcp has no fixed version"}},
	{file: "16-uvx-from-git-and-dashdash.json", entries: "alex: wrapped; dd: wrapped; dash: wrapped"},
	{file: "17-already-wrapped.json", entries: "a: already; b: already; c: already", says: []string{"wrapped twice", "with --server b --policy strict.yaml", `by another bouncer, "/usr/local/bin/bouncer"`}},
	{file: "19-duplicate-keys.json", refused: "second time (the first is at 2:3)", at: "6:3"},
	{file: "20-trailing-commas-strict-json-name.json", entries: "a: wrapped", says: []string{"2:3: a comment or a trailing comma"}},
	{file: "22-claude-json-projects.json", entries: "user-wide: wrapped; proj in /home/u/srv/app: wrapped"},
	{file: "23-non-ascii.json", entries: "Büro-Ablage: wrapped; имя: wrapped"},
	{file: "25-zed-settings.jsonc", entries: "flat: wrapped; nested: wrapped; ext: skipped; remote: remote, not protected yet", says: []string{"an extension of the client starts it"}},
	{file: "26-codex-config.toml", entries: "files: wrapped; with space: wrapped; sub: wrapped; web: remote, not protected yet"},
	{file: "28-gemini-settings.json", entries: "local: wrapped; http: remote, not protected yet", says: []string{"trust: the client skips its confirmation"}},
	{file: "29-opencode.json", entries: "vibe: wrapped; off: wrapped; rem: remote, not protected yet"},
	{file: "31-amp-dotted-key.json", entries: "vibe: wrapped"},
	{file: "32-continue-goose.yaml", entries: "notes: wrapped; jira: wrapped"},
	{file: "34-empty-args-env-missing.json", entries: "none: wrapped; empty: wrapped; spacey: wrapped", says: []string{`"srv --flag" is one string and stays one`}},
	{file: "35-prototype-names.json", entries: "__proto__: wrapped; a.b/c: wrapped; : wrapped; bouncer: wrapped; x\ny: wrapped"},
	{file: "40-trailing-garbage.json", refused: "not valid JSON", at: "4:1"},
}

func TestFixtures(t *testing.T) {
	for _, tt := range fixtures {
		t.Run(tt.file, func(t *testing.T) {
			text := fixture(t, tt.file)
			dir, home := t.TempDir(), t.TempDir()
			path := filepath.Join(dir, tt.file)
			writeFile(t, path, string(text))
			c, err := Plan(path, testOptions())
			if tt.refused != "" {
				r := wantRefused(t, err)
				if !strings.Contains(r.Why, tt.refused) || tt.at != "" && !strings.Contains(r.Error(), ":"+tt.at+": ") {
					t.Errorf("refused with %q", r)
				}
				wantOnly(t, dir, tt.file)
				wantOnly(t, home)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkFound(t, c, tt.entries, tt.says)
			checkRoundTrip(t, c, text, path, home)
			lawOf(t, tt.file, text)
		})
	}
}

func checkFound(t *testing.T, c *Change, entries string, says []string) {
	t.Helper()
	var got []string
	said := strings.Join(c.Notes, "\n")
	for _, e := range c.Entries {
		name := e.Name
		if e.Project != "" {
			name += " in " + e.Project
		}
		got = append(got, fmt.Sprintf("%s: %s", name, e.State))
		said += "\n" + e.Reason + "\n" + strings.Join(e.Notes, "\n")
	}
	if diff := cmp.Diff(entries, strings.Join(got, "; ")); diff != "" {
		t.Error(diff)
	}
	for _, want := range says {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said in %q", want, said)
		}
	}
}

// checkRoundTrip applies, applies again, and undoes, on disk.
func checkRoundTrip(t *testing.T, c *Change, text []byte, path, home string) {
	t.Helper()
	if err := c.Apply(home); err != nil {
		t.Fatal(err)
	}
	once := readFile(t, path)
	if (once == string(text)) != (c.Edits() == 0) {
		t.Errorf("%d edits, and the file is\n%s", c.Edits(), once)
	}
	if bytes.Contains(text, []byte("\r\n")) && strings.Count(once, "\n") != strings.Count(once, "\r\n") {
		t.Error("a bare newline in a CRLF file")
	}
	applied(t, path, home, testOptions())
	if twice := readFile(t, path); twice != once {
		t.Errorf("wrap twice is not wrap once: %s", cmp.Diff(once, twice))
	}
	applied(t, path, home, undoOptions())
	if back := readFile(t, path); back != string(text) {
		t.Errorf("undo is not the identity: %s", cmp.Diff(string(text), back))
	}
	wantOnly(t, filepath.Dir(path), filepath.Base(path))
}

// C22: --config and --upstream-name cannot say which project is meant.
func TestProjectBlocks(t *testing.T) {
	out := wrapText(t, string(fixture(t, "22-claude-json-projects.json")))
	for _, want := range []string{
		`"args": ["run", "--config", "/cfg/mcp.json", "--upstream-name", "user-wide", "--", "npx", "-y", "u-mcp"]`,
		`"args": ["run", "--name", "proj", "--", "uvx", "p-mcp"]`,
		`"display": "fix \"mcpServers\": { } in docs"`,
		`{ "big": 725653563933458432, "f": 1.50, "e": 1E3 }`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
}

// C38: the file that Claude Code keeps its whole history in.
func TestLargeFile(t *testing.T) {
	text := fixture(t, "38-large-claude.json")
	started := time.Now()
	dir, home := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, ".claude.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := applied(t, path, home, testOptions())
	if c.Edits() != 10 {
		t.Errorf("%d edits, want g and 9 projects", c.Edits())
	}
	if diff := c.Diff(); len(diff) > 20000 || strings.Contains(diff, "lorem") {
		t.Errorf("the diff has %d bytes", len(diff))
	}
	applied(t, path, home, undoOptions())
	if !bytes.Equal([]byte(readFile(t, path)), text) {
		t.Error("undo is not the identity")
	}
	t.Logf("%d bytes wrapped and unwrapped in %v", len(text), time.Since(started))
}
