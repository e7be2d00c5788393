package clientconfig

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// mostTried is how many entries are tried one by one after all of them together went wrong.
const mostTried = 100

// prove reads a TOML or YAML text again as it would be written, and takes back every edit that does not do exactly what
// it should: start the same, say the same elsewhere, and be reversible to the byte. JSON is written by simpler rules, which
// wrapEntry checks entry by entry.
func (c *Change) prove(all []found) {
	if c.doc.read == nil || c.Edits() == 0 {
		return
	}
	edits := c.agreedSplices()
	if c.holds(all, edits) == nil {
		return
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		if e.edited() && (len(edits) > mostTried || c.holds(all, []splice{e.splice()}) != nil) {
			e.giveUp()
		}
	}
	if err := c.holds(all, c.agreedSplices()); err != nil {
		for i := range c.Entries {
			c.Entries[i].giveUp()
		}
	}
}

func (e *Entry) splice() splice { return splice{e.from, e.from + len(e.was), e.is} }

func (e *Entry) giveUp() {
	if e.edited() {
		e.is, e.State, e.Reason, e.Notes = e.was, Skipped, "editing it would change more than its command: do it by hand", nil
	}
}

func (c *Change) agreedSplices() (out []splice) {
	for i := range c.Entries {
		if c.Entries[i].edited() {
			out = append(out, c.Entries[i].splice())
		}
	}
	return out
}

var errNotProved = errors.New("the edited text does not say what it should")

// holds checks what prove promises, for these edits.
func (c *Change) holds(all []found, edits []splice) error {
	text := apply(c.doc.text, edits)
	doc, err := parse(c.Path, text, c.options.Client)
	if err != nil {
		return err
	}
	now, err := doc.entries()
	if err != nil {
		return err
	}
	if len(now) != len(all) {
		return errNotProved
	}
	var back []splice
	var edited []found
	for i := range all {
		isEdited := slices.ContainsFunc(edits, func(s splice) bool { return s.from == all[i].from && s.to == all[i].to })
		if now[i].name != all[i].name || now[i].block != all[i].block || !c.same(all[i], now[i], isEdited) {
			return errNotProved
		}
		if !isEdited {
			continue
		}
		edited = append(edited, all[i])
		if !c.options.Undo {
			s, _ := readShape(now[i].value, now[i].form)
			was, err := now[i].parts.unwrap(doc.text, now[i], s)
			if err != nil {
				return err
			}
			back = append(back, splice{now[i].from, now[i].to, was})
		}
	}
	if !c.options.Undo && !bytes.Equal(apply(text, back), c.doc.text) {
		return errNotReversible
	}
	return sameElsewhere(c.Path, c.doc.text, text, edited)
}

// same reports whether an entry starts what it should after the edit.
func (c *Change) same(was, is found, edited bool) bool {
	a, reasonA := readShape(was.value, was.form)
	b, reasonB := readShape(is.value, is.form)
	if reasonA != reasonB {
		return false
	}
	before, after := append([]string{a.command}, a.args...), append([]string{b.command}, b.args...)
	if !edited {
		return slices.Equal(before, after)
	}
	if c.options.Undo {
		a, b, before, after = b, a, after, before
	}
	return b.command == c.options.Bouncer && b.dash >= 0 && slices.Equal(before, b.args[b.dash+1:]) ||
		c.options.Undo && b.dash >= 0 && slices.Equal(before, b.args[b.dash+1:])
}

// sameElsewhere reports an error unless two texts say the same but for the words of the edited entries.
func sameElsewhere(path string, was, is []byte, edited []found) error {
	strip := stripYAML
	if strings.EqualFold(filepath.Ext(path), ".toml") {
		strip = stripTOML
	}
	a, err := strip(was, edited)
	if err != nil {
		return err
	}
	b, err := strip(is, edited)
	if err != nil {
		return err
	}
	if a != b {
		return errNotProved
	}
	return nil
}
