//go:build unix

package e2e

import (
	"os/exec"
	"syscall"
)

// leaveGroup makes the command a daemon, out of reach of signals to its parent's group.
func leaveGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// running reports whether a process runs; one that has ended and is not waited for does not.
func running(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH && !zombie(pid) }
