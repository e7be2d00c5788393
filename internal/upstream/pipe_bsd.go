//go:build unix && !linux

package upstream

import (
	"os"
	"syscall"
)

// blockingPipe is os.Pipe without the runtime's poller, for the reason given in pipe_linux.go. Not every system here
// has pipe2, so the fork lock keeps a child started meanwhile from inheriting the ends.
func blockingPipe() (r, w *os.File, err error) {
	var fd [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(fd[:]); err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	syscall.CloseOnExec(fd[0])
	syscall.CloseOnExec(fd[1])
	return os.NewFile(uintptr(fd[0]), "|0"), os.NewFile(uintptr(fd[1]), "|1"), nil
}

// widen does nothing: pipes here grow by themselves.
func widen(int) {}
