package proxy_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// silent answers everything but tools/call, which the test answers itself.
func silent(_ *side, msg jsonrpc.Message) bool { return msg.Method == "tools/call" }

func (r *rig) arrived(id string) {
	r.t.Helper()
	r.server.got.wait(r.t, "request "+id, func(line string) bool {
		msg, bad := jsonrpc.Parse([]byte(line), jsonrpc.FromClient)
		return bad == nil && msg.Shape == jsonrpc.Request && msg.ID.String() == id
	})
}

// TestIDsInFlightB25: 1 and "1" are two calls; each gets its own answer, in its own spelling.
func TestIDsInFlightB25(t *testing.T) {
	r := start(t, options{server: silent})
	ids := []string{`1`, `"1"`, `0`, `"0"`, `-1`, `"-1"`, `""`, `9007199254740993`, `9007199254740992`, `"init-1"`}
	for i, id := range ids {
		r.client.send(call(id, "echo", fmt.Sprintf(`{"text":"t%d"}`, i)))
	}
	for i := len(ids) - 1; i >= 0; i-- {
		r.arrived(ids[i])
		r.server.send(result(ids[i], fmt.Sprintf(`{"content":[],"n":%d}`, i)))
	}
	for i, id := range ids {
		if got, want := r.client.response(t, id), result(id, fmt.Sprintf(`{"content":[],"n":%d}`, i)); got != want {
			t.Errorf("answer to %s is %s", id, got)
		}
	}
	r.finish()
	r.once(ids...)
}

// TestBadIDsA53: an id that two readers could read differently is refused, and nothing reaches the server.
func TestBadIDsA53(t *testing.T) {
	for _, id := range []string{`1.5`, `1.0`, `1e0`, `null`, `true`, `[1]`, `{}`, `"\ud83d"`} {
		t.Run(id, func(t *testing.T) {
			r := start(t, options{})
			r.client.send(call(id, "echo", `{"text":"needle"}`))
			r.pinned()
			r.finish()
			r.never("needle")
		})
	}
}

// TestSmuggledCallsA49A50A52A53: frames with two readings, and calls by another name, never reach the server; the
// session goes on.
func TestSmuggledCallsA49A50A52A53(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","Name":"needle","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":5,"Method":"tools/call","method":"ping","params":{"name":"needle"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"ping","params":{},"Params":{"name":"needle"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/call","params":{"name":"needle"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"te\u0078t":"a","text":"needle"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"ping"}{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"needle"}}`,
		"\xef\xbb\xbf" + call(`5`, "echo", `{"text":"needle"}`),
		call(`5`, "echo", `{"text":"needle`+"\xc0\xaf"+`"}`),
		call(`5`, "echo", `{"text":"needle\ud800"}`),
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"needle"}}}`,
		`{"jsonrpc":"2.0","method":"Tools/Call","params":{"name":"echo","arguments":{"text":"needle"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"TOOLS/CALL","params":{"name":"echo","arguments":{"text":"needle"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call ","params":{"name":"echo","arguments":{"text":"needle"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tool\u017f/call","params":{"name":"echo","arguments":{"text":"needle"}}}`,
		`{"id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"needle"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":["needle"]}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":["needle"]}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":null,"x":"needle"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","result":{"name":"needle"}}`,
		call(`5`, "only", `{"mode":"needle"}`),
		call(`5`, "ghost", `{"text":"needle"}`),
		"not json needle", `"needle"`, `{needle`, `{"jsonrpc":"2.0","id":5,"needle":1}`,
	} {
		name := frame
		t.Run(name[:min(len(name), 70)], func(t *testing.T) {
			r := start(t, options{})
			r.client.send(frame)
			r.pinned()
			if err := r.finish(); err != nil {
				t.Errorf("Run: %v", err)
			}
			r.never("needle")
			denied := 0
			for _, e := range r.log.entries {
				if e.Verdict == "deny" {
					denied++
				}
			}
			if denied != 1 {
				t.Errorf("%d lines of the log deny, want 1: %+v", denied, r.log.entries)
			}
		})
	}
}

// TestDuplicateInFlight: the second request with an open id is refused; the first one's answer is delivered. After
// that the id is free again.
func TestDuplicateInFlight(t *testing.T) {
	r := start(t, options{server: silent})
	r.client.send(call(`5`, "echo", `{"text":"first"}`))
	r.arrived(`5`)
	r.client.send(call(`5`, "echo", `{"text":"needle"}`), `{"jsonrpc":"2.0","id":5,"method":"vendor/needle"}`)
	refused := 0
	r.client.got.wait(t, "two refusals", func(line string) bool {
		if answers(line, `5`) && strings.Contains(line, "[bouncer blocked]") {
			refused++
		}
		return refused == 2
	})
	r.server.send(result(`5`, `{"content":[],"n":1}`))
	r.client.got.wait(t, "the first answer", func(line string) bool { return strings.Contains(line, `"n":1`) })
	r.client.send(call(`5`, "echo", `{"text":"third"}`))
	r.server.got.wait(t, "the reused id", func(line string) bool { return strings.Contains(line, "third") })
	r.server.send(result(`5`, `{"content":[],"n":3}`))
	r.client.got.wait(t, "the third answer", func(line string) bool { return strings.Contains(line, `"n":3`) })
	r.finish()
	r.never("needle")
	r.verdicts("echo", "allow", "allow")
}

// TestDeniedIDIsNotBorrowed: a denied call's id is free at once, and an answer of the server to it goes nowhere.
func TestDeniedIDIsNotBorrowed(t *testing.T) {
	r := start(t, options{})
	r.client.send(call(`5`, "only", `{"mode":"bad"}`))
	blocked(t, r.client.response(t, `5`))
	r.server.send(result(`5`, `{"content":[],"forged":true}`))
	r.client.send(call(`6`, "echo", `{}`))
	r.client.response(t, `6`)
	r.finish()
	r.once(`5`, `6`)
}

// TestCancelB17 relays a cancellation only while the server has the call.
func TestCancelB17(t *testing.T) {
	cancel := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{ "reason":"r","requestId":` + id + `}}`
	}
	r := start(t, options{server: silent})
	r.client.send(call(`5`, "echo", `{}`))
	r.arrived(`5`)
	r.client.send(cancel(`5`))
	r.server.got.wait(t, "the cancellation", func(line string) bool { return line == cancel(`5`) })
	r.server.send(result(`5`, `{"content":[],"late":1}`)) // the race that the protocol allows
	r.client.got.wait(t, "the late answer", func(line string) bool { return strings.Contains(line, `"late"`) })
	r.client.send(cancel(`5`), cancel(`"5"`), cancel(`null`), cancel(`5.0`), cancel(`99`),
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[5]}`)
	r.client.send(`{"jsonrpc":"2.0","id":"end","method":"ping"}`)
	r.client.response(t, `"end"`)
	r.finish()
	if n := r.reached("notifications/cancelled"); n != 1 {
		t.Errorf("%d cancellations reached the server, want 1", n)
	}
}

// TestCancelledAndNeverAnsweredB17: a server does not answer what was cancelled, and neither does the relay when the
// server ends: the client has forgotten the id.
func TestCancelledAndNeverAnsweredB17(t *testing.T) {
	r := start(t, options{server: silent})
	r.client.send(call(`5`, "echo", `{}`))
	r.arrived(`5`)
	r.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	r.server.request(t, "notifications/cancelled")
	r.finish()
	if n := count(r.client.got.list(), `5`); n != 0 {
		t.Errorf("%d responses to a cancelled call", n)
	}
}

// TestProgressB16: a call's progress comes in order and before its result.
func TestProgressB16(t *testing.T) {
	r := start(t, options{server: func(s *side, msg jsonrpc.Message) bool {
		if msg.Method != "tools/call" {
			return false
		}
		for i := range 50 {
			s.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p1","progress":%d}}`, i))
		}
		s.send(result(msg.ID.String(), `{"content":[]}`))
		return true
	}})
	r.client.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"progressToken":"p1","traceparent":"x","x":1},"name":"echo"}}`)
	r.client.response(t, `5`)
	r.finish()
	next := 0
	for _, line := range r.client.got.list() {
		if strings.Contains(line, "notifications/progress") {
			if !strings.Contains(line, fmt.Sprintf(`"progress":%d}`, next)) {
				t.Fatalf("progress out of order: %s", line)
			}
			next++
		} else if answers(line, `5`) && next != 50 {
			t.Errorf("the result came after %d of 50 notifications", next)
		}
	}
	if r.reached(`"_meta":{"progressToken":"p1","traceparent":"x","x":1}`) != 1 {
		t.Error("_meta was changed")
	}
}

// TestNoHeadOfLineB32: a slow call and one that waits for a person hold nobody up.
func TestNoHeadOfLineB32(t *testing.T) {
	r := start(t, options{server: func(s *side, msg jsonrpc.Message) bool {
		return msg.Method == "tools/call" && strings.Contains(string(msg.Params), "slow")
	}})
	r.client.send(call(`"slow"`, "echo", `{"text":"slow"}`))
	q := r.question(`"asked"`)
	for i := range 20 {
		id := fmt.Sprint(i)
		r.client.send(call(id, "echo", `{"text":"fast"}`))
		passed(t, r.client.response(t, id))
	}
	if count(r.client.got.list(), `"asked"`)+count(r.client.got.list(), `"slow"`) != 0 {
		t.Error("answered early")
	}
	r.client.send(result(q.ID.String(), yes))
	passed(t, r.client.response(t, `"asked"`))
	r.server.send(result(`"slow"`, `{"content":[]}`))
	passed(t, r.client.response(t, `"slow"`))
	r.finish()
}

// TestPipelinedUnread: a client writes thousands of calls of every verdict and reads nothing until it has, from the
// start or from the middle of a session on.
func TestPipelinedUnread(t *testing.T) {
	for _, fromStart := range []bool{true, false} {
		t.Run(fmt.Sprintf("from start %v", fromStart), func(t *testing.T) {
			r := start(t, options{mute: fromStart})
			if !fromStart {
				r.pinned()
				r.client.mute()
			}
			pipelineUnread(t, r)
		})
	}
}

func pipelineUnread(t *testing.T, r *rig) {
	const n = 10_000
	before, logged := len(r.client.got.list()), len(r.log.verdicts("echo"))
	ids := make([]string, n)
	for i := range n {
		ids[i] = fmt.Sprint(i)
		switch i % 4 {
		case 0:
			r.client.send(call(ids[i], "echo", `{"text":"fine"}`))
		case 1:
			r.client.send(call(ids[i], "only", `{"mode":"needle"}`))
		case 2:
			r.client.send(call(ids[i], "ghost", `{"x":"needle"}`))
		default:
			r.client.send(`{"jsonrpc":"2.0","id":` + ids[i] + `,"method":"TOOLS/CALL","params":{"x":"needle"}}`)
		}
	}
	r.client.flush(t) // however little the client reads, what it writes is taken
	r.client.unmute()
	seen := map[string]int{}
	r.client.got.wait(t, "all answers", func(line string) bool {
		if msg, bad := jsonrpc.Parse([]byte(line), jsonrpc.FromServer); bad == nil && msg.Shape == jsonrpc.Response {
			if _, err := strconv.Atoi(msg.ID.String()); err == nil {
				seen[msg.ID.String()]++
			}
		}
		return len(seen) == n
	})
	if err := r.finish(); err != nil {
		t.Errorf("Run: %v", err)
	}
	extra := 0
	if before == 0 {
		extra = 1 // the answer to initialize
	}
	if got := len(r.client.got.list()) - before; got != n+extra {
		t.Errorf("%d frames, want %d", got, n+extra)
	}
	r.never("needle")
	if got := len(r.log.entries) - logged; got != n {
		t.Errorf("%d lines in the log, want %d", got, n)
	}
}
