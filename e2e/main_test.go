package e2e

import (
	"fmt"
	"os"
	"testing"
)

// scratch is where binaries are built; TestMain makes and removes it.
var scratch string

func TestMain(m *testing.M) {
	if mode := os.Getenv(stubMode); mode != "" {
		stub(mode)
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if _, err := readMode(os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	dir, err := os.MkdirTemp("", "bouncer-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	scratch = dir
	return m.Run()
}
