package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// segmentName is the name of a rotated file: audit.jsonl becomes audit.000001.jsonl.
func segmentName(path string, number int) string {
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s.%06d%s", strings.TrimSuffix(path, ext), number, ext)
}

// segmentNumber is the number in a rotated file's name, 0 when name is not one of path's.
func segmentNumber(path, name string) int {
	ext := filepath.Ext(path)
	digits, ok := strings.CutPrefix(name, strings.TrimSuffix(filepath.Base(path), ext)+".")
	digits, ok2 := strings.CutSuffix(digits, ext)
	n, err := strconv.Atoi(digits)
	if !ok || !ok2 || err != nil || n < 1 || name != filepath.Base(segmentName(path, n)) {
		return 0
	}
	return n
}

// rotated lists the numbers of the rotated files of the log at path, oldest first.
func rotated(path string) ([]int, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	current, statErr := os.Stat(path)
	var numbers []int
	for _, entry := range entries {
		n := segmentNumber(path, entry.Name())
		if n == 0 {
			continue
		}
		// A rotation that was killed half way leaves a second name of the current file.
		if info, err := os.Stat(segmentName(path, n)); err != nil || statErr == nil && os.SameFile(info, current) {
			continue
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers, nil
}

// beginning reads the first line: the file's number, and when it was begun.
func (l *Log) beginning(f *os.File) (number int, born time.Time) {
	first, _ := bufio.NewReaderSize(io.NewSectionReader(f, 0, longest), 4096).ReadBytes('\n')
	v, err := jsonrpc.DecodeLenient(bytes.TrimSpace(first))
	if err == nil {
		when, _ := v.Get("time")
		born, _ = time.Parse(timeLayout, when.Text)
		if segment, ok := v.Get("segment"); ok {
			n, _ := segment.Get("number")
			number, _ = strconv.Atoi(n.Text)
		}
	}
	if number > 0 {
		return number, born
	}
	if numbers, err := rotated(l.path); err == nil && len(numbers) > 0 {
		return numbers[len(numbers)-1] + 1, born
	}
	return 1, born
}

// rotate gives the file its number and begins a new one, which names the old one's last lines. Only one process does;
// the others notice that the name has moved on. A line that one of them writes to the old file meanwhile is good there:
// its writer's chain goes on in the new one. The caller holds l.mu.
func (l *Log) rotate() error {
	unlock, err := lockFor(l.path+".lock", 0)
	if err != nil {
		return err
	}
	defer unlock()
	at, size, err := whereIs(l.path)
	if err != nil || !at.same(l.place) {
		return err // somebody else has
	}
	old, err := survey(l.file, size)
	if err != nil {
		return err
	}
	name := segmentName(l.path, l.segment)
	switch there, _, err := whereIs(name); {
	case err == nil && !there.same(l.place):
		return fmt.Errorf("%s is there already", name)
	case errors.Is(err, fs.ErrNotExist):
		// The path names a file at every moment: a link first, then a rename over it.
		if err := os.Link(l.path, name); err != nil {
			return err
		}
	}
	old.file = filepath.Base(name)
	gone, carried := l.expired()
	next, err := l.begin(old, gone, carried)
	if err != nil {
		os.Remove(name)
		return err
	}
	l.chain, l.sealed = next, next.seq
	for _, s := range gone {
		os.Remove(filepath.Join(filepath.Dir(l.path), s.file))
		for _, h := range s.heads {
			l.dropHead(h)
		}
	}
	return nil
}

// begin writes the new file's first lines and puts it in the old one's place.
func (l *Log) begin(old segment, gone []segment, carried []head) (chain, error) {
	next := l.chain
	b := strconv.AppendInt([]byte(`{"segment": {"number": `), int64(l.segment+1), 10)
	b = old.append(append(b, `, "previous": `...))
	b = append(b, `, "removed": [`...)
	for i, s := range gone {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = s.append(b)
	}
	b = appendHeads(append(b, `], "carried": `...), carried)
	b = time.Now().UTC().AppendFormat(append(b, `}, "time": "`...), timeLayout)
	b = append(b, '"')
	var err error
	if next.seq == 0 {
		if b, err = next.introduce(b, mark{}, l.key); err != nil {
			return next, err
		}
	}
	b = next.finish(b, 0, 0)
	from := len(b)
	s := statement{writer: next.writer, seq: next.seq, head: next.hash(), segment: l.segment + 1}
	b = next.finish(s.append(b, l.key), from, int64(from))
	temp := l.path + ".next"
	if err = os.WriteFile(temp, b, 0o600); err == nil {
		err = os.Rename(temp, l.path)
	}
	if err != nil {
		os.Remove(temp)
		return next, err
	}
	l.saveHead(b[from:])
	return next, nil
}

// expired says which rotated files retention takes away now, the oldest first and none out of turn, and which heads of
// files that went before them somebody may still refer to.
func (l *Log) expired() (gone []segment, carried []head) {
	numbers, err := rotated(l.path)
	if err != nil {
		return nil, nil
	}
	for i, n := range numbers {
		name := segmentName(l.path, n)
		info, err := os.Stat(name)
		// The file that is being rotated counts too, but is not among them yet.
		if err != nil || len(numbers)-i+1 <= l.opts.Keep && (l.opts.KeepFor <= 0 || time.Since(info.ModTime()) < l.opts.KeepFor) {
			break
		}
		f, err := os.Open(name)
		if err != nil {
			break
		}
		s, err := survey(f, info.Size())
		first, _ := firstLine(f)
		f.Close()
		if err != nil {
			break // what cannot be described is not removed
		}
		s.file = filepath.Base(name)
		gone = append(gone, s)
		if header, ok := readHeader(first); ok {
			for _, r := range header.removed {
				carried = append(carried, r.heads...)
			}
			carried = append(carried, header.carried...)
		}
	}
	return gone, unclosed(carried)
}

// carriedMost bounds a first line.
const carriedMost = 1000

// unclosed leaves out writers that said they were done: nothing of theirs follows.
func unclosed(heads []head) []head {
	heads = slices.DeleteFunc(heads, func(h head) bool { return h.closed })
	return heads[max(0, len(heads)-carriedMost):]
}

// segment describes a file: what it held when somebody looked.
type segment struct {
	file  string
	size  int64
	line  string
	heads []head
}

func (s segment) append(b []byte) []byte {
	b = appendQuoted(append(b, `{"file": `...), s.file)
	b = strconv.AppendInt(append(b, `, "size": `...), s.size, 10)
	b = append(append(append(b, `, "line": "`...), s.line...), `", "heads": `...)
	return append(appendHeads(b, s.heads), '}')
}

func appendHeads(b []byte, heads []head) []byte {
	b = append(b, '[')
	for i, h := range heads {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendQuoted(append(b, `{"writer": `...), h.writer)
		b = strconv.AppendUint(append(b, `, "seq": `...), h.seq, 10)
		b = append(append(append(b, `, "line": "`...), h.hash...), '"')
		if h.closed {
			b = append(b, `, "closed": true`...)
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// survey reads the first size bytes of f: the last line of each writer. It is one pass over a file that the size limit
// bounds, once a rotation.
func survey(f *os.File, size int64) (segment, error) {
	s := segment{}
	type span struct{ from, to int64 }
	last := map[string]*span{}
	var order []string
	var from int64
	err := eachLine(io.NewSectionReader(f, 0, size), func(line []byte, end int64, whole bool) error {
		if name := writerOf(line); name != nil && whole {
			at := last[string(name)]
			if at == nil {
				at = &span{}
				last[string(name)], order = at, append(order, string(name))
			}
			at.from, at.to = from, end-1
		}
		from = end
		return nil
	})
	if err != nil {
		return s, err
	}
	m, err := lastLine(f, size)
	if err != nil {
		return s, err
	}
	s.size, s.line = m.size, m.line
	for _, name := range order {
		at := last[name]
		line := make([]byte, at.to-at.from)
		if _, err := f.ReadAt(line, at.from); err != nil {
			return s, err
		}
		t, ok := readTail(line)
		if !ok {
			continue
		}
		sum := sha256.Sum256(line)
		closed := bytes.HasPrefix(line, []byte(`{"checkpoint": `)) && bytes.Contains(line, []byte(`\nstate closed\n`))
		s.heads = append(s.heads, head{name, t.seq, hex.EncodeToString(sum[:]), closed})
	}
	return s, nil
}

// writerOf is the writer's name in a line, nil when it has none. readTail says whether the rest is in order.
func writerOf(line []byte) []byte {
	line = line[max(0, len(line)-longestTail):]
	at := bytes.LastIndex(line, []byte(tailMark))
	if at < 0 {
		return nil
	}
	name, _, ok := bytes.Cut(line[at+len(tailMark):], []byte(`"`))
	if !ok {
		return nil
	}
	return name
}
