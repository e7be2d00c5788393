package e2e

import (
	"os"
	"os/exec"
)

func leaveGroup(*exec.Cmd) {}

func running(pid int) bool {
	p, err := os.FindProcess(pid) // opens it, and fails when it is gone
	if err != nil {
		return false
	}
	p.Release()
	return true
}
