package e2e

import (
	"errors"
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// killGroup kills the command alone; what it started ends when its pipes do.
func killGroup(cmd *exec.Cmd) error {
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
