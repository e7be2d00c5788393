package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Tail returns the last n verdicts of the log at path that filter wants, oldest first, as they stand there without
// their newlines. Rotated files are read where the current one does not have enough. A line that a crash left unfinished
// is among them unless a filter is given. The error is fs.ErrNotExist when there is no log.
func Tail(path string, n int, filter ...Filter) ([][]byte, error) {
	lines, _, err := tailTo(path, n, one(filter), true)
	return lines, err
}

func one(filter []Filter) Filter {
	if len(filter) == 0 {
		return Filter{}
	}
	return filter[0]
}

// cursor is where reading of the current file stopped.
type cursor struct {
	f  *os.File
	at int64
}

// tailTo is Tail; with torn false it leaves out an unfinished last line, and gives the current file open after the last
// whole one. The caller closes that.
func tailTo(path string, n int, filter Filter, torn bool) (lines [][]byte, c cursor, err error) {
	files, err := Files(path)
	if err != nil {
		return nil, c, err
	}
	for i := len(files) - 1; i >= 0; i-- {
		f, err := os.Open(files[i])
		if errors.Is(err, fs.ErrNotExist) {
			continue // retention was faster
		}
		if err != nil {
			return nil, c, fmt.Errorf("read audit log: %w", err)
		}
		last := i == len(files)-1
		end, err := backwards(f, torn || !last, func(line []byte) bool {
			if len(lines) < n && filter.wants(line) {
				lines = append(lines, bytes.Clone(line))
			}
			return len(lines) < n && !tooOld(line, filter)
		})
		if last && !torn {
			c = cursor{f, end}
		} else {
			f.Close()
		}
		if err != nil {
			return nil, c, fmt.Errorf("read audit log %s: %w", files[i], err)
		}
		if len(lines) >= n {
			break
		}
	}
	slices.Reverse(lines)
	return lines, c, nil
}

// tooOld reports whether no line before this one can be wanted. Writers' clocks and the order of their lines may differ
// a little.
func tooOld(line []byte, filter Filter) bool {
	if filter.Since.IsZero() {
		return false
	}
	r, ok := ReadRecord(line)
	return ok && r.Time.Before(filter.Since.Add(-time.Hour))
}

// backwards calls do for each line of f from the last to the first until it returns false. It returns the end of the
// last whole line.
func backwards(f *os.File, torn bool, do func([]byte) bool) (end int64, err error) {
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	var rest []byte // what is read of the line that crosses at
	begun := false  // the last line end was seen
	for at > 0 {
		size := min(at, 64<<10)
		at -= size
		text := make([]byte, int(size), int(size)+len(rest))
		if _, err := f.ReadAt(text, at); err != nil {
			return end, err
		}
		rest = append(text, rest...)
		if !begun {
			last := bytes.LastIndexByte(rest, '\n')
			if last < 0 && len(rest) < lineLimit {
				continue
			}
			begun, end = true, at+int64(last)+1
			if torn && last+1 < len(rest) && !do(rest[last+1:]) {
				return end, nil
			}
			rest = rest[:max(last, 0)]
		}
		for {
			nl := bytes.LastIndexByte(rest, '\n')
			if nl < 0 {
				break
			}
			if !do(rest[nl+1:]) {
				return end, nil
			}
			rest = rest[:nl]
		}
		if len(rest) > lineLimit {
			return end, errors.New("it has a line that this program did not write")
		}
	}
	if len(rest) > 0 && (begun || torn) {
		do(rest)
	}
	return end, nil
}

// followEvery is how often Follow looks.
const followEvery = 150 * time.Millisecond

// Follow calls do for the last n verdicts that filter wants and then for each that is added, until ctx ends or do fails.
// It goes on across rotations. The error is do's, or that of reading; nil when ctx ended.
func Follow(ctx context.Context, path string, n int, filter Filter, do func(line []byte) error) error {
	lines, c, err := tailTo(path, n, filter, false)
	if c.f != nil {
		defer func() { c.f.Close() }()
	}
	if err != nil {
		return err
	}
	for _, line := range lines {
		if err := do(line); err != nil {
			return err
		}
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		moved := c.f == nil || elsewhere(path, c.f) // before reading on, so that nothing of the old file is left out
		if c.f != nil {
			if err := c.read(filter, do); err != nil {
				return err
			}
		}
		if moved {
			if f, err := os.Open(path); err == nil {
				if c.f != nil {
					c.f.Close()
				}
				c = cursor{f: f}
				continue
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func elsewhere(path string, f *os.File) bool {
	at, _, err := whereIs(path)
	here, err2 := placeOf(f)
	return err == nil && err2 == nil && !at.same(here)
}

// read passes on what whole lines were added.
func (c *cursor) read(filter Filter, do func([]byte) error) error {
	from := c.at
	return eachLine(io.NewSectionReader(c.f, from, 1<<62), func(line []byte, end int64, whole bool) error {
		if !whole {
			return nil
		}
		c.at = from + end
		if filter.wants(line) {
			return do(line)
		}
		return nil
	})
}

// Scan calls do for every verdict of the log at path that filter wants, oldest first. Lines that are none are passed
// over: Verify is for those.
func Scan(path string, filter Filter, do func(Record)) error {
	files, err := Files(path)
	if err != nil {
		return err
	}
	for _, file := range files {
		f, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // retention was faster
		}
		if err == nil {
			err = eachLine(f, func(line []byte, _ int64, _ bool) error {
				if r, ok := ReadRecord(line); ok && filter.Match(r) {
					do(r)
				}
				return nil
			})
			f.Close()
		}
		if err != nil {
			return fmt.Errorf("read audit log %s: %w", file, err)
		}
	}
	return nil
}

// Find returns the lines of the call id, oldest first; none when the log does not know it.
func Find(path, id string) ([]Record, error) {
	var found []Record
	err := Scan(path, Filter{}, func(r Record) {
		if r.ID == id && id != "" {
			r.Line = bytes.Clone(r.Line)
			r.Args = bytes.Clone(r.Args)
			found = append(found, r)
		}
	})
	return found, err
}

// Describe renders one line of the log for people: time, verdict, server and tool, contract, reason. A line that is no
// entry is shown as such. Text of others is escaped.
func Describe(line []byte, colour bool) string {
	r, ok := ReadRecord(line)
	if !ok {
		return "???? unreadable line: " + destination.Visible(string(line), 120)
	}
	show := func(s string) string { return destination.Visible(s, 300) }
	verdict := fmt.Sprintf("%-5s", show(r.Verdict))
	if colour {
		verdict = paint(verdict, r.Verdict)
	}
	return fmt.Sprintf("%s  %s  %s  %s/%s  [%s] %s", r.Time.Format(time.DateTime), show(r.ID), verdict, show(r.Server), show(r.Tool), show(r.Contract), show(r.Reason))
}

func paint(s, verdict string) string {
	code := map[string]string{"allow": "32", "ask": "33", "deny": "31"}[verdict]
	if code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
