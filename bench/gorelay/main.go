// Command gorelay is the Go yardstick: it starts a command and copies bytes both ways with what the standard library
// offers, and looks at nothing. What Bouncer's start costs beyond that of any Go program is measured against it.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	if err := relay(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gorelay:", err)
		os.Exit(1)
	}
}

func relay(argv []string) error {
	if len(argv) == 0 {
		return fmt.Errorf("usage: gorelay COMMAND [ARGS...]")
	}
	server := exec.Command(argv[0], argv[1:]...)
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		return err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	go func() {
		io.Copy(in, os.Stdin) // its end, and a server that is gone, both end the session
		in.Close()
	}()
	if _, err := io.Copy(os.Stdout, out); err != nil {
		return err
	}
	return server.Wait()
}
