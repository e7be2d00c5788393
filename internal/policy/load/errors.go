package load

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// Error is one thing that is wrong with a policy file.
type Error struct {
	At   policy.Position
	What string // lower case, one line
}

func (e Error) Error() string { return e.At.String() + ": " + e.What }

// Errors is everything that is wrong with one file, in file order; never empty.
type Errors struct{ List []Error }

// Error returns one line for each.
func (e *Errors) Error() string {
	lines := make([]string, len(e.List))
	for i, one := range e.List {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// reader collects errors while a file is read.
type reader struct {
	file   string
	widths []int // runes in each line
	pack   bool
	wide   bool                // the file is in the full format
	known  map[string][]string // its destination groups
	kind   string              // what sort of file it is, for messages
	errs   []Error
}

func newReader(file string, data []byte) *reader {
	r := &reader{file: file, kind: "a policy"}
	if len(data) <= maxSize {
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			r.widths = append(r.widths, utf8.RuneCount(line))
		}
	}
	return r
}

// at notes an error. Its position is moved into the file: the end of a file has no character of its own.
func (r *reader) at(line, column int, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	r.errs = append(r.errs, Error{r.position(line, column), what})
}

func (r *reader) position(line, column int) policy.Position {
	last := max(1, len(r.widths))
	if line > last {
		line, column = last, 1<<30
	}
	line = max(1, line)
	width := 0
	if line <= len(r.widths) {
		width = r.widths[line-1]
	}
	return policy.Position{File: r.file, Line: line, Column: min(max(1, column), width+1)}
}

func (r *reader) result() error {
	if len(r.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(r.errs, func(a, b Error) int {
		if a.At.Line != b.At.Line {
			return a.At.Line - b.At.Line
		}
		return a.At.Column - b.At.Column
	})
	return &Errors{r.errs}
}

// show quotes text of the file for a message: control characters made visible, and never longer than a line.
func show(s string) string {
	const most = 60
	if len(s) > 4*most { // cut bytes first: a message may be made for every item under a key of a megabyte
		s = strings.ToValidUTF8(s[:4*most], "")
	}
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

// suggest returns the key that was probably meant, as the end of a message.
func suggest(s string, keys []string) string {
	if near, ok := policy.Nearest(s, keys); ok {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
