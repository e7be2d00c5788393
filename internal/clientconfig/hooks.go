package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// answeredEvents are the events of Claude Code that Bouncer answers.
var answeredEvents = []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"}

// hookTimeout is how many seconds the client waits. The hook itself gives up sooner, and blocks.
const hookTimeout = 30

// ownHook knows Bouncer's hook by its command line, wherever the binary is.
var ownHook = regexp.MustCompile(`(^|[/\\'" ])bouncer(\.exe)?['"]? hook claude-code( |$)`)

// HookSettings returns the file in which Claude Code keeps the user's own hooks. A project's file is never written: what a repository
// brings along is not the user's.
func HookSettings(e Env) string {
	if dir := e.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, "settings.json")
	}
	return filepath.Join(e.Home, ".claude", "settings.json")
}

// HookCommand is the command line that the settings get. The home stands in it, because a project's settings can set variables.
func HookCommand(bouncer, home string) string {
	return shellWord(bouncer) + " hook claude-code --home " + shellWord(home)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellWord quotes a word for the shell that the client hands the command to.
func shellWord(w string) string {
	if plainWord.MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// HookChange is the edit of a settings file, worked out and not yet made.
type HookChange struct {
	Path  string
	Notes []string

	was, is  []byte
	snapshot *snapshot // nil: there is no file yet
	gone     bool      // there is nothing left of the file
}

// PlanHooks works out how Bouncer's hooks come into the settings file at path, or out of it. Nothing is written.
func PlanHooks(path, command string, undo bool) (*HookChange, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("settings %s: %w", path, err)
	}
	c := &HookChange{Path: abs}
	s, err := readSnapshot(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !undo {
			c.is = newSettings(command)
		}
		return c, nil
	case err != nil:
		return nil, err
	}
	c.snapshot, c.was, c.is = s, s.data, s.data
	if undo && !ownHook.Match(s.data) { // whatever else is in it is none of Bouncer's
		return c, nil
	}
	if old := commandIn(c.was); old != "" && bytes.Equal(c.was, newSettings(old)) { // made by an earlier init, and as it was
		if c.is = newSettings(command); undo {
			c.is, c.gone = nil, true
		}
	} else if c.is, err = editHooks(s.data, command, undo); err != nil {
		return nil, &Refused{Path: abs, Why: err.Error()}
	}
	if off := settingOff(s.data); off != "" && !undo {
		c.Notes = append(c.Notes, off+" is set in it: no hook runs as long as it is")
	}
	if c.Edited() {
		return c, s.writable()
	}
	return c, nil
}

// editHooks takes Bouncer's hooks out, and puts them in anew unless it is an undo. It proves that they can be taken out again.
func editHooks(text []byte, command string, undo bool) ([]byte, error) {
	without, err := removeHooks(text)
	if err != nil || undo {
		return without, err
	}
	with, err := insertHooks(without, command, nil)
	if err != nil {
		return nil, err
	}
	if back, err := removeHooks(with); err == nil && bytes.Equal(back, without) {
		return with, nil
	}
	// What was there and empty would go with what was put in. The command says that it was there.
	with, err = insertHooks(without, command, emptyOnes(without))
	if err != nil {
		return nil, err
	}
	if back, err := removeHooks(with); err != nil || !bytes.Equal(back, without) {
		return nil, errors.New("adding hooks to it could not be taken back exactly")
	}
	return with, nil
}

// newSettings is the file that is made where there is none.
func newSettings(command string) []byte {
	all := orderedHooks{}
	for _, event := range answeredEvents {
		all = append(all, hookOf{event, []any{group(event, command)}})
	}
	return slices.Concat([]byte("{\n  \"hooks\": "), indented(all, []byte("\n  ")), []byte("\n}\n"))
}

// Edited reports whether anything would change.
func (c *HookChange) Edited() bool { return c.gone || !bytes.Equal(c.was, c.is) }

// Diff shows the edit like Change.Diff does. Of a file that stands on one line only what is Bouncer's is shown: what else is on it
// may be secret.
func (c *HookChange) Diff() string {
	if !c.Edited() {
		return ""
	}
	lines := func(text []byte) (out []string) {
		for line := range strings.Lines(string(text)) {
			out = append(out, Visible(strings.TrimRight(line, "\r\n")))
		}
		return out
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", Visible(c.Path), Visible(c.Path))
	if bytes.Count(bytes.TrimSpace(c.was), []byte("\n")) == 0 && len(bytes.TrimSpace(c.was)) > len("{}") {
		fmt.Fprintf(&b, "@@ all on one line @@\n")
		for _, side := range []struct {
			sign string
			text []byte
		}{{"-", c.was}, {"+", c.is}} {
			if own := commandIn(side.text); own != "" {
				fmt.Fprintf(&b, "%s%s: %s\n", side.sign, strings.Join(answeredEvents, ", "), Visible(own))
			}
		}
		return b.String()
	}
	was, is := lines(c.was), lines(c.is)
	for _, h := range hunks(was, is) {
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(1, h[0], h[1]), span(1, h[2], h[3]))
		for _, line := range was[h[0]:h[1]] {
			fmt.Fprintf(&b, "-%s\n", line)
		}
		for _, line := range is[h[2]:h[3]] {
			fmt.Fprintf(&b, "+%s\n", line)
		}
	}
	return b.String()
}

// Apply makes the edit. The file is replaced as a whole; what it was is copied to the backups in the Bouncer home.
func (c *HookChange) Apply(home string) error {
	switch {
	case !c.Edited():
		return nil
	case c.snapshot == nil:
		return c.create()
	case c.gone:
		if !c.snapshot.unchanged() {
			return fmt.Errorf("settings %s: %w; try again", c.Path, errChanged)
		}
		return os.Remove(c.snapshot.real)
	}
	name := BackupPath(home, c.snapshot.real)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("back up %s: %w", c.Path, err)
	}
	if err := os.WriteFile(name, c.was, 0o600); err != nil {
		return fmt.Errorf("back up %s: %w", c.Path, err)
	}
	if err := c.snapshot.replace(c.is, nil, nil); err != nil {
		return fmt.Errorf("settings %s: %w; try again", c.Path, err)
	}
	return nil
}

// create makes the file, and never over one that came up meanwhile.
func (c *HookChange) create() error {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return fmt.Errorf("settings %s: %w", c.Path, err)
	}
	f, err := os.OpenFile(c.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("settings %s: %w", c.Path, err)
	}
	_, err = f.Write(c.is)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(c.Path)
		return fmt.Errorf("settings %s: %w", c.Path, err)
	}
	return nil
}
