//go:build unix && !linux

package upstream

import "syscall"

// setParentDeathSignal: there is none here. When Bouncer is killed with SIGKILL, what ends the server is the end of
// its stdin.
func setParentDeathSignal(*syscall.SysProcAttr) {}

// alive reports whether a member of the group still runs. EPERM counts as no: macOS answers it for a group of zombies,
// and a member that may not be signalled cannot be ended by waiting either.
func (g *group) alive() bool { return g.signal(0) == nil }
