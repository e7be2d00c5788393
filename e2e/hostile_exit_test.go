package e2e

import (
	"runtime"
	"testing"
)

// The client goes away while the server will not: Bouncer ends within its grace and takes the server along (B08). That
// nothing is left is checked by wrap.
func TestClientLeavesServerThatWillNotEnd(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"plain", "stubborn", "grandchild"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			h := wrap(t, script).open(nil)
			id := h.do("never", 0)
			h.works() // the server has the call before it
			h.closes(0)
			for _, f := range h.responses() {
				if f.id == id && f.fault == nil {
					t.Errorf("a call that was never answered has the answer %s", f.raw)
				}
			}
			if log := h.log(); len(log) != 2 {
				t.Errorf("%d lines in the log, want 2: %v", len(log), log)
			}
		})
	}
}

// The client hangs up before the server has said anything at all.
func TestClientLeavesSilentServer(t *testing.T) {
	t.Parallel()
	h := wrap(t, "silent")
	h.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`)
	h.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	h.send(callLine("2", "do", `{}`))
	if code := h.close(); code != 0 && code != 1 {
		t.Errorf("exit code %d", code)
	}
	if got := h.reached(); len(got) != 0 {
		t.Errorf("calls of unlisted tools reached the server: %v", got)
	}
}

// The server dies, and what it started holds its output open (B08). A daemon is out of Bouncer's reach, but not of the
// client's patience: the open calls are answered and Bouncer ends.
func TestServerDiesBehindGrandchild(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"grandchild", "daemon"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			if script == "daemon" && runtime.GOOS == "windows" {
				t.Skip("a job object holds daemons too")
			}
			h := wrap(t, script).open(nil)
			waiting := h.do("never", 0)
			dying := h.do("die", 0)
			h.wantFault(waiting, "ended before it answered")
			h.wantFault(dying, "ended before it answered")
			h.ends(1, "ended before the client did")
			if script == "daemon" { // ours to end
				killOne(pids(t, h.s)[1])
			}
		})
	}
}

// B46: errors for the open calls, no panic, no half frame (the harness looks for both), no server left.
func TestServerClosesItsOutput(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain").open(nil)
	waiting, closing := h.do("never", 0), h.do("close-stdout", 0)
	h.wantFault(waiting, "ended before it answered")
	h.wantFault(closing, "ended before it answered")
	h.ends(1, "ended before the client did")
}

// B46: a server that reads no more is no reason to wait: each call is answered with an error, and the client can leave.
func TestServerClosesItsInput(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain").open(nil)
	if got := textOf(t, h.await(h.do("close-stdin", 0))); got.IsError {
		t.Errorf("answer %+v", got)
	}
	for range 3 {
		h.wantFault(h.do("echo", 0), "takes no more requests")
	}
	if code := h.close(); code != 0 && code != 1 {
		t.Errorf("exit code %d", code)
	}
}
