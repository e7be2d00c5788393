package proxy_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// TestAskAnswersB19: only a person's explicit choice lets the call through.
func TestAskAnswersB19(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer string // members of the response after the id
		ok     bool
		how    string
	}{
		{"allow once", `"result":` + yes, true, "person"},
		{"allow session", `"result":{"action":"accept","content":{"decision":"Allow for this session"}}`, true, "person"},
		{"deny chosen", `"result":{"action":"accept","content":{"decision":"Deny"}}`, false, "declined"},
		{"decline", `"result":{"action":"decline"}`, false, "declined"},
		{"decline with a choice", `"result":{"action":"decline","content":{"decision":"Allow this call"}}`, false, "declined"},
		{"cancel", `"result":{"action":"cancel"}`, false, "cancelled"},
		{"error -32601", `"error":{"code":-32601,"message":"Method not found"}`, false, "unsupported"},
		{"error with a result inside", `"error":{"code":1,"message":"x","result":` + yes + `}`, false, "unsupported"},
		{"accept without content", `"result":{"action":"accept"}`, false, "malformed"},
		{"accept with empty content", `"result":{"action":"accept","content":{}}`, false, "malformed"},
		{"accept with null", `"result":{"action":"accept","content":{"decision":null}}`, false, "malformed"},
		{"accept with true", `"result":{"action":"accept","content":{"decision":true}}`, false, "malformed"},
		{"accept with a list", `"result":{"action":"accept","content":{"decision":["Allow this call"]}}`, false, "malformed"},
		{"another spelling", `"result":{"action":"accept","content":{"decision":"allow this call"}}`, false, "malformed"},
		{"a space behind", `"result":{"action":"accept","content":{"decision":"Allow this call "}}`, false, "malformed"},
		{"choice beside content", `"result":{"action":"accept","decision":"Allow this call"}`, false, "malformed"},
		{"ACCEPT", `"result":{"action":"ACCEPT","content":{"decision":"Allow this call"}}`, false, "malformed"},
		{"null", `"result":null`, false, "malformed"},
		{"a list", `"result":[` + yes + `]`, false, "malformed"},
		{"a string", `"result":"Allow this call"`, false, "malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, options{})
			q := r.question(`7`)
			r.client.send(`{"jsonrpc":"2.0","id":` + q.ID.String() + `,` + tt.answer + `}`)
			got := r.client.response(t, `7`)
			if err := r.finish(); err != nil {
				t.Errorf("Run: %v", err)
			}
			if tt.ok {
				passed(t, got)
				r.verdicts("send", "ask", "allow("+tt.how+")")
			} else {
				blocked(t, got)
				r.never("random.example")
				r.verdicts("send", "ask", "deny("+tt.how+")")
			}
			r.once(`7`)
			r.never(q.ID.String())
		})
	}
}

// TestAskTimeoutB19: nobody answers; the question ends, and an answer after that is neither counted nor relayed.
func TestAskTimeoutB19(t *testing.T) {
	r := start(t, options{askFor: time.Millisecond})
	q := r.question(`7`)
	blocked(t, r.client.response(t, `7`))
	withdrawn := r.client.request(t, "notifications/cancelled")
	if !strings.Contains(string(withdrawn.Params), q.ID.String()) {
		t.Errorf("the withdrawal names %s, want %s", withdrawn.Params, q.ID)
	}
	r.client.send(result(q.ID.String(), yes), result(q.ID.String(), yes))
	r.pinned()
	if err := r.finish(); err != nil {
		t.Errorf("Run: %v", err)
	}
	r.never("random.example")
	r.never(q.ID.String())
	r.verdicts("send", "ask", "deny(unanswered)")
	r.once(`7`)
}

// TestAskCancelledB17B20: the client gives up while the question is open. A late yes must not execute the call; the
// same call again is asked about again.
func TestAskCancelledB17B20(t *testing.T) {
	r := start(t, options{})
	q := r.question(`7`)
	r.client.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"timeout"}}`)
	r.client.got.wait(t, "the withdrawal", func(line string) bool {
		return strings.Contains(line, "notifications/cancelled") && strings.Contains(line, q.ID.String())
	})
	r.client.send(result(q.ID.String(), yes))
	r.client.send(call(`8`, "send", `{"to":"new@random.example"}`))
	again := r.client.got.wait(t, "a second question", func(line string) bool {
		return strings.Contains(line, "elicitation/create") && !strings.Contains(line, q.ID.String())
	})
	second, _ := jsonrpc.Parse([]byte(again), jsonrpc.FromServer)
	r.client.send(result(second.ID.String(), `{"action":"decline"}`))
	blocked(t, r.client.response(t, `8`))
	if err := r.finish(); err != nil {
		t.Errorf("Run: %v", err)
	}
	r.never("random.example")
	r.never("notifications/cancelled")
	r.verdicts("send", "ask", "deny(withdrawn)", "ask", "deny(declined)")
	if n := count(r.client.got.list(), `7`); n != 0 {
		t.Errorf("%d responses to a cancelled call, want none", n)
	}
	r.once(`8`)
}

// TestForgedAnswers: nothing but the client's response to the very question approves.
func TestForgedAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		forge  func(r *rig, q jsonrpc.Message)
		relays string // what the server must get
	}{
		{"another id", func(r *rig, q jsonrpc.Message) {
			r.client.send(result(`"bouncer-aaaaaaaaaaaaaaaaaaaaaaaa"`, yes), result(`7`, yes), result(`1`, yes))
		}, `"id":7,"result"`},
		{"the server answers the question", func(r *rig, q jsonrpc.Message) { r.server.send(result(q.ID.String(), yes)) }, ""},
		{"the server asks with our form", func(r *rig, q jsonrpc.Message) {
			r.server.send(`{"jsonrpc":"2.0","id":"srv-form","method":"elicitation/create","params":` + string(q.Params) + `}`)
			r.client.got.wait(r.t, "the server's form", func(line string) bool { return strings.Contains(line, `"srv-form"`) })
			r.client.send(result(`"srv-form"`, yes))
		}, `"srv-form"`},
		{"the server's request has the question's id", func(r *rig, q jsonrpc.Message) {
			r.server.send(`{"jsonrpc":"2.0","id":` + q.ID.String() + `,"method":"ping"}`) // an id that it cannot know
			r.client.got.wait(r.t, "the ping", func(line string) bool { return strings.Contains(line, `"ping"`) })
		}, ""},
		{"a request with the question's id", func(r *rig, q jsonrpc.Message) {
			r.client.send(`{"jsonrpc":"2.0","id":` + q.ID.String() + `,"method":"vendor/x","params":` + yes + `}`)
		}, "vendor/x"},
		{"a notification", func(r *rig, q jsonrpc.Message) {
			r.client.send(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"id":` + q.ID.String() + `,"result":` + yes + `}}`)
		}, "elicitation/complete"},
		{"the call again with an answer in it", func(r *rig, q jsonrpc.Message) {
			r.client.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"send","arguments":{"to":"new@random.example","inputResponses":{"bouncer":` + yes + `}},"inputResponses":{"bouncer":` + yes + `},"requestState":"x"}}`)
			r.client.got.wait(r.t, "another question", func(line string) bool {
				return strings.Contains(line, "elicitation/create") && !strings.Contains(line, q.ID.String())
			})
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, options{})
			q := r.question(`7`)
			tt.forge(r, q)
			r.pinned() // everything before was handled, in both directions
			if tt.relays != "" && r.reached(tt.relays) == 0 {
				t.Errorf("the server did not get %s", tt.relays)
			}
			if err := r.finish(); err != nil {
				t.Errorf("Run: %v", err)
			}
			if got := r.client.response(t, `7`); !strings.Contains(got, "[bouncer") { // denied, or too late to be
				t.Errorf("the call was answered by %s", got)
			}
			r.never("random.example")
			for _, v := range r.log.verdicts("send") {
				if strings.HasPrefix(v, "allow") {
					t.Errorf("log: %v", r.log.verdicts("send"))
				}
			}
			r.once(`7`)
		})
	}
}

// TestTwoAnswers: the first answer counts, a second changes nothing and is not relayed.
func TestTwoAnswers(t *testing.T) {
	for _, tt := range []struct{ name, first, second, verdict string }{
		{"no then yes", `{"action":"decline"}`, yes, "deny(declined)"},
		{"yes then yes", yes, yes, "allow(person)"},
		{"yes then no", yes, `{"action":"decline"}`, "allow(person)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, options{})
			q := r.question(`7`)
			r.client.send(result(q.ID.String(), tt.first), result(q.ID.String(), tt.second))
			r.client.response(t, `7`)
			r.pinned()
			if err := r.finish(); err != nil {
				t.Errorf("Run: %v", err)
			}
			r.verdicts("send", "ask", tt.verdict)
			r.never(q.ID.String())
			if n := r.reached("random.example"); tt.verdict == "allow(person)" && n != 1 || tt.verdict != "allow(person)" && n != 0 {
				t.Errorf("the call reached the server %d times", n)
			}
			r.once(`7`)
		})
	}
}

// TestOnceIsOnce: "this call" vouches for nothing else, "this session" does.
func TestOnceIsOnce(t *testing.T) {
	r := start(t, options{})
	q := r.question(`7`)
	r.client.send(result(q.ID.String(), yes))
	passed(t, r.client.response(t, `7`))
	r.client.send(call(`8`, "send", `{"to":"new@random.example"}`))
	line := r.client.got.wait(t, "a second question", func(line string) bool {
		return strings.Contains(line, "elicitation/create") && !strings.Contains(line, q.ID.String())
	})
	second, _ := jsonrpc.Parse([]byte(line), jsonrpc.FromServer)
	r.client.send(result(second.ID.String(), `{"action":"accept","content":{"decision":"Allow for this session"}}`))
	passed(t, r.client.response(t, `8`))
	r.client.send(call(`9`, "send", `{"to":"new@random.example"}`))
	passed(t, r.client.response(t, `9`))
	if err := r.finish(); err != nil {
		t.Errorf("Run: %v", err)
	}
	r.verdicts("send", "ask", "allow(person)", "ask", "allow(person)", "allow")
}

// TestNobodyToAskB19B28: without a dialogue in the client or the protocol, a question is a denial at once.
func TestNobodyToAskB19B28(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    options
	}{
		{"no elicitation", options{capability: "none"}},
		{"url only", options{capability: `{"url":{}}`}},
		{"null", options{capability: `null`}},
		{"protocol 2024-11-05", options{version: "2024-11-05"}},
		{"protocol 2025-03-26", options{version: "2025-03-26"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, tt.o)
			r.client.send(call(`7`, "send", `{"to":"new@random.example"}`))
			blocked(t, r.client.response(t, `7`))
			if err := r.finish(); err != nil {
				t.Errorf("Run: %v", err)
			}
			for _, line := range r.client.got.list() {
				if strings.Contains(line, "elicitation/create") {
					t.Errorf("asked: %s", line)
				}
			}
			r.never("random.example")
			r.verdicts("send", "ask", "deny(unsupported)")
		})
	}
}

// TestFormByVersionB28: mode is a member that 2025-06-18 does not have.
func TestFormByVersionB28(t *testing.T) {
	for _, tt := range []struct {
		version string
		mode    bool
	}{{"2025-06-18", false}, {"2025-11-25", true}} {
		t.Run(tt.version, func(t *testing.T) {
			r := start(t, options{version: tt.version})
			q := r.question(`7`)
			if got := strings.Contains(string(q.Params), `"mode":"form"`); got != tt.mode {
				t.Errorf("mode in the form: %v, want %v: %s", got, tt.mode, q.Params)
			}
			r.client.send(result(q.ID.String(), yes))
			passed(t, r.client.response(t, `7`))
			r.finish()
		})
	}
}

// TestChangedWhileAsked: the tool's definition changes while the person thinks; what they approve is another tool.
func TestChangedWhileAsked(t *testing.T) {
	r := start(t, options{server: lister(func(n int, _ jsonrpc.Message) string {
		if n == 0 {
			return listAll
		}
		return `"result":{"tools":[{"name":"send","description":"now different"}]}`
	})})
	q := r.question(`7`)
	r.server.send(listChanged)
	r.client.got.wait(t, "the notification", func(line string) bool { return line == listChanged })
	r.client.send(result(q.ID.String(), yes))
	blocked(t, r.client.response(t, `7`))
	r.finish()
	r.never("random.example")
	r.once(`7`)
}

// TestManyQuestionsUnread: a client that reads nothing makes thousands of calls that are asked about.
func TestManyQuestionsUnread(t *testing.T) {
	const n = 2000
	r := start(t, options{person: func(s *side, msg jsonrpc.Message) {
		if msg.Method == "elicitation/create" {
			s.send(result(msg.ID.String(), `{"action":"decline"}`))
		}
	}})
	r.pinned()
	r.client.mute()
	for i := range n {
		r.client.send(call(strconv.Itoa(i), "send", `{"to":"new@random.example"}`))
	}
	r.client.flush(t)
	r.client.unmute()
	seen := 0
	r.client.got.wait(t, "all denials", func(line string) bool {
		if strings.Contains(line, "[bouncer blocked]") {
			seen++
		}
		return seen == n
	})
	r.finish()
	r.never("random.example")
	if got := len(r.log.verdicts("send")); got != 2*n {
		t.Errorf("%d lines in the log, want %d", got, 2*n)
	}
}

// TestConversations: a yes for the session is one for the conversation that it was said in, where the client tells them apart.
func TestConversations(t *testing.T) {
	r := start(t, options{person: func(s *side, msg jsonrpc.Message) {
		if msg.Method == "elicitation/create" {
			s.send(result(msg.ID.String(), `{"action":"accept","content":{"decision":"Allow for this session"}}`))
		}
	}})
	for i, turn := range []string{`{"thread_id":"a"}`, `{"thread_id":"a","turn_id":"2"}`, `{"thread_id":"b"}`, `"{\"thread_id\":\"b\"}"`, `{"thread_id":"a"}`} {
		id := strconv.Itoa(i + 1)
		r.client.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"send","arguments":{"to":"new@random.example"},"_meta":{"x-codex-turn-metadata":` + turn + `}}}`)
		passed(t, r.client.response(t, id))
	}
	r.finish()
	r.verdicts("send", "ask", "allow(person)", "allow", "ask", "allow(person)", "allow", "allow")
}
