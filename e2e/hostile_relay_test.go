package e2e

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// 50 MB of log lines, which nobody may have to wait for: calls go on beside them, and all of it gets through (B07).
func TestServerFloodsStderr(t *testing.T) {
	t.Parallel()
	h := wrap(t, "flood").open(nil)
	calls := 0
	for len(noted(t, h.s, "flooded")) == 0 || calls < 20 {
		h.works()
		calls++
	}
	h.closes(0)
	if got := len(h.reached()); got != calls {
		t.Errorf("%d calls reached the server, want %d", got, calls)
	}
	if text := h.stderr(); !strings.Contains(text, "[hostile] 2026-01-01 INFO xxx") {
		t.Errorf("the server's log lines are not there under its name: %s", shorten(text))
	}
}

// B25: the second answer and those to ids that nobody sent are dropped and told about; the harness fails a test in which
// one comes through twice.
func TestServerAnswersTooOften(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"twice", "foreign"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := wrap(t, "plain").open(nil)
			id := h.do(what, 0)
			if got := textOf(t, h.await(id)); got != (answer{"done " + id, false}) {
				t.Errorf("answer %+v", got)
			}
			h.works()
			h.closes(0)
			if responses := len(h.responses()); responses != 3 {
				t.Errorf("%d responses for 3 requests", responses)
			}
			if !strings.Contains(h.stderr(), "answered an id that is not open") {
				t.Errorf("nothing is said about it:\n%s", h.stderr())
			}
		})
	}
}

func (h *hostile) responses() (out []frame) {
	for _, f := range h.in.all() {
		if f.isResponse() {
			out = append(out, f)
		}
	}
	return out
}

// B04, B05: none of it reaches the client (the harness fails a test whose client reads what is no message), none of it
// answers a call, and the frame behind it is not lost.
func TestServerIsNoisy(t *testing.T) {
	t.Parallel()
	t.Run("before the handshake", func(t *testing.T) {
		t.Parallel()
		h := wrap(t, "banner").open(nil)
		h.works()
		h.closes(0)
		if !strings.Contains(h.stderr(), "Server started on stdio") {
			t.Errorf("the banner is not shown anywhere:\n%s", h.stderr())
		}
	})
	t.Run("byte order mark", func(t *testing.T) {
		t.Parallel()
		h := wrap(t, "bom").open(nil)
		h.works()
		h.closes(0)
	})
	t.Run("between frames", func(t *testing.T) {
		t.Parallel()
		h := wrap(t, "plain").open(nil)
		for range 20 {
			id := h.do("noise", 0)
			if got := textOf(t, h.await(id)); got != (answer{"done " + id, false}) {
				t.Errorf("answer %+v", got)
			}
		}
		h.closes(0)
		if len(h.in.all()) != 21 {
			t.Errorf("%d frames, want the 21 answers", len(h.in.all()))
		}
		if n := strings.Count(h.stderr(), "\n"); n > 100 {
			t.Errorf("the noise makes %d lines of log; it is not rate-limited", n)
		}
	})
}

// B34: whoever waits gets an error at once, and Bouncer ends badly and says why.
func TestServerDies(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"die", "torn"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := wrap(t, "plain").open(nil)
			waiting := []string{h.do("never", 0), h.do("never", 0)}
			waiting = append(waiting, h.do(how, 0))
			for _, id := range waiting {
				h.wantFault(id, "ended before it answered")
			}
			h.ends(1, "ended before the client did (exit status 7)")
		})
	}
	t.Run("at once", func(t *testing.T) {
		t.Parallel()
		h := wrap(t, "exit")
		h.ends(1, "ended before the client did (exit status 7)")
		if frames := h.in.all(); len(frames) != 0 {
			t.Errorf("to a client that asked nothing it says %v", frames)
		}
	})
}

// B01, B02: 30 MB pass as they are.
func TestServerAnswersBig(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain").open(nil)
	size := 30 << 20
	if raceEnabled {
		size = 10 << 20
	}
	id := h.do("big", size)
	got, want := h.await(id).raw, bigAnswer(id, size)
	if sha256.Sum256([]byte(got)) != sha256.Sum256([]byte(want)) {
		t.Errorf("%d bytes came, other ones than the %d that were sent", len(got), len(want))
	}
	h.works()
	h.closes(0)
}

// B02: a line over the limit becomes an error for its id; a call that waits beside it still gets its own answer.
func TestServerAnswersTooBig(t *testing.T) {
	t.Parallel()
	s, bouncer := newSandbox(t), plainBouncer(t)
	h := wrapIn(t, s, bouncer, "plain").open(nil)
	size := 200 << 20
	if raceEnabled { // the server of the test, which has the detector in it, takes minutes for so much
		size = 80 << 20
	}
	for range 2 {
		h.wantFault(h.do("big", size), "over the limit")
		h.works()
	}
	if peak, ok := peakMemory(h.cmd.Process.Pid); ok && peak > 400<<20 {
		t.Errorf("Bouncer took %d MiB", peak>>20)
	}
	h.closes(0)
}

// TestServerAnswersBigWithSmallLimit: the flag moves the limit, both ways of it.
func TestServerAnswersBigWithSmallLimit(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain", "--max-frame", fmt.Sprint(1<<20)).open(nil)
	h.wantFault(h.do("big", 1<<20), "over the limit")
	id := h.do("big", 1<<19)
	if got := h.await(id).raw; got != bigAnswer(id, 1<<19) {
		t.Errorf("an answer below the limit: %s", shorten(got))
	}
	h.closes(0)
}
