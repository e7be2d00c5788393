package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// array waits for a response that is an array and returns its elements.
func (r *rig) array() []string {
	r.t.Helper()
	line := r.client.got.wait(r.t, "an array", func(line string) bool { return strings.HasPrefix(line, "[") })
	elements, bad := jsonrpc.SplitBatch([]byte(line))
	if bad != nil {
		r.t.Fatalf("the array has no reading: %v: %s", bad, line)
	}
	var out []string
	for _, e := range elements {
		out = append(out, string(e))
	}
	return out
}

func element(t *testing.T, all []string, id string) string {
	t.Helper()
	if n := count(all, id); n != 1 {
		t.Fatalf("%d elements answer %s, want 1: %v", n, id, all)
	}
	for _, e := range all {
		if answers(e, id) {
			return e
		}
	}
	return ""
}

// TestBatchB44: in 2025-03-26 each element is judged and forwarded alone, and one array goes back.
func TestBatchB44(t *testing.T) {
	r := start(t, options{version: "2025-03-26"})
	r.pinned()
	r.client.send(`[` + strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		call(`2`, "echo", `{"text":"in the batch"}`),
		call(`3`, "only", `{"mode":"needle"}`),
		call(`4`, "send", `{"to":"new@random.example"}`), // nobody can be asked in this version
		call(`5`, "ghost", `{"x":"needle"}`),
		`{"jsonrpc":"2.0","method":"vendor/note"}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"needle"}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"TOOLS/CALL","params":{"name":"needle"}}`,
	}, " , ") + `]`)
	got := r.array()
	for _, e := range []string{`1`, `2`} {
		passed(t, element(t, got, e))
	}
	for _, e := range []string{`3`, `4`, `5`, `6`} {
		blocked(t, element(t, got, e))
	}
	if len(got) != 6 {
		t.Errorf("%d answers, want 6: %v", len(got), got)
	}
	r.finish()
	r.never("needle")
	r.never("random.example")
	r.never("[{")
	r.verdicts("send", "ask", "deny(unsupported)")
	if r.reached("in the batch") != 1 || r.reached("vendor/note") != 1 {
		t.Error("what is allowed did not reach the server")
	}
	if n := len(r.client.got.list()); n != 3 {
		t.Errorf("%d frames, want 3", n)
	}
}

// TestBatchDuplicateID: the second element with an open id is refused, and both are answered.
func TestBatchDuplicateID(t *testing.T) {
	r := start(t, options{version: "2025-03-26", server: silent})
	r.client.send(`[` + call(`2`, "echo", `{}`) + `,` + call(`2`, "echo", `{"text":"needle"}`) + `]`)
	r.arrived(`2`)
	r.server.send(result(`2`, `{"content":[]}`))
	got := r.array()
	if count(got, `2`) != 2 || strings.Contains(got[0], "[bouncer blocked]") == strings.Contains(got[1], "[bouncer blocked]") {
		t.Errorf("want an answer and a refusal: %v", got)
	}
	r.finish()
	r.never("needle")
}

// TestBatchHeld: a batch may stand before the tools are pinned.
func TestBatchHeld(t *testing.T) {
	r := start(t, options{version: "2025-03-26"})
	r.client.send(`[` + call(`1`, "echo", `{}`) + `,` + call(`2`, "only", `{"mode":"bad"}`) + `]`)
	got := r.array()
	passed(t, element(t, got, `1`))
	blocked(t, element(t, got, `2`))
	r.finish()
}

// TestBatchOfNotifications gets no answer at all.
func TestBatchOfNotifications(t *testing.T) {
	r := start(t, options{version: "2025-03-26"})
	r.client.send(`[{"jsonrpc":"2.0","method":"vendor/a"},{"jsonrpc":"2.0","method":"vendor/b"}]`)
	r.pinned()
	r.finish()
	if r.reached("vendor/a") != 1 || r.reached("vendor/b") != 1 {
		t.Error("not relayed")
	}
	if n := len(r.client.got.list()); n != 2 {
		t.Errorf("%d frames, want 2", n)
	}
}

// TestBatchRefusedB44: a version without batches, and batches with an element that cannot be read, are refused whole,
// once, and the session lives.
func TestBatchRefusedB44(t *testing.T) {
	good := call(`1`, "echo", `{"text":"needle"}`)
	many := strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","method":"needle"},`, 1025), ",")
	for _, tt := range []struct{ name, version, batch string }{
		{"2025-06-18", "2025-06-18", `[` + good + `]`},
		{"2025-11-25", "2025-11-25", `[` + good + `]`},
		{"unknown version", "2099-01-01", `[` + good + `]`},
		{"empty", "2025-03-26", `[]`},
		{"no message", "2025-03-26", `[` + good + `,1]`},
		{"two readings", "2025-03-26", `[` + good + `,{"jsonrpc":"2.0","id":2,"method":"ping","method":"x"}]`},
		{"nested", "2025-03-26", `[` + good + `,[` + good + `]]`},
		{"cut", "2025-03-26", `[` + good + `,`},
		{"trailing", "2025-03-26", `[` + good + `]` + good},
		{"too many", "2025-03-26", `[` + many + `]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, options{version: tt.version})
			r.client.send(tt.batch)
			blocked(t, r.client.got.wait(t, "the refusal", func(line string) bool { return strings.Contains(line, "-32600") || strings.Contains(line, "-32700") }))
			r.pinned()
			r.finish()
			r.never("needle")
			if n := len(r.client.got.list()); n != 3 {
				t.Errorf("%d frames, want 3:\n%s", n, head(r.client.got.list()))
			}
			if n := len(r.log.entries); n != 2 {
				t.Errorf("%d lines in the log, want 2", n)
			}
		})
	}
}

// TestBatchBeforeInitialize: nothing is negotiated, so there are no batches.
func TestBatchBeforeInitialize(t *testing.T) {
	r := start(t, options{noHandshake: true})
	r.client.send(`[` + call(`1`, "echo", `{"text":"needle"}`) + `]`)
	blocked(t, r.client.got.wait(t, "the refusal", func(line string) bool { return strings.Contains(line, "-32600") }))
	r.finish()
	r.never("needle")
}

// TestBatchCancelledB17: cancelling one element must not keep the others' answers back. A server does not answer what
// was cancelled.
func TestBatchCancelledB17(t *testing.T) {
	r := start(t, options{version: "2025-03-26", server: silent})
	r.client.send(`[` + call(`1`, "echo", `{}`) + `,` + call(`2`, "echo", `{}`) + `]`)
	r.arrived(`1`)
	r.arrived(`2`)
	r.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	r.server.got.wait(t, "the cancellation", func(line string) bool { return strings.Contains(line, "notifications/cancelled") })
	r.server.send(result(`2`, `{"content":[]}`))
	r.client.got.wait(t, "the array with the answer to 2", func(line string) bool {
		return strings.HasPrefix(line, "[") && strings.Contains(line, `"id":2`)
	})
	r.finish()
}

// TestBatchServerDiesB34: the array comes although the server is gone.
func TestBatchServerDiesB34(t *testing.T) {
	r := start(t, options{version: "2025-03-26", server: func(s *side, msg jsonrpc.Message) bool { return strings.Contains(string(msg.Params), "slow") }})
	r.pinned()
	r.client.send(`[` + call(`1`, "echo", `{"text":"slow"}`) + `,` + call(`2`, "only", `{"mode":"bad"}`) + `]`)
	r.client.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	r.client.response(t, `"ping"`) // both elements were handled
	r.server.hangUp()
	r.join()
	got := r.array()
	if e := element(t, got, `1`); !strings.Contains(e, `"error"`) {
		t.Errorf("1 got %s", e)
	}
	blocked(t, element(t, got, `2`))
}

// TestServerBatch: a server's array is taken apart, and every answer finds its call.
func TestServerBatch(t *testing.T) {
	r := start(t, options{server: silent})
	for i := range 3 {
		r.client.send(call(fmt.Sprint(i), "echo", `{}`))
		r.arrived(fmt.Sprint(i))
	}
	r.server.send(` [ ` + result(`2`, `{"n":2}`) + ` , {"jsonrpc":"2.0","method":"vendor/note"},` + result(`0`, `{"n":0}`) + `,` + result(`0`, `{"n":9}`) + `]`)
	r.server.send(result(`1`, `{"n":1}`))
	for i := range 3 {
		if got, want := r.client.response(t, fmt.Sprint(i)), result(fmt.Sprint(i), fmt.Sprintf(`{"n":%d}`, i)); got != want {
			t.Errorf("%d got %s", i, got)
		}
	}
	r.client.request(t, "vendor/note")
	r.finish()
	r.once(`0`, `1`, `2`)
}
