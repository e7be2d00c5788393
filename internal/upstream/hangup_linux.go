package upstream

import "golang.org/x/sys/unix"

// hangupEvents: POLLHUP and POLLERR come unasked. POLLRDHUP makes a socket whose peer only shut down its writing side
// look like a pipe whose writer closed.
const hangupEvents = unix.POLLRDHUP
