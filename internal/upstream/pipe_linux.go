package upstream

import (
	"os"

	"golang.org/x/sys/unix"
)

// blockingPipe is os.Pipe without the runtime's poller. A read through the poller parks the goroutine, and every
// message then pays for a wake-up by epoll and a hop between scheduler threads; a blocking read is woken by the kernel
// where it sleeps. The price is one OS thread per pipe, and a read or write that Close cannot interrupt.
func blockingPipe() (r, w *os.File, err error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	widen(fd[0])
	return os.NewFile(uintptr(fd[0]), "|0"), os.NewFile(uintptr(fd[1]), "|1"), nil
}

// widen gives a pipe room for a large answer, which then moves in one read and one write and not in sixteen of each. Over
// the user's quota the pipe stays as it is.
func widen(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, 1<<20) }
