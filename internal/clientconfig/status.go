package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Gone is the state of a server that was wrapped and stands in its file no more.
const Gone State = "gone"

// FileStatus is what stands in one config file now.
type FileStatus struct {
	Target
	Problem string // why it cannot be read; "" where it can
	Servers []ServerStatus
	Notes   []string
}

// ServerStatus is one server of a config file: Already (behind a Bouncer), NotWrapped, Remote, Skipped or Gone.
type ServerStatus struct {
	Name, Project string
	State         State
	Reason        string
	Notes         []string
	Binary        string // what stands in front of it
	Wrong         string // why it does not run behind Bouncer though it was wrapped; "" where all is well
}

// Status looks at the files of all known clients on env and at every file in which something was wrapped. home is the
// Bouncer home and bouncer the path of this program. Nothing is changed. An error is about the records: without them it
// cannot be told what was wrapped.
func Status(env Env, home, bouncer string) ([]FileStatus, error) {
	records, err := Records(home)
	targets := Existing(Targets(env, ""))
	for _, r := range records {
		if !slices.ContainsFunc(targets, func(t Target) bool { return sameFile(t.Path, r.Path) }) {
			targets = append(targets, Target{Path: r.Path, Client: r.Client, Title: clientOf(r.Client, r.Path).title})
		}
	}
	var out []FileStatus
	for _, t := range targets {
		var was []Recorded
		for _, r := range records {
			if sameFile(t.Path, r.Path) {
				was = append(was, r.Servers...)
			}
		}
		out = append(out, statusOf(t, was, bouncer))
	}
	return out, err
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	realA, errA := filepath.EvalSymlinks(a)
	realB, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && realA == realB
}

func statusOf(t Target, was []Recorded, bouncer string) FileStatus {
	f := FileStatus{Target: t}
	c, err := Plan(t.Path, Options{Bouncer: bouncer, Client: t.Client})
	var refused *Refused
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Problem = "it is not there"
	case errors.As(err, &refused) && strings.Contains(refused.Why, "read-only"): // which is no reason not to look
		c, err = look(t, bouncer)
	}
	if err != nil {
		if f.Problem == "" {
			f.Problem = err.Error()
		}
		for _, s := range was {
			f.Servers = append(f.Servers, ServerStatus{Name: s.Name, Project: s.Project, State: Gone, Wrong: "its file cannot be read"})
		}
		return f
	}
	for i := range c.Entries {
		f.Servers = append(f.Servers, serverStatus(&c.Entries[i], was, bouncer))
	}
	for _, s := range was {
		if !slices.ContainsFunc(c.Entries, func(e Entry) bool { return e.place() == s.place() }) {
			f.Servers = append(f.Servers, ServerStatus{Name: s.Name, Project: s.Project, State: Gone, Wrong: "it was wrapped, and stands in the file no more"})
		}
	}
	for _, note := range c.Notes {
		if strings.HasPrefix(note, "it also holds ") {
			f.Notes = append(f.Notes, note)
		}
	}
	return f
}

// look reads a file that may not be written.
func look(t Target, bouncer string) (*Change, error) {
	s, err := readSnapshot(t.Path)
	if err != nil {
		return nil, err
	}
	return plan(s, Options{Bouncer: bouncer, Client: t.Client})
}

func serverStatus(e *Entry, was []Recorded, bouncer string) ServerStatus {
	s := ServerStatus{Name: e.Name, Project: e.Project, State: e.State, Reason: e.Reason, Notes: e.Notes, Binary: e.Binary}
	if s.State == Wrapped { // it would be
		s.State = NotWrapped
	}
	i := slices.IndexFunc(was, func(r Recorded) bool { return r.place() == e.place() })
	switch {
	case s.State != Already && i >= 0:
		s.Wrong = "it was wrapped, and is not any more"
	case s.State != Already:
	case missing(s.Binary):
		s.Wrong = fmt.Sprintf("%q stands in front of it and is not there, so it cannot start", s.Binary)
	case i >= 0 && s.Binary != bouncer && s.Binary != was[i].Binary: // any program can be called bouncer
		s.Wrong = fmt.Sprintf("%q was put in front of it, and now %q stands there", was[i].Binary, s.Binary)
	case e.cannotStart():
		s.Wrong = "it names no server to start"
	}
	return s
}

// cannotStart reports an entry that runs Bouncer without saying what Bouncer is to run.
func (e *Entry) cannotStart() bool {
	s, reason := readShape(e.value, e.form)
	return reason == "" && !s.sentinel && (s.dash < 0 || s.dash+1 == len(s.args))
}

// missing reports a program that is not there. Of a relative path it is not known where the client looks.
func missing(program string) bool {
	if strings.ContainsAny(program, `/\`) && !filepath.IsAbs(program) {
		return false
	}
	_, err := exec.LookPath(program)
	return err != nil
}

// HookFile is a settings file of Claude Code, and the events for which it runs a Bouncer.
type HookFile struct {
	Path   string
	Events []string
}

// Hooks returns the settings files of Claude Code on env that run a bouncer hook.
func Hooks(env Env) []HookFile {
	dir := env.fill("{home}/.claude")
	if own := env.Getenv("CLAUDE_CONFIG_DIR"); own != "" {
		dir = own
	}
	var out []HookFile
	for _, path := range []string{filepath.Join(dir, "settings.json"), env.fill("{dir}/.claude/settings.json"), env.fill("{dir}/.claude/settings.local.json")} {
		if events := hookEvents(path); len(events) > 0 {
			out = append(out, HookFile{path, events})
		}
	}
	return out
}

func hookEvents(path string) (events []string) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	d, err := parse(path, data, "")
	if err != nil || d.empty || d.read != nil {
		return nil
	}
	hooks, _ := member(d.root, "hooks")
	all, ok := hooks.Value.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for i := range all.Members {
		if runsHook(all.Members[i].Value) {
			events = append(events, textOf(all.Members[i].Name))
		}
	}
	return events
}

// runsHook reports whether a command somewhere in v is a bouncer hook.
func runsHook(v hujson.Value) bool {
	switch value := v.Value.(type) {
	case *hujson.Object:
		if m, ok := member(v, "command"); ok {
			if text := textOf(m.Value); strings.Contains(text, "bouncer") && strings.Contains(text+" ", " hook ") {
				return true
			}
		}
		return slices.ContainsFunc(value.Members, func(m hujson.ObjectMember) bool { return runsHook(m.Value) })
	case *hujson.Array:
		return slices.ContainsFunc(value.Elements, runsHook)
	}
	return false
}
