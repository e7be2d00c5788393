package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// snapshot is a config file as it was at one moment.
type snapshot struct {
	path string // absolute, links and all: what the user calls it
	real string // where it is
	info fs.FileInfo
	data []byte
}

func readSnapshot(path string) (*snapshot, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("config %s: %w", path, err)
	}
	s := &snapshot{path: abs}
	if s.real, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, linkError(abs, err)
	}
	if s.info, err = os.Stat(s.real); err != nil {
		return nil, fmt.Errorf("config %s: %w", abs, err)
	}
	if !s.info.Mode().IsRegular() { // before it is opened: a FIFO would wait for ever
		return nil, &Refused{Path: abs, Why: "it is not a regular file"}
	}
	if s.info.Size() > maxFile {
		return nil, &Refused{Path: abs, Why: fmt.Sprintf("it has more than %d bytes", maxFile)}
	}
	return s, s.load()
}

// load reads the file that the snapshot's info is of.
func (s *snapshot) load() error {
	f, err := os.OpenFile(s.real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("config %s: %w", s.path, err)
	}
	defer f.Close()
	if s.info, err = f.Stat(); err != nil {
		return fmt.Errorf("config %s: %w", s.path, err)
	}
	if !s.info.Mode().IsRegular() {
		return &Refused{Path: s.path, Why: "it is not a regular file"}
	}
	buffer := bytes.NewBuffer(make([]byte, 0, min(s.info.Size(), maxFile)+bytes.MinRead))
	if _, err := io.Copy(buffer, io.LimitReader(f, maxFile+1)); err != nil {
		return fmt.Errorf("config %s: %w", s.path, err)
	}
	if s.data = buffer.Bytes(); len(s.data) > maxFile {
		return &Refused{Path: s.path, Why: fmt.Sprintf("it has more than %d bytes", maxFile)}
	}
	return nil
}

func linkError(path string, err error) error {
	if _, lerr := os.Lstat(path); lerr != nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("config %s: %w", path, err)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Refused{Path: path, Why: "it is a link that leads nowhere"}
	case errors.Is(err, syscall.ELOOP) || strings.Contains(err.Error(), "too many links"):
		return &Refused{Path: path, Why: "its links go round in a circle"}
	}
	return &Refused{Path: path, Why: err.Error()}
}

// writable refuses a file that its owner has closed to writing. The mode bits are asked, not the kernel: a rename would
// succeed over a 0444 file, and root may write anything (C37).
func (s *snapshot) writable() error {
	if s.info.Mode()&0o200 == 0 {
		return &Refused{Path: s.path, Why: fmt.Sprintf("it is read-only (mode %04o)", s.info.Mode().Perm()),
			Hint: "something else may own this file; change it there, or make it writable"}
	}
	dir := filepath.Dir(s.real)
	info, err := os.Stat(dir)
	if err != nil {
		return &Refused{Path: s.path, Why: err.Error()}
	}
	if info.Mode()&0o200 == 0 {
		return &Refused{Path: s.path, Why: fmt.Sprintf("its directory %s is read-only (mode %04o)", Visible(dir), info.Mode().Perm()),
			Hint: "something else may own this file; change it there, or make the directory writable"}
	}
	return nil
}

// unchanged reports whether the file is still the one that was read: the same one behind the same links, with the same
// bytes and mode.
func (s *snapshot) unchanged() bool {
	now, err := readSnapshot(s.path)
	return err == nil && now.real == s.real && os.SameFile(now.info, s.info) &&
		now.info.Mode() == s.info.Mode() && bytes.Equal(now.data, s.data)
}
