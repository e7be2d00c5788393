//go:build !unix

package clientconfig

import "os/exec"

func detach(*exec.Cmd) {}
