//go:build unix

package clientconfig

import (
	"os/exec"
	"syscall"
)

// detach takes the terminal of the test away from cmd, so that nobody is asked.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
