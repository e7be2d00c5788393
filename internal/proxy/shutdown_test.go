package proxy_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// TestClientEndsB49: the client hangs up right after a call; the answer that comes later still reaches it, and the log
// has the call.
func TestClientEndsB49(t *testing.T) {
	r := start(t, options{server: silent})
	r.client.send(call(`1`, "echo", `{"text":"late"}`))
	r.arrived(`1`)
	r.client.hangUp()
	r.server.got.waitEOF(t, "the server's input to end")
	r.server.send(`{"jsonrpc":"2.0","method":"vendor/last"}`, result(`1`, `{"content":[],"late":1}`))
	r.server.cut(`{"jsonrpc":"2.0","method":"vendor/no-newline"}`)
	r.server.hangUp()
	if err := r.join(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if got := r.client.response(t, `1`); !strings.Contains(got, `"late"`) {
		t.Errorf("got %s", got)
	}
	r.client.request(t, "vendor/last")
	r.client.request(t, "vendor/no-newline")
	r.once(`1`)
	r.verdicts("echo", "allow")
}

// TestRunSaysWhoEnded: a server that ends because its client did was not the first to go.
func TestRunSaysWhoEnded(t *testing.T) {
	var r *rig
	r = start(t, options{noHandshake: true, closing: func() {
		r.server.hangUp()
		r.client.got.waitEOF(t, "Run to see the server's end")
	}})
	r.client.hangUp()
	if err := r.join(); err != nil {
		t.Errorf("Run: %v, but the client ended the session", err)
	}
}

// TestNothingAfterRun: once Run returned, a call that the client still writes is neither judged nor logged: its line
// would say allow, or ask without an outcome, about a call that went nowhere.
func TestNothingAfterRun(t *testing.T) {
	r := start(t, options{})
	r.pinned()
	r.server.hangUp()
	r.join()
	r.client.send(call(`1`, "send", `{"to":"new@random.example"}`), call(`2`, "echo", `{}`), `{"jsonrpc":"2.0","method":"vendor/x"}`)
	r.client.flush(t)
	r.client.hangUp()
	r.server.got.waitEOF(t, "the server's input to end") // the reader of the client is through
	r.verdicts("send")
	r.verdicts("echo", "allow")
}

// TestHalfFramesA52B49: half a frame is no frame, from either side.
func TestHalfFramesA52B49(t *testing.T) {
	frame := call(`1`, "echo", `{"text":"needle"}`)
	for _, cut := range []int{1, len(frame) / 2, len(frame) - 1, len(frame)} { // the last lacks only its newline
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			r := start(t, options{})
			r.pinned()
			r.client.cut(frame[:cut])
			r.finish()
			r.never("needle")
			if n := len(r.log.entries); n != 2 {
				t.Errorf("%d lines in the log, want 2", n)
			}
		})
	}
	t.Run("server", func(t *testing.T) {
		r := start(t, options{server: silent})
		r.client.send(call(`1`, "echo", `{}`))
		r.arrived(`1`)
		r.server.cut(`{"jsonrpc":"2.0","id":1,"result":{"forged":`)
		r.server.hangUp()
		r.join()
		if got := r.client.response(t, `1`); !strings.Contains(got, `"error"`) || strings.Contains(got, "forged") {
			t.Errorf("got %s", got)
		}
		r.once(`1`)
	})
}

// TestClientEndsWhileAskedB49: nobody is left to answer, so the call is denied, logged and never sent.
func TestClientEndsWhileAskedB49(t *testing.T) {
	r := start(t, options{})
	r.question(`7`)
	if err := r.finish(); err != nil {
		t.Errorf("Run: %v", err)
	}
	r.never("random.example")
	r.verdicts("send", "ask", "deny(withdrawn)")
	r.once(`7`)
}

// TestClientEndsWhileHeldB49: a client may write its calls, close its output and read the answers: what it wrote
// before counts.
func TestClientEndsWhileHeldB49(t *testing.T) {
	release := make(chan string, 1)
	r := start(t, options{server: func(s *side, msg jsonrpc.Message) bool {
		if msg.Method == "tools/list" {
			release <- msg.ID.String()
		}
		return msg.Method == "tools/list"
	}})
	list := <-release
	r.client.send(call(`1`, "echo", `{"text":"held"}`))
	r.client.hangUp()
	r.client.flush(t)
	r.server.send(`{"jsonrpc":"2.0","id":`+list+`,`+listAll+`}`, `{"jsonrpc":"2.0","method":"vendor/after"}`)
	passed(t, r.client.response(t, `1`))
	r.finish()
}

// TestClientReadsNoMoreB49: the client closed its input only. Nothing panics, the server is still read, what is denied
// stays denied, and the log is complete.
func TestClientReadsNoMoreB49(t *testing.T) {
	r := start(t, options{})
	r.pinned()
	r.pipes[1].CloseWithError(io.ErrClosedPipe)
	for i := range 20 {
		r.client.send(call(fmt.Sprint(i), "echo", `{}`), call(fmt.Sprint(100+i), "only", `{"mode":"needle"}`))
		r.arrived(fmt.Sprint(i))
	}
	r.client.send(call(`"asked"`, "send", `{"to":"new@random.example"}`))
	r.client.flush(t)
	if err := r.finish(); err != nil {
		t.Errorf("Run: %v", err)
	}
	r.never("needle")
	r.never("random.example")
	if n := len(r.log.verdicts("echo")) + len(r.log.verdicts("only")); n != 41 {
		t.Errorf("%d lines in the log, want 41", n)
	}
}

// TestBothEndAtOnce: whichever end is seen first, Run returns and every call is answered or was cancelled by the end.
func TestBothEndAtOnce(t *testing.T) {
	for range 30 {
		r := start(t, options{server: silent})
		r.client.send(call(`1`, "echo", `{}`))
		r.arrived(`1`)
		r.question(`2`)
		go r.server.hangUp()
		r.client.hangUp()
		r.join()
		r.once(`1`, `2`)
		r.verdicts("send", "ask", "deny(withdrawn)")
	}
}
