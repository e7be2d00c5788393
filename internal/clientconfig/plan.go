package clientconfig

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Options say what to do to a config file.
type Options struct {
	Bouncer string   // absolute path of this binary; what a wrapped entry starts
	Client  string   // name of the client whose file it is, where that is known
	Servers []string // only these; none: all
	Undo    bool
}

// Entry is what a Change does to one server.
type Entry struct {
	Project string // Claude Code's project block that it stands in, else ""
	Name    string
	Line    int
	State   State
	Reason  string   // why it is Skipped, or what is to be said of an Already
	Notes   []string // warnings, a line each

	inProj      bool
	from, keyAt int    // offsets in the text
	was, is     []byte // the entry's text before and after; equal when it is not edited
	key         []byte
}

// Change is one file's edits, worked out and not yet made.
type Change struct {
	Path    string // as it was asked for, absolute
	Entries []Entry
	Notes   []string // warnings about the file, a line each

	options  Options
	snapshot *snapshot
	doc      *document
	partly   bool   // some entry is wrapped already
	hook     func() // tests: called after the last look at the file, before the new one is put in its place
	look     func() // tests: called before that look
}

// Plan reads the config file at path and works out what to do to it. Nothing is written. A file that must not be
// edited, for what is in it or for what it is, is a *Refused; one that is not there is an fs.ErrNotExist.
func Plan(path string, o Options) (*Change, error) {
	s, err := readSnapshot(path)
	if err != nil {
		return nil, err
	}
	c, err := plan(s, o)
	if err != nil {
		return nil, err
	}
	if c.Edits() > 0 {
		if err := s.writable(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func plan(s *snapshot, o Options) (*Change, error) {
	doc, err := parse(s.path, s.data)
	if err != nil {
		return nil, err
	}
	all, err := doc.entries()
	if err != nil {
		return nil, err
	}
	c := &Change{Path: s.path, options: o, snapshot: s, doc: doc}
	for _, f := range all {
		_, has := member(f.value, Sentinel)
		c.partly = c.partly || has
		if len(o.Servers) > 0 && !slices.Contains(o.Servers, f.name) {
			continue
		}
		c.Entries = append(c.Entries, c.entry(f))
	}
	c.Notes = c.notes(len(all) == 0)
	return c, nil
}

// Edits returns how many entries are to be changed.
func (c *Change) Edits() int {
	n := 0
	for i := range c.Entries {
		if c.Entries[i].edited() {
			n++
		}
	}
	return n
}

func (e *Entry) edited() bool { return !bytes.Equal(e.was, e.is) }

func (c *Change) entry(f found) Entry {
	from, to := f.value.StartOffset, f.value.EndOffset
	line, _ := c.doc.place(f.keyAt)
	e := Entry{
		Project: f.project, Name: f.name, Line: line, inProj: f.inProj,
		from: from, keyAt: f.keyAt, was: c.doc.text[from:to], key: f.key,
	}
	e.is = e.was
	if c.options.Undo {
		c.undo(&e, f)
	} else {
		c.wrap(&e, f)
	}
	return e
}

func (c *Change) wrap(e *Entry, f found) {
	s, state, reason := classify(f.value, c.options.Bouncer)
	if state == "" && strings.ContainsRune(f.name, 0) {
		state, reason = Skipped, "its name holds a NUL, which no command line can carry"
	}
	if state != "" {
		e.State, e.Reason = state, reason
		return
	}
	is, err := wrapEntry(e.was, c.options.Bouncer, c.ownFlags(f))
	if err != nil {
		e.State, e.Reason = Skipped, err.Error()
		return
	}
	e.State, e.is, e.Notes = Wrapped, is, notes(f.value, s)
	if f.name == "" {
		e.Notes = append(e.Notes, "it has no name; policies and the log know it as "+unnamed)
	}
}

// unnamed is what a server whose name is the empty string is called: bouncer run takes an empty name for none.
const unnamed = "unnamed"

// ownFlags are the flags of bouncer run for one entry, as JSON strings; the name is spelled as it is in the file. A
// project block has no name of its own in the file, so there is nothing that --config and --upstream-name could find.
func (c *Change) ownFlags(f found) [][]byte {
	switch {
	case f.name == "":
		return [][]byte{[]byte(`"--name"`), hujson.String(unnamed)}
	case f.inProj:
		return [][]byte{[]byte(`"--name"`), f.key}
	default:
		return [][]byte{[]byte(`"--config"`), hujson.String(c.Path), []byte(`"--upstream-name"`), f.key}
	}
}

func (c *Change) undo(e *Entry, f found) {
	e.State = NotWrapped
	if _, ok := f.value.Value.(*hujson.Object); !ok {
		return
	}
	if _, ok := member(f.value, Sentinel); !ok {
		s, reason := readShape(f.value)
		if reason != "" || len(s.args) == 0 || s.args[0] != "run" || !isBouncer(s.command, c.options.Bouncer) {
			return
		}
		if !slices.Contains(c.options.Servers, f.name) || s.dash < 0 || s.dash+1 == len(s.args) {
			e.State = Skipped
			e.Reason = "it was wrapped by hand, or its " + Sentinel + " was lost; --server with its name unwraps it all the same"
			return
		}
	}
	is, err := unwrapEntry(e.was)
	if err != nil {
		e.State, e.Reason = Skipped, err.Error()
		return
	}
	e.State, e.is = Unwrapped, is
}

// notes are the warnings about the file.
func (c *Change) notes(none bool) []string {
	var out []string
	verb := "wrap"
	if c.options.Undo {
		verb = "unwrap"
	}
	if none {
		out = append(out, "nothing to "+verb+": it names no servers")
	}
	if key, whose, _ := c.doc.foreign(); key != "" {
		out = append(out, fmt.Sprintf("it also holds %q, the layout of %s: servers there are not protected", key, whose))
	}
	if c.Edits() == 0 {
		return out
	}
	about := clientOf(c.options.Client, c.Path)
	if c.doc.loose >= 0 {
		line, column := c.doc.place(c.doc.loose)
		whose := "some clients read"
		if about.strict {
			whose = about.title + " reads"
		}
		out = append(out, fmt.Sprintf("%d:%d: a comment or a trailing comma; %s strict JSON and may ignore this file", line, column, whose))
	}
	if about.advice != "" && filepath.Base(c.Path) != ".mcp.json" {
		out = append(out, about.advice)
	}
	if filepath.Base(c.Path) == ".mcp.json" && !c.options.Undo {
		out = append(out, "this file is often shared through version control, and paths of this machine are written into it")
	}
	return out
}

// result is the whole file with the edits made, byte order mark included.
func (c *Change) result() []byte {
	mark := len(c.snapshot.data) - len(c.doc.text)
	edits := make([]splice, 0, len(c.Entries))
	for i := range c.Entries {
		if e := &c.Entries[i]; e.edited() {
			edits = append(edits, splice{mark + e.from, mark + e.from + len(e.was), e.is})
		}
	}
	return apply(c.snapshot.data, edits)
}
