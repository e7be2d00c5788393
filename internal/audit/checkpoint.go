package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// checkpoint signs what was written so far, in a line of its own and in the writer's head file. The caller holds l.mu.
func (l *Log) checkpoint(closed, look bool) error {
	if l.sealed == l.chain.seq && !closed {
		return nil
	}
	if _, _, err := whereIs(l.path); err != nil {
		return err // a log that was removed does not come back for a checkpoint, only for a verdict
	}
	l.sealing = true // nor its directory, which may go from here on
	defer func() { l.sealing = false }()
	if !l.born.IsZero() && time.Since(l.born) > l.opts.MaxAge {
		l.rotateAt, l.looked = 1, time.Time{}
	}
	size, err := l.follow() // before the statement: following may rotate, and that writes lines
	if err != nil {
		return err
	}
	s := statement{writer: l.chain.writer, seq: l.chain.seq, head: l.chain.hash(), segment: l.segment, closed: closed}
	if look {
		s.seen = others(l.file, size, s.writer)
	}
	if err := l.put(s.append(nil, l.key)); err != nil {
		return err
	}
	l.sealed = l.chain.seq
	l.saveHead(bytes.TrimPrefix(l.buf, []byte("\n")))
	return nil
}

func (s statement) append(b []byte, key note.Signer) []byte {
	signed, err := note.Sign(&note.Note{Text: s.text()}, key)
	if err != nil {
		signed = nil // not reached with a key that loadKey made; verify reports a checkpoint without a signature
	}
	b = appendQuoted(append(b, `{"checkpoint": `...), string(signed))
	b = time.Now().UTC().AppendFormat(append(b, `, "time": "`...), timeLayout)
	return append(b, '"')
}

// headsDir is where each writer's last checkpoint is kept outside the log, so that a log whose end was cut off does not
// look like a log that ends there.
func headsDir(path string) string { return path + ".heads" }

// saveHead keeps line, a checkpoint, as this writer's head. It is written beside and renamed: a kill leaves the old or the
// new one, and perhaps an unfinished file whose name begins with a dot, which nobody reads. It comes after the line is in the log, so a head never speaks of what was not written.
func (l *Log) saveHead(line []byte) {
	dir := headsDir(l.path)
	name, beside := filepath.Join(dir, l.chain.writer), filepath.Join(dir, "."+l.chain.writer)
	err := os.WriteFile(beside, line, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		os.Mkdir(dir, 0o700)
		err = os.WriteFile(beside, line, 0o600)
	}
	if err == nil {
		err = os.Rename(beside, name)
	}
	if err != nil { // a full disk: the log itself has the checkpoint
		os.Remove(beside)
	}
}

// dropHead removes the head file of a writer whose last line went with a removed file.
func (l *Log) dropHead(h head) {
	name := filepath.Join(headsDir(l.path), filepath.Base(h.writer))
	text, err := os.ReadFile(name)
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if t, ok := readTail(line); err == nil && (!ok || t.seq <= h.seq) {
		os.Remove(name)
	}
}

// seenMost bounds a checkpoint.
const seenMost = 16

// others finds the heads of other writers in the end of the file. A writer that was killed cannot vouch for its own
// last lines; those that wrote after it can.
func others(f *os.File, size int64, self string) (heads []head) {
	text := make([]byte, min(size, 64<<10))
	if _, err := f.ReadAt(text, size-int64(len(text))); err != nil {
		return nil
	}
	if int64(len(text)) < size {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	known := map[string]bool{self: true}
	for len(text) > 0 && len(heads) < seenMost {
		text = text[:len(text)-1]
		line := text[bytes.LastIndexByte(text, '\n')+1:]
		text = text[:len(text)-len(line)]
		if t, ok := readTail(line); ok && !known[t.writer] {
			known[t.writer] = true
			sum := sha256.Sum256(line)
			heads = append(heads, head{writer: t.writer, seq: t.seq, hash: hex.EncodeToString(sum[:])})
		}
	}
	return heads
}

// longest is how much of a file's end is searched for the beginning of its last line.
const longest = 8 << 20

// lastLine says where the last whole line of the file's first size bytes ends, and its digest.
func lastLine(f *os.File, size int64) (mark, error) {
	for n := int64(64 << 10); ; n *= 8 {
		n = min(n, size)
		text := make([]byte, n)
		if _, err := f.ReadAt(text, size-n); err != nil && err != io.EOF {
			return mark{}, fmt.Errorf("read its end: %w", err)
		}
		end := bytes.LastIndexByte(text, '\n')
		if end >= 0 {
			start := bytes.LastIndexByte(text[:end], '\n') + 1
			if start > 0 || n == size {
				sum := sha256.Sum256(text[start:end])
				return mark{size - n + int64(end) + 1, hex.EncodeToString(sum[:])}, nil
			}
		}
		if n == size || n >= longest {
			return mark{}, nil // no line, or none of this program's
		}
	}
}
