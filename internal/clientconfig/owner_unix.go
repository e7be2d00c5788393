//go:build unix

package clientconfig

import (
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of info. That it cannot is an error: with another owner, the mode would say
// something else.
func keepOwner(f *os.File, info os.FileInfo) error {
	want, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	have, err := f.Stat()
	if err != nil {
		return err
	}
	if got, ok := have.Sys().(*syscall.Stat_t); ok && got.Uid == want.Uid && got.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
