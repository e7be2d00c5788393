//go:build unix

package e2e

import (
	"errors"
	"os/exec"
	"syscall"
)

// ownGroup makes the command the head of a process group, so that killGroup reaches the servers it starts.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup kills the command and what it started. The caller knows that one of them still runs.
func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
