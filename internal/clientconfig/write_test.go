package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const simple = `{"mcpServers": {"a": {"command": "uvx", "args": ["a-mcp==1.0"]}}}` + "\n"

// applied plans and applies, and returns the plan.
func applied(t *testing.T, path, home string, o Options) *Change {
	t.Helper()
	c, err := Plan(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(home); err != nil {
		t.Fatal(err)
	}
	return c
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	if got := namesIn(t, dir); strings.Join(got, "|") != strings.Join(names, "|") {
		t.Errorf("%s holds %q, want %q", dir, got, names)
	}
}

func TestApplyAndUndo(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	writeFile(t, path, simple)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	applied(t, path, home, testOptions())
	wrapped := readFile(t, path)
	if !strings.Contains(wrapped, Sentinel) {
		t.Fatalf("not wrapped: %s", wrapped)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("mode became %v", info.Mode())
	}
	wantOnly(t, dir, "mcp.json")
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	backup := BackupPath(home, real)
	if got := readFile(t, backup); got != simple {
		t.Errorf("backup is %q", got)
	}
	if info, _ := os.Stat(backup); runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("backup has mode %v: configs hold secrets", info.Mode())
	}
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, o := range []Options{testOptions(), undoOptions()} {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		if c := applied(t, path, home, o); o.Undo != (c.Edits() > 0) {
			t.Errorf("undo %v: %d edits", o.Undo, c.Edits())
		}
		if info, _ := os.Stat(path); !o.Undo && !info.ModTime().Equal(old) {
			t.Error("a second init wrote the file")
		}
	}
	if got := readFile(t, path); got != simple {
		t.Errorf("undo left %q", got)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	applied(t, path, home, undoOptions())
	if info, _ := os.Stat(path); !info.ModTime().Equal(old) {
		t.Error("a second undo wrote the file")
	}
}

func TestBackupIsOfTheOriginal(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	two := `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`
	writeFile(t, path, two)
	for _, name := range []string{"a", "b"} {
		o := testOptions()
		o.Servers = []string{name}
		applied(t, path, home, o)
		wantOnly(t, filepath.Join(home, "backups"), filepath.Base(BackupPath(home, mustReal(t, path))))
		if name == "a" {
			continue
		}
		// The second edit started from a file whose other entry was not selected; the original is not overwritten.
		if got := readFile(t, BackupPath(home, mustReal(t, path))); got != two {
			t.Errorf("backup is %q, want the original", got)
		}
	}
}

func mustReal(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// C37, D28: what a file is decides, not what root could do to it.
func TestFilesThatAreLeftAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("mode bits and FIFOs")
	}
	tests := []struct {
		name string
		make func(t *testing.T, dir, path string)
		why  string
	}{
		{"read-only file", func(t *testing.T, _, path string) { chmod(t, path, 0o444) }, "read-only (mode 0444)"},
		{"read-only directory", func(t *testing.T, dir, _ string) { chmod(t, dir, 0o555) }, "directory"},
		{"link to a read-only file", func(t *testing.T, dir, path string) {
			store := t.TempDir()
			writeFile(t, filepath.Join(store, "c.json"), simple)
			chmod(t, filepath.Join(store, "c.json"), 0o444)
			relink(t, path, filepath.Join(store, "c.json"))
		}, "read-only"},
		{"directory", func(t *testing.T, _, path string) { os.Remove(path); os.Mkdir(path, 0o755) }, "not a regular file"},
		{"FIFO", func(t *testing.T, _, path string) {
			os.Remove(path)
			if err := exec.Command("mkfifo", path).Run(); err != nil {
				t.Skip(err)
			}
		}, "not a regular file"},
		{"link loop", func(t *testing.T, dir, path string) {
			relink(t, path, filepath.Join(dir, "other"))
			relink(t, filepath.Join(dir, "other"), path)
		}, "circle"},
		{"dangling link", func(t *testing.T, dir, path string) { relink(t, path, filepath.Join(dir, "none")) }, "leads nowhere"},
		{"huge", func(t *testing.T, _, path string) {
			if err := os.Truncate(path, maxFile+1); err != nil {
				t.Skip(err)
			}
		}, "more than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "mcp.json")
			writeFile(t, path, simple)
			tt.make(t, dir, path)
			t.Cleanup(func() { os.Chmod(dir, 0o755) })
			before := namesIn(t, dir)
			_, err := Plan(path, testOptions())
			if r := wantRefused(t, err); !strings.Contains(r.Why, tt.why) || r.Path != path {
				t.Errorf("refused with %q", r)
			}
			wantOnly(t, dir, before...)
		})
	}
}

func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func relink(t *testing.T, path, to string) {
	t.Helper()
	os.Remove(path)
	if err := os.Symlink(to, path); err != nil {
		t.Skip(err)
	}
}

func TestMissingFile(t *testing.T) {
	if _, err := Plan(filepath.Join(t.TempDir(), "none.json"), testOptions()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}

func TestWritesThroughLinks(t *testing.T) {
	dir, dotfiles, home := t.TempDir(), t.TempDir(), t.TempDir()
	target, middle, path := filepath.Join(dotfiles, "real.json"), filepath.Join(dotfiles, "middle"), filepath.Join(dir, "mcp.json")
	writeFile(t, target, simple)
	relink(t, middle, "real.json")
	relink(t, path, middle)
	applied(t, path, home, testOptions())
	if got := readFile(t, target); !strings.Contains(got, Sentinel) || !strings.Contains(got, filepath.ToSlash(path)) {
		t.Errorf("target holds %q", got)
	}
	for _, link := range []string{path, middle} {
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", link)
		}
	}
	wantOnly(t, dir, "mcp.json")
	wantOnly(t, dotfiles, "middle", "real.json")
}

// D27: Claude Code rewrites its file while it runs.
func TestAnotherWriter(t *testing.T) {
	other := strings.Replace(simple, "{", `{"startups": 1, `, 1)
	tests := []struct {
		name  string
		write func(n int) string // what another program writes the n-th time, "" for nothing
		want  string             // in the error; "" for none
		holds string             // in the file afterwards
	}{
		{"once", func(n int) string { return map[int]string{1: other}[n] }, "", `"startups": 1`},
		{"same size", func(n int) string { return map[int]string{1: strings.Replace(simple, "uvx", "pvx", 1)}[n] }, "look at the diff again", `"pvx"`},
		{"always", func(n int) string { return fmt.Sprintf("%s%*s", simple, n, "") }, "5 times", "a-mcp"},
		{"breaks it", func(n int) string { return "{" }, "not valid JSON", "{"},
		{"takes the server away", func(n int) string { return `{"mcpServers": {}}` }, "gone", "{}"},
		{"adds a server", func(n int) string {
			return map[int]string{1: strings.Replace(simple, `"a":`, `"evil": {"command": "e"}, "a":`, 1)}[n]
		}, "", `"evil": {"command": "e"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "mcp.json")
			writeFile(t, path, simple)
			c, err := Plan(path, testOptions())
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			c.look = func() {
				n++
				if text := tt.write(n); text != "" {
					writeFile(t, path, text)
				}
			}
			err = c.Apply(t.TempDir())
			if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
			got := readFile(t, path)
			if !strings.Contains(got, tt.holds) || strings.Contains(got, Sentinel) != (err == nil) {
				t.Errorf("the file holds %q", got)
			}
			if n > tries {
				t.Errorf("%d tries", n)
			}
			wantOnly(t, dir, "mcp.json")
		})
	}
}

func TestReplacedFileOfSameBytes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	writeFile(t, path, simple)
	c, err := Plan(path, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	chmod(t, path, 0o600) // the user closes it to others in between
	if err := c.Apply(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode is %v: the wider one was put back", info.Mode())
	}
}

func TestNoBackupNoWrite(t *testing.T) {
	dir, home := t.TempDir(), filepath.Join(t.TempDir(), "home")
	path := filepath.Join(dir, "mcp.json")
	writeFile(t, path, simple)
	writeFile(t, home, "not a directory")
	c, err := Plan(path, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(home); err == nil || readFile(t, path) != simple {
		t.Errorf("error %v, file %q", err, readFile(t, path))
	}
}
