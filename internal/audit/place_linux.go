package audit

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// place is a file's identity: two names of one file share it.
type place struct {
	major, minor uint32
	ino          uint64
}

func (p place) same(q place) bool { return p == q }

// whereIs says which file path names and how large it is.
func whereIs(path string) (place, int64, error) {
	var st unix.Statx_t
	if err := statx(unix.AT_FDCWD, path, 0, &st); err != nil {
		return place{}, 0, &os.PathError{Op: "statx", Path: path, Err: err}
	}
	return placeIn(&st), int64(st.Size), nil
}

func placeOf(f *os.File) (place, error) {
	var st unix.Statx_t
	err := statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, &st)
	return placeIn(&st), err
}

func placeIn(st *unix.Statx_t) place { return place{st.Dev_major, st.Dev_minor, st.Ino} }

// sizeOf is the size of an open file, and whether a name is left of it.
func sizeOf(f *os.File) (size int64, named bool, err error) {
	var st unix.Statx_t
	err = statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, &st)
	return int64(st.Size), st.Nlink > 0, err
}

// statx stands in the path of every line. It asks for no times: once somebody has asked for them the kernel gives the
// next write a time of its own, which costs more than the write.
func statx(fd int, path string, flags int, st *unix.Statx_t) error {
	for {
		err := unix.Statx(fd, path, flags, unix.STATX_INO|unix.STATX_SIZE|unix.STATX_NLINK, st)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
