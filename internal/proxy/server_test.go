package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/proxy"
)

// noisy are lines on a server's stdout that are no JSON-RPC.
var noisy = []string{
	"Server started", "", "   ", "npm warn deprecated x", "╔════╗", "🚀 ready",
	`{ debug: 1 }`, `"ready"`, `42`, `null`, `{}`,
	`{"level":"info","msg":"hi"}`, `{`, `  "jsonrpc": "2.0",`, `}`, "\x00\x01", "caf\xe9", `{"jsonrpc":"1.0","id":1,"result":{}}`,
}

// TestNoiseB04B05: noise is not relayed, and the frame right behind it is not lost.
func TestNoiseB04B05(t *testing.T) {
	r := start(t, options{server: func(s *side, msg jsonrpc.Message) bool {
		s.send(noisy...)
		if msg.Method == "initialize" {
			s.send("\xef\xbb\xbfbanner")
		}
		return false
	}})
	for i := range 3 {
		id := fmt.Sprint("\"n", i, "\"")
		r.client.send(call(id, "echo", `{}`))
		passed(t, r.client.response(t, id))
	}
	r.finish()
	if got := len(r.client.got.list()); got != 4 {
		t.Errorf("the client got %d frames, want 4:\n%s", got, head(r.client.got.list()))
	}
}

// TestNoiseInBracketsB05: a log line that starts with a bracket is the commonest of all, and no batch of answers.
func TestNoiseInBracketsB05(t *testing.T) {
	for _, noise := range []string{`[INFO] x`, `[2026-12-01 04:00:00] listening`, `[]`, `[1,2]`, `[`, `["a"]`} {
		t.Run(noise, func(t *testing.T) {
			r := start(t, options{server: silent})
			r.client.send(call(`5`, "echo", `{}`))
			r.arrived(`5`)
			q := r.question(`6`)
			r.server.send(noise, result(`5`, `{"content":[],"real":1}`))
			if got := r.client.response(t, `5`); !strings.Contains(got, `"real"`) {
				t.Fatalf("the call was answered by %s", got)
			}
			r.client.send(result(q.ID.String(), yes))
			r.arrived(`6`)
			r.server.send(result(`6`, `{"content":[]}`))
			passed(t, r.client.response(t, `6`))
			r.finish()
			r.once(`5`, `6`)
		})
	}
}

// TestByteOrderMarkB04: a mark before the first frame is no part of it.
func TestByteOrderMarkB04(t *testing.T) {
	r := start(t, options{raw: true})
	r.client.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	r.arrived(`1`)
	r.server.send("\xef\xbb\xbf" + result(`1`, `{}`))
	if got := r.client.response(t, `1`); got != result(`1`, `{}`) {
		t.Errorf("got %q", got)
	}
	r.finish()
}

// TestNoiseIsRateLimitedB04: a server that floods its stdout does not flood the user's terminal.
func TestNoiseIsRateLimitedB04(t *testing.T) {
	r := start(t, options{})
	r.pinned()
	for i := range 2000 {
		r.server.send(fmt.Sprint("log line ", i))
	}
	r.server.send(`{"jsonrpc":"2.0","method":"vendor/last"}`)
	r.client.request(t, "vendor/last")
	r.finish()
	if n := len(r.problems.list()); n == 0 || n > 50 {
		t.Errorf("%d messages about 2000 lines, want some and at most 50", n)
	}
}

// TestNoiseWithAnIDB05: a log line in JSON that happens to have an open call's id is no answer to it.
func TestNoiseWithAnIDB05(t *testing.T) {
	for _, noise := range []string{
		`{"level":"info","id":5,"msg":"request started"}`,
		`{"id":5}`,
		`{"jsonrpc":"2.0","id":5,"method":"ping","method":"x"}`,
		`{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":7}`,
	} {
		t.Run(noise, func(t *testing.T) {
			r := start(t, options{server: silent})
			r.client.send(call(`5`, "echo", `{}`))
			r.arrived(`5`)
			r.server.send(noise, result(`5`, `{"content":[],"real":1}`))
			if got := r.client.response(t, `5`); !strings.Contains(got, `"real"`) {
				t.Errorf("the call was answered by %s", got)
			}
			r.finish()
		})
	}
}

// TestNoiseIsNotAnsweredB05: who answers a log line with an error may hit a request of the server's own that has the
// same id.
func TestNoiseIsNotAnsweredB05(t *testing.T) {
	for _, noise := range []string{`{"level":"info","id":5,"msg":"request started"}`, `{"id":5}`, `{"jsonrpc":"1.0","id":5,"msg":"x"}`} {
		t.Run(noise, func(t *testing.T) {
			r := start(t, options{})
			r.pinned()
			r.server.send(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`, noise)
			r.client.request(t, "roots/list")
			r.client.send(result(`5`, `{"roots":[]}`))
			r.finish()
			if n := count(r.server.got.list(), `5`); n != 1 {
				t.Errorf("the server got %d answers to its request, want the client's", n)
			}
		})
	}
}

// TestTwoSidesHaveIDsB25: an unreadable or too large message about an id of the other side must not answer a call.
func TestTwoSidesHaveIDsB25(t *testing.T) {
	big := `"` + strings.Repeat("b", 5000) + `"`
	for _, tt := range []struct{ name, fromServer, fromClient string }{
		{"a too large request of the server", `{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"x":` + big + `}}`, ""},
		{"a too large response of the client", "", `{"jsonrpc":"2.0","id":5,"result":{"x":` + big + `}}`},
		{"an unreadable response of the client", "", `{"jsonrpc":"2.0","id":5,"result":{"x":1,"x":2}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, options{server: silent, limit: 4096})
			r.client.send(call(`5`, "echo", `{}`))
			r.arrived(`5`)
			if tt.fromServer != "" {
				r.server.send(tt.fromServer)
			} else {
				r.server.send(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
				r.client.request(t, "roots/list")
				r.client.send(tt.fromClient)
				r.client.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
				r.client.response(t, `"ping"`)
			}
			r.server.send(result(`5`, `{"content":[],"real":1}`))
			r.client.got.wait(t, "the real answer", func(line string) bool { return strings.Contains(line, `"real"`) })
			r.finish()
			r.once(`5`)
		})
	}
}

// TestBadAnswersB02B43: an answer that cannot be relayed becomes an error for its call, once; the session goes on.
func TestBadAnswersB02B43(t *testing.T) {
	for _, tt := range []struct{ name, answer, want string }{
		{"cp1252", `{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"caf` + "\xe9" + `"}]}}`, `"code":1003`},
		{"two results", `{"jsonrpc":"2.0","id":5,"result":{},"result":{}}`, `"code":1003`},
		{"result and error", `{"jsonrpc":"2.0","id":5,"result":{},"error":{}}`, `"code":1003`},
		{"Result beside result", `{"jsonrpc":"2.0","id":5,"result":{},"Result":{}}`, `"code":1003`},
		{"no version", `{"id":5,"result":{}}`, `"code":1003`},
		{"error is a string", `{"jsonrpc":"2.0","id":5,"error":"no"}`, `"code":1003`},
		{"cut", `{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"te`, `"code":1003`},
		{"too deep", `{"jsonrpc":"2.0","id":5,"result":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, `"code":1003`},
		{"too large, id first", `{"jsonrpc":"2.0","id":5,"result":{"x":"` + strings.Repeat("x", 70_000) + `"}}`, `"code":1002`},
		{"too large, id last", `{"result":{"x":"` + strings.Repeat("x", 700_000) + `","id":6},"id":5,"jsonrpc":"2.0"}`, `"code":1002`},
		{"lone surrogate", `{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"\ud83d"}]}}`, `\ud83d`},
		{"duplicate name in a result", `{"jsonrpc":"2.0","id":5,"result":{"a":1,"a":2}}`, `"a":1,"a":2`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, options{server: silent, limit: 65536})
			r.client.send(call(`5`, "echo", `{}`))
			r.arrived(`5`)
			r.server.send(tt.answer)
			if got := r.client.response(t, `5`); !strings.Contains(got, tt.want) {
				t.Errorf("got %.300s, want %s", got, tt.want)
			}
			r.server.send(result(`5`, `{"second":1}`))
			r.client.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
			r.client.response(t, `"ping"`)
			r.finish()
			r.once(`5`)
		})
	}
}

// TestForeignAnswersB25: a second answer, and answers to ids that nobody used, are dropped and said; the session lives.
func TestForeignAnswersB25(t *testing.T) {
	r := start(t, options{})
	r.pinned()
	r.server.send(result(`"warm-up"`, `{"again":1}`), result(`99`, `{}`), result(`"99"`, `{}`), `{"jsonrpc":"2.0","id":-1,"error":{"code":1,"message":"x"}}`,
		`[`+result(`"warm-up"`, `{"again":2}`)+`,`+result(`98`, `{}`)+`]`)
	r.client.send(call(`1`, "echo", `{}`))
	r.client.response(t, `1`)
	r.finish()
	r.once(`"warm-up"`, `1`)
	if got := len(r.client.got.list()); got != 3 {
		t.Errorf("the client got %d frames, want 3:\n%s", got, head(r.client.got.list()))
	}
	if n := len(r.problems.list()); n < 6 {
		t.Errorf("%d messages about 6 dropped answers", n)
	}
}

// TestServerDiesB34: every open call gets an error at once, asked and held ones too, and Run says what happened.
func TestServerDiesB34(t *testing.T) {
	r := start(t, options{server: silent})
	for i := range 3 {
		r.client.send(call(fmt.Sprint(i), "echo", `{}`))
		r.arrived(fmt.Sprint(i))
	}
	q := r.question(`"asked"`)
	r.server.hangUp()
	if err := r.join(); !errors.Is(err, proxy.ErrServerGone) {
		t.Errorf("Run: %v, want ErrServerGone", err)
	}
	for _, id := range []string{`0`, `1`, `2`, `"asked"`} {
		if got := r.client.response(t, id); !strings.Contains(got, `"error"`) {
			t.Errorf("%s got %s", id, got)
		}
	}
	r.once(`0`, `1`, `2`, `"asked"`)
	r.verdicts("send", "ask", "deny(withdrawn)")
	r.client.got.wait(t, "the question's withdrawal", func(line string) bool {
		return strings.Contains(line, "notifications/cancelled") && strings.Contains(line, q.ID.String())
	})
}

// TestServerDiesWhileHeldB34: the server ends before it listed its tools.
func TestServerDiesWhileHeldB34(t *testing.T) {
	r := start(t, options{server: func(s *side, msg jsonrpc.Message) bool { return msg.Method == "tools/list" }})
	r.client.send(call(`1`, "echo", `{"text":"needle"}`), call(`2`, "echo", `{}`), `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	r.client.response(t, `3`) // the calls before it are held
	r.server.hangUp()
	if err := r.join(); !errors.Is(err, proxy.ErrServerGone) {
		t.Errorf("Run: %v, want ErrServerGone", err)
	}
	r.once(`1`, `2`)
	r.never("needle")
}

// TestServerEndsAtOnceB34: there is nothing on the other side from the start.
func TestServerEndsAtOnceB34(t *testing.T) {
	r := start(t, options{raw: true})
	r.client.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	r.arrived(`1`)
	r.server.hangUp()
	if err := r.join(); !errors.Is(err, proxy.ErrServerGone) {
		t.Errorf("Run: %v, want ErrServerGone", err)
	}
	r.once(`1`)
}

// TestServerInputClosedB46: the server's stdin is closed while it lives; every request gets an error.
func TestServerInputClosedB46(t *testing.T) {
	r := start(t, options{})
	r.pinned()
	r.pipes[3].CloseWithError(io.ErrClosedPipe)
	r.client.send(call(`1`, "echo", `{}`), `{"jsonrpc":"2.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","method":"vendor/note"}`)
	for _, id := range []string{`1`, `2`} {
		if got := r.client.response(t, id); !strings.Contains(got, `"error"`) {
			t.Errorf("%s got %s", id, got)
		}
	}
	r.client.hangUp()
	r.server.hangUp()
	if err := r.join(); err != nil && !errors.Is(err, proxy.ErrServerGone) {
		t.Errorf("Run: %v", err)
	}
	r.once(`1`, `2`)
}
