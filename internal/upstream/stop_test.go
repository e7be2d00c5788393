//go:build unix

package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func isEPIPE(err error) bool { return errors.Is(err, syscall.EPIPE) }

// readPid reads the process id that a role prints.
func readPid(t *testing.T, line string) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid < 2 {
		t.Fatalf("no pid in %q", line)
	}
	t.Cleanup(func() {
		if running(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return pid
}

func wantSignal(t *testing.T, p *Process, sig syscall.Signal) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(p.ExitError(), &exit) {
		t.Fatalf("exit: %v", p.ExitError())
	}
	if status := exit.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != sig {
		t.Errorf("ended by %v, want %v", p.ExitError(), sig)
	}
	if p.ExitCode() != -1 {
		t.Errorf("exit code %d", p.ExitCode())
	}
}

// The steps of a shutdown, each by a server that the step before does not end.
func TestStopSteps(t *testing.T) {
	const short = 50 * time.Millisecond
	t.Run("end of stdin", func(t *testing.T) {
		p := start(t, "echo", io.Discard, nil) // grace is long: a signal would come too late to be the cause
		if err := p.Stop(context.Background()); err != nil || p.ExitError() != nil {
			t.Errorf("stop: %v, exit: %v", err, p.ExitError())
		}
	})
	t.Run("SIGTERM", func(t *testing.T) {
		p := start(t, "idle", io.Discard, func(s *Spec) { s.Grace = short })
		readLine(t, p)
		if err := p.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		// Under load the polite signal may be overtaken by the next step; it must be a signal either way.
		if p.ExitError() == nil || p.ExitCode() != -1 {
			t.Errorf("exit: %v, %d", p.ExitError(), p.ExitCode())
		}
	})
	t.Run("SIGKILL", func(t *testing.T) {
		p := start(t, "stubborn", io.Discard, func(s *Spec) { s.Grace = short })
		readLine(t, p)
		if err := p.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		wantSignal(t, p, syscall.SIGKILL)
	})
	t.Run("no patience", func(t *testing.T) {
		p := start(t, "stubborn", io.Discard, nil) // grace longer than the test may take
		readLine(t, p)
		if err := p.Stop(cancelled()); err != nil {
			t.Error(err)
		}
		wantSignal(t, p, syscall.SIGKILL)
	})
}

func TestStopConcurrently(t *testing.T) {
	p := start(t, "stubborn", io.Discard, func(s *Spec) { s.Grace = 50 * time.Millisecond })
	readLine(t, p)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := p.Stop(context.Background()); err != nil {
				t.Error(err)
			}
			select {
			case <-p.Done():
			default:
				t.Error("Stop returned before the server was gone")
			}
		})
	}
	wg.Wait()
	wantSignal(t, p, syscall.SIGKILL)
}

// B08: what the server started ends with it.
func TestStopEndsGrandchild(t *testing.T) {
	p := start(t, "parent", io.Discard, func(s *Spec) { s.Grace = 50 * time.Millisecond })
	grandchild := readPid(t, readLine(t, p))
	if !running(grandchild) {
		t.Fatal("grandchild did not start")
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if running(p.Pid()) || running(grandchild) {
		t.Errorf("after Stop: server %v, grandchild %v", running(p.Pid()), running(grandchild))
	}
}

// B08: a server that exits by itself leaves no orphans, and nobody has to call Stop for that; they may ignore SIGTERM.
func TestExitEndsOrphans(t *testing.T) {
	p := start(t, "parent-leaves", io.Discard, func(s *Spec) { s.Grace = 50 * time.Millisecond })
	orphan := readPid(t, readLine(t, p))
	await(t, p.Done(), "exit")
	eventually(t, "orphan gone", func() bool { return !running(orphan) })
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// A process that left the group holds all pipes: neither Done nor Stop waits for it.
func TestEscapedProcessDoesNotHang(t *testing.T) {
	p := start(t, "escaped", io.Discard, func(s *Spec) { s.Grace = 50 * time.Millisecond })
	escaped := readPid(t, readLine(t, p))
	await(t, p.Done(), "exit")
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if !running(escaped) {
		t.Error("the process did not escape, so this test shows nothing")
	}
}

// B46: a write to a server that closed its stdin is an error, and Bouncer lives to see it.
func TestStdinClosedEarly(t *testing.T) {
	p := start(t, "deaf", io.Discard, nil)
	if got := readLine(t, p); got != "closed\n" {
		t.Fatalf("got %q", got)
	}
	if _, err := p.Stdin().Write([]byte("x\n")); !isEPIPE(err) {
		t.Errorf("write: %v", err)
	}
}

// A writer that is blocked on a server which does not read comes free when the server is stopped.
func TestStopFreesBlockedWriter(t *testing.T) {
	p := start(t, "idle", io.Discard, func(s *Spec) { s.Grace = 50 * time.Millisecond })
	readLine(t, p)
	result := make(chan error, 1)
	go func() {
		_, err := p.Stdin().Write(make([]byte, 8<<20))
		result <- err
	}()
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	select {
	case err := <-result:
		if err == nil {
			t.Error("8 MB went into a pipe that nobody reads")
		}
	case <-time.After(patience):
		t.Fatal("the writer is still blocked")
	}
}

// A server of a Bouncer that was killed by force ends through the parent-death signal: it does not read its stdin.
func TestKilledBouncerTakesServerAlong(t *testing.T) {
	if !hasParentDeathSignal {
		t.Skip("no parent-death signal on this system: only the end of stdin tells the server")
	}
	bouncer := exec.Command(self(t))
	bouncer.Env = roleEnv("bouncer")
	out, err := bouncer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := bouncer.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bouncer.Wait() }()
	defer func() { _ = bouncer.Process.Kill() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	server := readPid(t, line)
	if !running(server) {
		t.Fatal("server did not start")
	}
	if err := bouncer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "server gone", func() bool { return !running(server) })
}

// No descriptor is left behind, by servers that ran and by those that could not.
func TestNoDescriptorLeaks(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc/self/fd")
		}
		return len(entries)
	}
	once := func() {
		p, err := Start(Spec{Command: self(t), Env: roleEnv("exit3")}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		_ = p.stdout.Close() // the reader's to close; here nobody reads
		if _, err := Start(Spec{Command: self(t), Dir: "/does/not/exist"}, io.Discard); err == nil {
			t.Fatal("started in a directory that does not exist")
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector closes files too
	once()                                           // whatever the runtime opens once
	before := count()
	for range 5 {
		once()
	}
	eventually(t, "descriptors closed", func() bool { return count() <= before })
}
