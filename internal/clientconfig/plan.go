package clientconfig

import (
	"bytes"
	"errors"
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
	Binary  string   // of an Already, the program that stands in front

	found
	showAt  int    // where what a diff shows of it begins
	was, is []byte // the text that an edit may change, before and after; equal when it is not edited
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
	doc, err := parse(s.path, s.data, o.Client)
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
		c.partly = c.partly || has || f.form.inline && behind(f, o.Bouncer)
		if len(o.Servers) > 0 && !slices.Contains(o.Servers, f.name) {
			continue
		}
		c.Entries = append(c.Entries, c.entry(f))
	}
	c.prove(all)
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
	line, _ := c.doc.place(f.keyAt)
	e := Entry{Project: f.project, Name: f.name, Line: line, found: f, showAt: f.keyAt, was: c.doc.text[f.from:f.to]}
	if f.parts != nil {
		e.showAt = f.from
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
	s, state, reason := classify(f, c.options.Bouncer)
	if state == "" && strings.ContainsRune(f.name, 0) {
		state, reason = Skipped, "its name holds a NUL, which no command line can carry"
	}
	if state != "" {
		if e.State, e.Reason = state, reason; state == Already {
			e.Binary, e.Notes = s.command, asksNobody(f.outer)
		}
		return
	}
	is, err := c.wrapped(e, f, s)
	if err != nil {
		e.State, e.Reason = Skipped, err.Error()
		return
	}
	e.State, e.is, e.Notes = Wrapped, is, notes(f.outer, s)
	if f.name == "" {
		e.Notes = append(e.Notes, "it has no name; policies and the log know it as "+unnamed)
	}
}

func (c *Change) wrapped(e *Entry, f found, s shape) ([]byte, error) {
	if f.parts != nil {
		return f.parts.wrap(c.doc.text, f, c.options.Bouncer, s)
	}
	return wrapEntry(e.was, c.options.Bouncer, c.ownFlags(f, s), f.form)
}

// behind reports whether an entry stands behind a Bouncer.
func behind(f found, bouncer string) bool {
	_, state, _ := classify(f, bouncer)
	return state == Already
}

// unnamed is what a server whose name is the empty string is called: bouncer run takes an empty name for none.
const unnamed = "unnamed"

// ownFlags are the flags of bouncer run for one entry, as JSON strings; the name is spelled as it is in the file. A
// project block has no name of its own in the file, so there is nothing that --config and --upstream-name could find.
func (c *Change) ownFlags(f found, s shape) [][]byte {
	name := f.key
	if f.name == "" {
		name = hujson.String(unnamed)
	}
	switch {
	case f.form.inline && !s.hasArgs:
		return [][]byte{slices.Concat([]byte(`"--name=`), name[1:])}
	case f.form.inline || f.inProj || f.name == "":
		return [][]byte{[]byte(`"--name"`), name}
	default:
		return [][]byte{[]byte(`"--config"`), hujson.String(c.Path), []byte(`"--upstream-name"`), name}
	}
}

// runName is what an entry is called on a command line of its own.
func (f found) runName() string {
	if f.name == "" {
		return unnamed
	}
	return f.name
}

func (c *Change) undo(e *Entry, f found) {
	e.State = NotWrapped
	if _, ok := f.value.Value.(*hujson.Object); !ok {
		return
	}
	s, reason := readShape(f.value, f.form)
	if _, ok := member(f.value, Sentinel); !ok {
		if reason != "" || len(s.args) == 0 || s.args[0] != "run" || !isBouncer(s.command, c.options.Bouncer) {
			return
		}
		name, _ := s.ownName()
		ours := f.form.inline && name == f.runName()
		if !ours && !slices.Contains(c.options.Servers, f.name) || s.dash < 0 || s.dash+1 == len(s.args) {
			e.State = Skipped
			e.Reason = "it was wrapped by hand, or its " + Sentinel + " was lost; --server with its name unwraps it all the same"
			return
		}
	}
	is, err := c.unwrapped(e, f, s)
	if err != nil {
		e.State, e.Reason = Skipped, err.Error()
		return
	}
	e.State, e.is = Unwrapped, is
}

func (c *Change) unwrapped(e *Entry, f found, s shape) ([]byte, error) {
	switch {
	case f.why != "":
		return nil, errors.New(f.why)
	case f.parts != nil:
		return f.parts.unwrap(c.doc.text, f, s)
	default:
		return unwrapEntry(e.was, f.form)
	}
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
	if l, _ := c.doc.foreign(); l.key != "" {
		out = append(out, fmt.Sprintf("it also holds %q, the layout of %s: servers there are not protected", l.key, l.whose))
	}
	if c.Edits() == 0 {
		return out
	}
	about := c.doc.client
	if c.doc.loose >= 0 && (about.name == "" || about.strict) { // the others are known to read comments
		line, column := c.doc.place(c.doc.loose)
		whose := "some clients read"
		if about.strict {
			whose = about.title + " reads"
		}
		out = append(out, fmt.Sprintf("%d:%d: a comment or a trailing comma; %s strict JSON and may ignore this file", line, column, whose))
	}
	if about.name != "" && !about.elicits && !c.options.Undo {
		out = append(out, about.title+" is not known to show a server's questions: what Bouncer would ask there is denied")
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
