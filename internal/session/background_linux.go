package session

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// inBackground makes the calling goroutine's thread one that yields to others: on a small machine indexing would
// otherwise take the processor that the relay is about to need. Lowering a priority needs no right and cannot be taken
// back, so the thread stays with the goroutine and ends with it.
func inBackground() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 10)
}
