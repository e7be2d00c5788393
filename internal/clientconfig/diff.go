package clientconfig

import (
	"bytes"
	"fmt"
	"strings"
)

// Diff returns the edits as a unified diff without context, a hunk an entry, for people: secrets are hidden, control
// characters are spelled out, and an entry that shares its line with others is shown alone.
func (c *Change) Diff() string {
	if c.Edits() == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", Visible(c.Path), Visible(c.Path))
	shift := 0
	for i := range c.Entries {
		e := &c.Entries[i]
		if !e.edited() {
			continue
		}
		was, is := c.shown(e, e.was), c.shown(e, e.is)
		line, _ := c.doc.place(e.showAt)
		about := ""
		if e.parts != nil { // its name does not stand in the lines that are shown
			about = " " + Visible(e.Name)
		}
		writeHunks(&b, was, is, line, line+shift, about)
		shift += len(is) - len(was)
	}
	return b.String()
}

// shown returns the lines of an entry, from its name on.
func (c *Change) shown(e *Entry, text []byte) []string {
	lead := c.doc.text[:e.showAt]
	lead = lead[bytes.LastIndexByte(lead, '\n')+1:]
	if !isSpace(lead) {
		lead = nil
	}
	whole := string(lead)
	if e.parts != nil {
		whole += maskLines(string(text))
	} else {
		whole += string(c.doc.text[e.showAt:e.from]) + string(maskEntry(text))
	}
	lines := strings.Split(whole, "\n")
	for i := range lines {
		lines[i] = Visible(strings.TrimSuffix(lines[i], "\r"))
	}
	return lines
}

// writeHunks writes what differs between two texts whose first lines are the lines a and b of their files.
func writeHunks(w *strings.Builder, old, new []string, a, b int, about string) {
	for _, h := range hunks(old, new) {
		fmt.Fprintf(w, "@@ -%s +%s @@%s\n", span(a, h[0], h[1]), span(b, h[2], h[3]), about)
		for _, line := range old[h[0]:h[1]] {
			fmt.Fprintf(w, "-%s\n", line)
		}
		for _, line := range new[h[2]:h[3]] {
			fmt.Fprintf(w, "+%s\n", line)
		}
	}
}

func span(first, from, to int) string {
	if from == to {
		from-- // a hunk without lines names the one before it
	}
	if to-from == 1 && from >= 0 {
		return fmt.Sprint(first + from)
	}
	return fmt.Sprintf("%d,%d", first+from, max(0, to-from))
}

// most is how many lines of an entry are compared with each other; beyond, all of it counts as changed.
const most = 1000

// hunks returns the stretches in which two texts differ: from and to in old, from and to in new.
func hunks(old, new []string) [][4]int {
	if len(old) > most || len(new) > most {
		return [][4]int{{0, len(old), 0, len(new)}}
	}
	common := make([][]int, len(old)+1) // common[i][j]: how many lines old[i:] and new[j:] share
	for i := range common {
		common[i] = make([]int, len(new)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i] == new[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out [][4]int
	i, j := 0, 0
	for i < len(old) || j < len(new) {
		if i < len(old) && j < len(new) && old[i] == new[j] {
			i, j = i+1, j+1
			continue
		}
		h := [4]int{i, i, j, j}
		for i < len(old) && (j == len(new) || old[i] != new[j] && common[i+1][j] >= common[i][j+1]) {
			i++
		}
		for j < len(new) && (i == len(old) || old[i] != new[j]) {
			j++
		}
		h[1], h[3] = i, j
		out = append(out, h)
	}
	return out
}
