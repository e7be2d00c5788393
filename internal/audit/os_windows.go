package audit

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func tryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errBusy
	}
	return err
}

// place is a file's identity: two names of one file share it.
type place struct{ info os.FileInfo }

func (p place) same(q place) bool { return os.SameFile(p.info, q.info) }

// whereIs says which file path names and how large it is.
func whereIs(path string) (place, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return place{}, 0, err
	}
	return place{info}, info.Size(), nil
}

func placeOf(f *os.File) (place, error) {
	info, err := f.Stat()
	return place{info}, err
}

// sizeOf is the size of an open file, and whether a name is left of it: one that is open cannot be removed here.
func sizeOf(f *os.File) (size int64, named bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), true, nil
}
