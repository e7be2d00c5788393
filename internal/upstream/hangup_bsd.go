//go:build unix && !linux

package upstream

import "golang.org/x/sys/unix"

// hangupEvents: macOS watches a descriptor only when some event is asked for, POLLHUP included.
const hangupEvents = unix.POLLHUP
