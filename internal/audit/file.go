package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Log is the audit file, shared by every Bouncer process of a user: each line is one write to a file opened for
// appending, so lines of several processes do not mix (B50).
type Log struct {
	path string

	mu   sync.Mutex
	file *os.File
	torn bool // the last write of this process ended inside a line
	buf  []byte
}

// Open opens, or makes with mode 0600, the log at path. Its directory is made with mode 0700 if it is not there.
func Open(path string) (*Log, error) {
	l := &Log{path: path}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("open audit log: %w", err)
	}
	return l, nil
}

func (l *Log) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	l.file, l.torn = f, endsTorn(f)
	return nil
}

// endsTorn reports whether the file ends inside a line: another process was killed, or its disk was full.
func endsTorn(f *os.File) bool {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return false
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, end-1); err != nil {
		return false
	}
	return last[0] != '\n'
}

// Append writes e as one line. When it returns nil the line is in the file; otherwise the caller must not forward what
// the line is about.
func (l *Log) Append(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.follow(); err != nil {
		return fmt.Errorf("audit log %s: %w", l.path, err)
	}
	l.buf = l.buf[:0]
	if l.torn {
		l.buf = append(l.buf, '\n') // the torn line stays, alone on its line, for verify to report
	}
	l.buf = e.append(l.buf)
	n, err := l.file.Write(l.buf)
	if n > 0 {
		l.torn = n < len(l.buf)
	}
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	if err != nil {
		return fmt.Errorf("audit log %s: %w", l.path, err)
	}
	return nil
}

// follow reopens the log when the path names another file: it was rotated by mv, or removed.
func (l *Log) follow() error {
	if l.file == nil {
		return errors.New("it is closed")
	}
	onDisk, err := os.Stat(l.path)
	if err == nil {
		var open os.FileInfo
		if open, err = l.file.Stat(); err != nil {
			return err
		}
		if os.SameFile(onDisk, open) {
			return nil
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l.file.Close()
	l.file = nil
	return l.open()
}

// Close closes the file. Later Appends are errors.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
