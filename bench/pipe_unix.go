//go:build unix

package main

import (
	"os"
	"syscall"
)

// pipe is os.Pipe with blocking ends: the driver must not pay for the runtime's poller, or all that stands behind it
// looks cheaper than it is.
func pipe() (r, w *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var fd [2]int
	if err := syscall.Pipe(fd[:]); err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	syscall.CloseOnExec(fd[0])
	syscall.CloseOnExec(fd[1])
	return os.NewFile(uintptr(fd[0]), "|0"), os.NewFile(uintptr(fd[1]), "|1"), nil
}
