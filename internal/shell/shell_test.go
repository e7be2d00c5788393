package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var place = Options{Dir: "/w", Home: "/home/u"}

// transcript is one command of a data file with the effects that it must have.
type transcript struct {
	command string
	want    []string
}

// transcripts reads testdata/NAME.txt: "$ command", "> its next line", then one effect a line, indented.
func transcripts(t testing.TB, name string) []transcript {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []transcript
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		last := len(out) - 1
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "$ "):
			out = append(out, transcript{command: line[2:]})
		case strings.HasPrefix(line, "> ") && last >= 0:
			out[last].command += "\n" + line[2:]
		case strings.HasPrefix(line, "  ") && last >= 0:
			out[last].want = append(out[last].want, line[2:])
		default:
			t.Fatalf("%s: a line that is none of these: %q", name, line)
		}
	}
	return out
}

// told writes effects as the data files do. Files that are read, and why something is not known, are left to other tests.
func told(effects []Effect) (out []string) {
	for _, e := range effects {
		line := string(e.Kind)
		switch e.Kind {
		case ReadFile:
			continue
		case Write:
			line += " " + e.Path
		case Send, Fetch, Publish:
			for _, d := range e.Destinations {
				line += " " + d.Canonical
			}
			if len(e.Destinations) == 0 {
				line += " ?"
			}
		}
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// leaves holds for an effect that is judged by where it goes, or asked about.
func leaves(line string) bool {
	kind, _, _ := strings.Cut(line, " ")
	return slices.Contains([]Kind{Send, Fetch, Publish, Unknown, Run}, Kind(kind))
}

// guardedPath holds for an effect that a guard refuses by its path.
func guardedPath(line string) bool {
	p, ok := strings.CutPrefix(line, "write ")
	return ok && (isGuarded(p) || strings.Contains(p+"/", "/.bouncer/") || strings.Contains(p+"/", "/.claude/"))
}

func TestCommands(t *testing.T) {
	for _, file := range []struct {
		name  string
		least int
		holds func(want []string) bool // what every command of the file has in common
	}{
		{"leaves", 300, func(want []string) bool { return slices.ContainsFunc(want, leaves) }},
		{"hidden", 200, func(want []string) bool { return slices.ContainsFunc(want, leaves) }},
		{"local", 150, func(want []string) bool {
			return !slices.ContainsFunc(want, leaves) && !slices.ContainsFunc(want, guardedPath)
		}},
		{"writes", 80, func(want []string) bool {
			return slices.ContainsFunc(want, leaves) || slices.ContainsFunc(want, guardedPath)
		}},
	} {
		cases := transcripts(t, file.name)
		if len(cases) < file.least {
			t.Errorf("%s has %d commands, want at least %d", file.name, len(cases), file.least)
		}
		for _, c := range cases {
			got := told(Read(c.command, place))
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %q\n got %q\nwant %q", file.name, c.command, got, c.want)
			}
			if !file.holds(got) {
				t.Errorf("%s: %q does not belong there: %q", file.name, c.command, got)
			}
		}
	}
}

// TestWrapped: whatever a command does, it does behind a wrapper, in a function and in a shell of its own as well.
func TestWrapped(t *testing.T) {
	for _, c := range transcripts(t, "leaves") {
		if strings.ContainsAny(c.command, "'\n") || strings.HasSuffix(c.command, "&") || strings.HasSuffix(c.command, "wait") {
			continue
		}
		for _, wrapped := range []string{"bash -c '" + c.command + "'", "f() { " + c.command + "; }; f", "if a; then " + c.command + "; fi", "(" + c.command + ")", "x; " + c.command, "eval '" + c.command + "'"} {
			if got := told(Read(wrapped, place)); !slices.ContainsFunc(got, leaves) {
				t.Errorf("%q: %q", wrapped, got)
			}
		}
	}
}
