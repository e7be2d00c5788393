//go:build unix && !linux

package audit

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// place is a file's identity: two names of one file share it.
type place struct{ dev, ino uint64 }

func (p place) same(q place) bool { return p == q }

// whereIs says which file path names and how large it is. It stands in the path of every line.
func whereIs(path string) (place, int64, error) {
	var st unix.Stat_t
	for {
		err := unix.Stat(path, &st)
		if err == nil {
			return place{uint64(st.Dev), uint64(st.Ino)}, st.Size, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return place{}, 0, &os.PathError{Op: "stat", Path: path, Err: err}
		}
	}
}

func placeOf(f *os.File) (place, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return place{}, err
	}
	return place{uint64(st.Dev), uint64(st.Ino)}, nil
}

// sizeOf is the size of an open file, and whether a name is left of it.
func sizeOf(f *os.File) (size int64, named bool, err error) {
	var st unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &st)
	return st.Size, st.Nlink > 0, err
}
