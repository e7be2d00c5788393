package proxy_test

import (
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"m","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

func modernCall(id, tool, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `,` + modernMeta + `}}`
}

// TestVersionsRelayedB28: what the client asks for and what the server settles on both pass as they are.
func TestVersionsRelayedB28(t *testing.T) {
	for _, tt := range []struct{ asks, gets string }{
		{`"2025-11-25"`, `"2024-11-05"`}, {`"2099-01-01"`, `"2025-11-25"`}, {`"2025-11-25"`, `"2099-01-01"`}, {`7`, `null`}, {`""`, `""`},
	} {
		t.Run(tt.asks+" "+tt.gets, func(t *testing.T) {
			r := start(t, options{raw: true})
			request := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":` + tt.asks + `,"capabilities":{"x-future":{"k":1}},"clientInfo":{"name":"c"}}}`
			answer := result(`1`, `{"protocolVersion":`+tt.gets+`,"capabilities":{},"serverInfo":{}, "x":1}`)
			r.client.send(request)
			r.arrived(`1`)
			r.server.send(answer)
			if got := r.client.response(t, `1`); got != answer {
				t.Errorf("the client got %s", got)
			}
			r.finish()
			if got := r.server.got.list(); len(got) != 1 || got[0] != request {
				t.Errorf("the server got %q", got)
			}
		})
	}
}

// TestProbesB29B31: probes for what a server lacks pass, and so do its own errors. Bouncer invents neither.
func TestProbesB29B31(t *testing.T) {
	r := start(t, options{raw: true})
	methods := []string{"server/discover", "resources/list", "resources/templates/list", "prompts/list", "completion/complete",
		"logging/setLevel", "resources/subscribe", "resources/unsubscribe", "ping", "subscriptions/listen", "tasks/update", "vendor/whatever"}
	var requests, replies []string
	for i, m := range methods {
		id := `"p` + string(rune('a'+i)) + `"`
		requests = append(requests, `{"jsonrpc":"2.0","id":`+id+`,"method":"`+m+`","params":{`+modernMeta+`}}`)
		replies = append(replies, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32601,"message":"Method not found: `+m+`","data":{"x":1}}}`)
		r.client.send(requests[i])
		r.arrived(id)
		r.server.send(replies[i])
		r.client.response(t, id)
	}
	r.finish()
	compare(t, "client to server", requests, r.server.got.list())
	compare(t, "server to client", replies, r.client.got.list())
}

// TestModernB29: in the stateless protocol the first message may be a call. It is judged, Bouncer's own list has the
// envelope that the version wants, denials have a resultType, and the client never gets a request.
func TestModernB29(t *testing.T) {
	r := start(t, options{noHandshake: true, server: func(s *side, msg jsonrpc.Message) bool {
		if msg.Method == "tools/list" && !strings.Contains(string(msg.Params), `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`) {
			s.send(`{"jsonrpc":"2.0","id":` + msg.ID.String() + `,"error":{"code":-32602,"message":"no version"}}`)
			return true
		}
		return false
	}})
	r.client.send(modernCall(`1`, "echo", `{}`), modernCall(`2`, "only", `{"mode":"needle"}`), modernCall(`3`, "send", `{"to":"new@random.example"}`))
	passed(t, r.client.response(t, `1`))
	got := r.client.response(t, `2`)
	blocked(t, got)
	if !strings.Contains(got, `"resultType":"complete"`) {
		t.Errorf("no resultType: %s", got)
	}
	if got := r.client.response(t, `3`); !strings.Contains(got, `"resultType":"input_required"`) {
		t.Errorf("no question: %s", got)
	}
	r.finish()
	r.never("needle")
	r.never("random.example")
	r.verdicts("send", "ask")
	for _, line := range r.client.got.list() {
		if strings.HasPrefix(line, `{"jsonrpc":"2.0","id":"bouncer`) || strings.HasPrefix(line, `{"jsonrpc":"2.0","method"`) {
			t.Errorf("the client got a request: %s", line)
		}
	}
}

// TestModernRetryB29: a retry with inputResponses is a call of its own: judged by its own arguments, and relayed with
// the server's state as it is.
func TestModernRetryB29(t *testing.T) {
	r := start(t, options{noHandshake: true, server: silent})
	r.client.send(modernCall(`1`, "only", `{"mode":"good"}`))
	r.arrived(`1`)
	asks := result(`1`, `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}},"requestState":"s\/1","content":null}`)
	r.server.send(asks)
	if got := r.client.response(t, `1`); got != asks {
		t.Errorf("got %s", got)
	}
	retry := func(id, mode string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"only","arguments":{"mode":"` + mode + `"},"inputResponses":{"q":{"action":"accept"}},"requestState":"s\/1",` + modernMeta + `}}`
	}
	r.client.send(retry(`2`, "needle"), retry(`3`, "good"))
	blocked(t, r.client.response(t, `2`))
	r.server.got.wait(t, "the retry as it is", func(line string) bool { return line == retry(`3`, "good") })
	r.server.send(result(`3`, `{"resultType":"complete","content":[],"ttlMs":1,"cacheScope":"public"}`))
	passed(t, r.client.response(t, `3`))
	r.finish()
	r.never("needle")
}

// TestListenTornDownB29: a subscription that the server ends gets no response; its id is free again.
func TestListenTornDownB29(t *testing.T) {
	r := start(t, options{raw: true})
	for _, n := range []string{"1", "2"} {
		listen := `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"n":` + n + `,` + modernMeta + `}}`
		r.client.send(listen)
		r.server.got.wait(t, "the subscription", func(line string) bool { return line == listen })
		r.server.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}`, `{"jsonrpc":"2.0","method":"vendor/after-`+n+`"}`)
		r.client.request(t, "vendor/after-"+n)
	}
	r.finish()
	if n := count(r.client.got.list(), `"s"`); n != 0 {
		t.Errorf("%d responses to a subscription that was torn down", n)
	}
}
