//go:build unix

package upstream

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Stdio returns Bouncer's own stdin and stdout for the protocol, as blocking files (see blockingPipe). Call it once.
//
// They are duplicates with numbers above 2. For numbers 1 and 2 the runtime turns EPIPE into death by SIGPIPE: a
// client that closes its end first would kill Bouncer before the last call is in the audit log (B49). Through these
// files it is an error like any other.
func Stdio() (in, out *os.File) {
	in, out = blockingDup(os.Stdin, unix.Stdin), blockingDup(os.Stdout, unix.Stdout)
	widen(int(out.Fd()))
	return in, out
}

// Stderr returns Bouncer's own stderr with the same properties, for what relays servers' stderr: a client that closes
// its log must not kill Bouncer by SIGPIPE.
func Stderr() *os.File { return blockingDup(os.Stderr, unix.Stderr) }

// blockingDup duplicates fd. Without a free descriptor the original has to do.
func blockingDup(original *os.File, fd int) *os.File {
	if isStream(original) {
		// A client can hand over its end in non-blocking mode, which is a property of the open file and not of the
		// descriptor. Terminals are shared with other programs and left as they are.
		_ = syscall.SetNonblock(fd, false)
	}
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return original
	}
	return os.NewFile(uintptr(dup), original.Name())
}

// Hangup returns a channel that is closed when the other end of f, a pipe or socket that Bouncer reads, is closed: the
// client is gone, or has said its last word. It tells so also while the goroutine that reads f is busy, for example
// blocked in a write to a server that does not read.
//
// It does not say that everything was read: a client that closes stdin right after a call is owed its answer (B49). So
// what it starts is a time limit, not a kill.
//
// For a terminal, a regular file or a nil f the channel is nil and never fires; a closed f has hung up. The wait is a
// poll(2) on a duplicate of f, which costs a parked thread and holds f's open file until the other end is closed.
func Hangup(f *os.File) <-chan struct{} {
	if f == nil {
		return nil
	}
	fired := make(chan struct{})
	dup, err := duplicateStream(f)
	switch {
	case errors.Is(err, os.ErrClosed):
		close(fired)
		return fired
	case err != nil:
		return nil // not a stream; or no descriptor left, and the reader still sees the end of f
	}
	go func() {
		defer close(fired)
		defer unix.Close(dup)
		awaitHangup(dup)
	}()
	return fired
}

// duplicateStream duplicates the descriptor of f, which must be a pipe or a socket. It does not use Fd, which would
// switch a file of the runtime's poller to blocking mode behind its reader's back.
func duplicateStream(f *os.File) (dup int, err error) {
	if _, err := f.Stat(); err != nil {
		return -1, err
	}
	if !isStream(f) {
		return -1, errors.ErrUnsupported
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	controlErr := conn.Control(func(fd uintptr) { dup, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3) })
	return dup, errors.Join(err, controlErr)
}

// awaitHangup blocks until the peer of fd is gone. Data that arrives does not wake it.
func awaitHangup(fd int) {
	poll := []unix.PollFd{{Fd: int32(fd), Events: hangupEvents}}
	for {
		n, err := unix.Poll(poll, -1)
		switch {
		case err == nil && n > 0:
			// POLLNVAL cannot happen to a descriptor of our own; if it does, there is nobody to listen to.
			return
		case err != nil && err != unix.EINTR && err != unix.EAGAIN && err != unix.ENOMEM:
			return
		case err != unix.EINTR:
			// Awake for nothing. Some kernels do that when data arrives; it must not become a busy loop.
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// isStream reports whether f is a pipe or a socket: node-based clients use socket pairs for a child's stdio.
func isStream(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}
