//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// B11: a signal ends Bouncer and the server, badly and without a stack trace (the harness looks for panics), and
// whoever waits for an answer gets an error.
func TestSignalEndsBouncer(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			h := wrap(t, "plain").open(nil)
			id := h.do("never", 0)
			h.works()
			h.signal(sig)
			h.wantFault(id, "ended before it answered")
			h.ends(1, "ended by "+sig.String())
		})
		t.Run("during the start, "+sig.String(), func(t *testing.T) {
			t.Parallel()
			h := wrap(t, "mute")
			h.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`)
			eventually(t, "the server hears it", func() bool { return len(noted(t, h.s, "heard")) == 1 })
			h.signal(sig)
			h.wantFault("1", "ended before it answered")
			h.ends(1, "ended by "+sig.String())
			if strings.Contains(h.stderr(), "goroutine ") {
				t.Errorf("a stack trace:\n%s", h.stderr())
			}
		})
	}
}

// A second signal is not needed, and does no harm: the server that ignores the first is still taken along.
func TestSignalTwice(t *testing.T) {
	t.Parallel()
	h := wrap(t, "stubborn").open(nil)
	h.signal(syscall.SIGINT)
	h.signal(syscall.SIGINT)
	h.ends(1, "ended by")
}

// B11, at the earliest moment there is: the server's first act is the signal.
func TestSignalAtOnce(t *testing.T) {
	t.Parallel()
	s, bouncer := newSandbox(t), bouncerBinary(t)
	t.Cleanup(func() { noOrphans(t, s) })

	for range 5 {
		c := start(t, s.with(quickExit), bouncer, "run", "--name", "x", "--", "/bin/sh", "-c", "echo $$ >>pids; kill -TERM $PPID; exec sleep 60")
		h := &hostile{c, t, s}
		select {
		case <-h.ended:
		case <-time.After(h.limits.patience):
			t.Fatal("a signal does not end it")
		}
		h.ends(1, "ended by terminated")
	}
}

func (h *hostile) signal(sig syscall.Signal) {
	h.t.Helper()
	if err := h.cmd.Process.Signal(sig); err != nil {
		h.t.Fatal(err)
	}
}

// SIGKILL in the middle of a load: the server ends too (on Linux the kernel sees to it, elsewhere the end of its input),
// and every call that reached it stands in the log, which was written first (B50).
func TestBouncerIsKilled(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain").open(nil)
	h.tolerant = true // its last answer may be torn
	h.works()
	lines, _ := pipelineCalls(2000)
	h.sendAll(lines)
	h.awaitAnswers(100) // most of them are on their way
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.ended
	eventually(t, "the server is gone", func() bool { return !running(pids(t, h.s)[0]) })
	verdicts, torn := logLines(t, filepath.Join(h.s.bouncer, "audit.jsonl"))
	if torn > 1 {
		t.Errorf("%d torn lines in the log", torn)
	}
	allowed := 0
	for _, v := range verdicts {
		if v.Verdict == "allow" {
			allowed++
		}
	}
	if reached := len(h.reached()); reached > allowed {
		t.Errorf("%d calls reached the server, %d of them are logged", reached, allowed)
	}
}

// Nobody is left to stop a server after SIGKILL, but the kernel tells it: one that does not even read is gone as well.
// One that ignores SIGTERM too would stay.
func TestBouncerIsKilledBeforeServerReads(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a parent's death signal")
	}
	h := wrap(t, "silent")
	eventually(t, "the server runs", func() bool { return len(pids(t, h.s)) == 1 })
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.ended
}

// A home that cannot be written is a start that is refused, and says where.
func TestHomeReadOnly(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	if err := os.Mkdir(filepath.Join(s.home, "ro"), 0o555); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere; TestHomeOnMount is for it")
	}
	s.bouncer = filepath.Join(s.home, "ro", "bouncer")
	refusesToStart(t, s, 1, s.bouncer)
}
