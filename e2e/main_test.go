package e2e

import (
	"flag"
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
	flag.Parse()
	if !given("test.parallel") { // these tests wait for other processes more than they compute
		flag.Set("test.parallel", "8")
	}
	os.Exit(run(m))
}

func given(name string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
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
