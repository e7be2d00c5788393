package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// isAt reports whether a file stands at path.
func isAt(file fs.FileInfo, path string) bool {
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(file, there)
}

// createPrivate makes a file that was not there. Who may read it is what the user's profile directory says.
func createPrivate(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
}

// openPrivate opens a file to read it, unless it is a link.
func openPrivate(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := private(path, info, false); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// private says why a file or directory is not taken. Owners and access lists are not looked at here.
func private(path string, info fs.FileInfo, dir bool) error {
	if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 || info.IsDir() != dir {
		return fmt.Errorf("%s is a link, or not what it should be", path)
	}
	return nil
}

// farAway is where the lock lies: a locked range cannot be read by others.
const farAway = 1 << 30

// tryLock takes the lock of a file, which goes with the process that has it open.
func tryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{OffsetHigh: farAway})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errBusy
	}
	return err
}

// writeBoth writes two pieces with one system call.
func writeBoth(f *os.File, a, b []byte) (int, error) {
	return f.Write(append(append(make([]byte, 0, len(a)+len(b)), a...), b...))
}
