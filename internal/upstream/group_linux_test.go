package upstream

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

const hasParentDeathSignal = true

// A name chosen by the server does not fool the search for group members.
func TestParseStat(t *testing.T) {
	for in, want := range map[string]struct {
		state byte
		pgrp  int
	}{
		"12 (node) S 1 77 77 0":           {'S', 77},
		"12 (a) R 1 9 (b) c) Z 1 77 77 0": {'Z', 77},
		"12 (x\ny) T 1 8 77 0":            {'T', 8},
		"12 (node) S 1":                   {0, 0},
		"12 (node) S 1 x 3":               {0, 0},
		"":                                {0, 0},
		"no parenthesis at all 1 2":       {0, 0},
	} {
		if state, pgrp := parseStat([]byte(in)); state != want.state || pgrp != want.pgrp {
			t.Errorf("%q: %c %d", in, state, pgrp)
		}
	}
}

// A group of zombies is gone, whatever kill(2) says: in a container they may stay for ever.
func TestZombiesAreNotAlive(t *testing.T) {
	cmd := exec.Command(self(t))
	cmd.Env = roleEnv("echo")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	g := newGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer stdin.Close()
	if err := g.adopt(cmd.Process); err != nil {
		t.Fatal(err)
	}
	if !g.alive() {
		t.Fatal("not alive while it runs")
	}
	_ = stdin.Close()
	eventually(t, "group gone", func() bool { return !g.alive() })
	if err := g.signal(0); err != nil {
		t.Errorf("the zombie is not there (%v), so this test shows nothing", err)
	}
}

// The parent-death signal is tied to the thread that started the server. A caller of Start whose own thread ends must
// not take a healthy server along.
func TestServerSurvivesStartersThread(t *testing.T) {
	var p *Process
	thread := onDyingThread(func() {
		var err error
		if p, err = Start(Spec{Command: self(t), Env: roleEnv("echo"), Grace: patience}, io.Discard); err != nil {
			t.Error(err)
		}
	})
	if p == nil {
		return
	}
	t.Cleanup(func() { stopNow(t, p) })
	eventually(t, "starter's thread ended", func() bool {
		_, err := os.Stat("/proc/self/task/" + strconv.Itoa(thread))
		return err != nil
	})
	if _, err := p.Stdin().Write([]byte("still here\n")); err != nil {
		t.Fatal(err)
	}
	if got := readLine(t, p); got != "still here\n" {
		t.Errorf("got %q", got)
	}
}

// onDyingThread runs f on an OS thread that ends afterwards, and returns its id. The first thread of a process never
// ends, so it is only kept busy meanwhile.
func onDyingThread(f func()) int {
	thread := make(chan int)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			id := onDyingThread(f)
			runtime.UnlockOSThread()
			thread <- id
			return
		}
		f()
		thread <- unix.Gettid() // still locked: the thread ends with the goroutine
	}()
	return <-thread
}
