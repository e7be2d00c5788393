//go:build unix

package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isAt reports whether a file stands at path. It is asked for each decision, so it does without what os.Lstat makes.
func isAt(file fs.FileInfo, path string) bool {
	want, ok := file.Sys().(*syscall.Stat_t)
	var there syscall.Stat_t
	return ok && syscall.Lstat(path, &there) == nil && there.Dev == want.Dev && there.Ino == want.Ino
}

// createPrivate makes a file that its owner alone can read, and that was not there.
func createPrivate(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
}

// openPrivate opens a file to read it. What another user wrote or could write is not read: facts vouch, and taint.
func openPrivate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) {
		return nil, fmt.Errorf("%s is a link", path)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = private(path, info, false)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// private says why a file or directory is not this user's alone to write.
func private(path string, info fs.FileInfo, dir bool) error {
	switch {
	case dir && !info.IsDir():
		return fmt.Errorf("%s is no directory", path)
	case !dir && !info.Mode().IsRegular():
		return fmt.Errorf("%s is no plain file", path)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written by others (mode %04o); chmod go-w it", path, info.Mode().Perm())
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user", path)
	}
	return nil
}

// tryLock takes the lock of a file, which goes with the process that has it open.
func tryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			return errBusy
		}
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// writeBoth writes two pieces with one system call.
func writeBoth(f *os.File, a, b []byte) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	fault := raw.Write(func(fd uintptr) bool {
		for {
			n, err = unix.Writev(int(fd), [][]byte{a, b})
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
		return true
	})
	switch {
	case fault != nil:
		return 0, fault
	case err == nil && n < len(a)+len(b): // the kernel takes 2 GiB at once, and a full disk what is left of it
		err = io.ErrShortWrite
	}
	if err != nil {
		err = fmt.Errorf("write %s: %w", f.Name(), err)
	}
	return max(n, 0), err
}
