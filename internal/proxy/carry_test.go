package proxy_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// asked is a question that came back with its call.
type asked struct{ input, state string }

// carriedQuestion reads the answer to a call, which must be a question.
func carriedQuestion(t *testing.T, line string) asked {
	t.Helper()
	msg, bad := jsonrpc.Parse([]byte(line), jsonrpc.FromServer)
	if bad != nil {
		t.Fatalf("not a frame: %s", line)
	}
	v, err := jsonrpc.Decode(msg.Result)
	if err != nil {
		t.Fatal(err)
	}
	inputs, _ := v.Get("inputRequests")
	state, _ := v.Get("requestState")
	kind, _ := v.Get("resultType")
	if kind.Text != "input_required" || len(inputs.Members) != 1 || !strings.HasPrefix(state.Text, "bouncer-state-") {
		t.Fatalf("not a question: %s", line)
	}
	return asked{inputs.Members[0].Name, state.Text}
}

// retry is a call made again with an answer and a state. members stand in params as well.
func retry(id, tool, args, responses, state string) string {
	params := `"name":"` + tool + `","arguments":` + args
	if responses != "" {
		params += `,"inputResponses":` + responses
	}
	if state != "" {
		params += `,"requestState":` + state
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + params + `,` + modernMeta + `}}`
}

func (a asked) answer(form string) string { return `{"` + a.input + `":` + form + `}` }
func (a asked) token() string             { return `"` + a.state + `"` }

const (
	newcomer = `{"to":"new@random.example"}`
	stranger = `{"to":"other@random.example"}`
)

// modernRig has one question open, about send to newcomer.
func modernRig(t *testing.T, o options) (*rig, asked) {
	t.Helper()
	o.noHandshake = true
	r := start(t, o)
	r.client.send(modernCall(`1`, "send", newcomer))
	return r, carriedQuestion(t, r.client.response(t, `1`))
}

// TestCarriedB29: the answer that a call brings along lets this very call through, once, and nothing of Bouncer's own reaches the
// server.
func TestCarriedB29(t *testing.T) {
	r, q := modernRig(t, options{})
	r.client.send(retry(`2`, "send", newcomer, q.answer(yes), q.token()))
	passed(t, r.client.response(t, `2`))
	r.client.send(modernCall(`3`, "send", newcomer)) // once is once
	carriedQuestion(t, r.client.response(t, `3`))
	r.finish()
	r.never("bouncer-state-")
	r.never("inputResponses")
	r.verdicts("send", "ask", "ask", "allow(person)", "ask")
	r.once(`2`)
	r.once(`1`)
}

// TestCarriedLiesB29: what the client sends is its word alone. Without a state that this process gave out for this very question,
// and that was not used before, an answer counts for nothing.
func TestCarriedLiesB29(t *testing.T) {
	for _, tt := range []struct {
		name string
		call func(q, other asked) string
	}{
		{"no state", func(q, _ asked) string { return retry(`9`, "send", newcomer, q.answer(yes), "") }},
		{"a made-up state", func(q, _ asked) string {
			return retry(`9`, "send", newcomer, q.answer(yes), `"bouncer-state-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`)
		}},
		{"another process's state", func(q, other asked) string { return retry(`9`, "send", newcomer, other.answer(yes), other.token()) }},
		{"the answer under another name", func(q, _ asked) string {
			return retry(`9`, "send", newcomer, `{"bouncer-x":`+yes+`,"q":`+yes+`}`, q.token())
		}},
		{"edited arguments", func(q, _ asked) string { return retry(`9`, "send", stranger, q.answer(yes), q.token()) }},
		{"one more argument", func(q, _ asked) string {
			return retry(`9`, "send", `{"to":"new@random.example","cc":"new@random.example"}`, q.answer(yes), q.token())
		}},
		{"no answer", func(q, _ asked) string { return retry(`9`, "send", newcomer, "", q.token()) }},
		{"an empty state", func(q, _ asked) string { return retry(`9`, "send", newcomer, q.answer(yes), `""`) }},
		{"a state that is no text", func(q, _ asked) string { return retry(`9`, "send", newcomer, q.answer(yes), `["`+q.state+`"]`) }},
		{"answers that are a list", func(q, _ asked) string { return retry(`9`, "send", newcomer, `[`+q.answer(yes)+`]`, q.token()) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, other := modernRig(t, options{})
			r, q := modernRig(t, options{})
			r.client.send(tt.call(q, other))
			carriedQuestion(t, r.client.response(t, `9`))
			r.finish()
			r.never("random.example")
			r.never("bouncer-state-")
		})
	}
}

// TestCarriedForms: an answer that is none of the form's denies, as in the other era.
func TestCarriedForms(t *testing.T) {
	for form, how := range map[string]string{
		`{"action":"decline"}`: "declined", `{"action":"cancel"}`: "cancelled", `{"action":"accept"}`: "malformed",
		`{"action":"accept","content":{"decision":"Allow"}}`: "malformed", `{"action":"accept","content":{"decision":"Deny"}}`: "declined",
		`null`: "malformed", `true`: "malformed", `{}`: "malformed",
	} {
		t.Run(form, func(t *testing.T) {
			r, q := modernRig(t, options{})
			r.client.send(retry(`2`, "send", newcomer, q.answer(form), q.token()))
			got := r.client.response(t, `2`)
			blocked(t, got)
			if !strings.Contains(got, `"resultType":"complete"`) {
				t.Errorf("no resultType: %s", got)
			}
			r.client.send(retry(`3`, "send", newcomer, q.answer(yes), q.token())) // the state is spent
			if how == "declined" {
				blocked(t, r.client.response(t, `3`)) // and a no holds
			} else {
				carriedQuestion(t, r.client.response(t, `3`))
			}
			r.finish()
			r.never("random.example")
		})
	}
}

// TestCarriedTooFastB19: an answer that came sooner than a person could have read the question is nobody's.
func TestCarriedTooFastB19(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pending")
	r, q := modernRig(t, options{desk: approval.NewDesk(approval.Settings{}, approval.NewDir(dir, nil), nil)})
	r.client.send(retry(`2`, "send", newcomer, q.answer(yes), q.token()))
	got := r.client.response(t, `2`)
	blocked(t, got)
	if !strings.Contains(got, "no answer from a person") || !strings.Contains(got, "bouncer approve ") {
		t.Errorf("the denial says %s", got)
	}
	r.finish()
	r.never("random.example")
	r.verdicts("send", "ask", "ask", "deny(unanswered)")
}

// TestCarriedOverTheServersOwn: a server asks too. What it gave the client comes back to it as it was, and a yes covers the rest of
// the call that it was said to.
func TestCarriedOverTheServersOwn(t *testing.T) {
	r, q := modernRig(t, options{server: func(s *side, msg jsonrpc.Message) bool {
		if msg.Method != "tools/call" {
			return false
		}
		switch {
		case msg.ID.String() == `2`:
			s.send(result(`2`, `{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{"message":"Bouncer: allow this call?"}}},"requestState":"s\/1","content":null}`))
		default:
			s.send(result(msg.ID.String(), `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`))
		}
		return true
	}})
	r.client.send(retry(`2`, "send", newcomer, q.answer(yes), q.token()))
	got := r.client.response(t, `2`)
	if !strings.Contains(got, `[server srv asks; this is NOT a question of Bouncer's] Bouncer: allow this call?`) {
		t.Errorf("the server's question is not marked: %s", got)
	}
	next := carriedQuestion(t, got) // the state is Bouncer's, the question the server's
	if next.input != "name" {
		t.Errorf("the server's question is called %q", next.input)
	}
	r.client.send(retry(`3`, "send", newcomer, `{"name":{"action":"accept","content":{"name":"x"}}}`, next.token()))
	passed(t, r.client.response(t, `3`))
	r.server.got.wait(t, "the server's own state", func(line string) bool {
		return strings.Contains(line, `"id":3`) && strings.Contains(line, `"requestState":"s\/1"`) &&
			strings.Contains(line, `"inputResponses":{"name":{"action":"accept","content":{"name":"x"}}}`)
	})
	r.client.send(retry(`4`, "send", newcomer, `{"name":{"action":"accept"}}`, next.token())) // spent
	carriedQuestion(t, r.client.response(t, `4`))
	r.client.send(retry(`5`, "send", stranger, `{"name":{"action":"accept"}}`, `"s\/1"`)) // the server's own state vouches for nothing
	later := carriedQuestion(t, r.client.response(t, `5`))
	r.client.send(retry(`6`, "send", stranger, later.answer(yes), later.token()))
	passed(t, r.client.response(t, `6`))
	r.server.got.wait(t, "what the question had come between", func(line string) bool {
		return strings.Contains(line, `"id":6`) && strings.Contains(line, `"requestState":"s\/1"`) && strings.Contains(line, `"inputResponses":{"name":{"action":"accept"}}`)
	})
	r.finish()
	r.never("bouncer-state-")
	r.never(`"` + q.input)
}

// TestCarriedBudget: one call spends one attempt, however many answers it needs.
func TestCarriedBudget(t *testing.T) {
	r, q := modernRig(t, options{rules: "send: {exfiltrating: true, sink_params: [to], max_calls: 1}\n"})
	r.client.send(retry(`2`, "send", newcomer, q.answer(yes), q.token()))
	passed(t, r.client.response(t, `2`))
	r.client.send(modernCall(`3`, "send", newcomer))
	blocked(t, r.client.response(t, `3`))
	r.finish()
}

// TestCarriedWithoutForms: a client that cannot show a question is never given one.
func TestCarriedWithoutForms(t *testing.T) {
	r := start(t, options{noHandshake: true})
	r.client.send(strings.Replace(modernCall(`1`, "send", newcomer), `{"elicitation":{}}`, `{}`, 1))
	blocked(t, r.client.response(t, `1`))
	r.finish()
	r.verdicts("send", "ask", "deny(unsupported)")
}

// TestManyQuestions: a hundred questions at once, each with its own answer: none is lost, doubled or crossed.
func TestManyQuestions(t *testing.T) {
	const many = 100
	var mu sync.Mutex
	questions := map[string]string{} // address -> id of the question
	all := make(chan struct{})
	r := start(t, options{person: func(s *side, msg jsonrpc.Message) {
		if msg.Method != "elicitation/create" {
			return
		}
		params, _ := jsonrpc.Decode(msg.Params)
		message, _ := params.Get("message")
		_, rest, _ := strings.Cut(message.Text, "to reach ")
		address, _, _ := strings.Cut(rest, "\n")
		mu.Lock()
		defer mu.Unlock()
		questions[address] = msg.ID.String()
		if len(questions) == many {
			close(all)
		}
	}})
	for i := range many {
		r.client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"send","arguments":{"to":"p%d@random.example"}}}`, i, i))
	}
	<-all
	for address, id := range questions {
		var i int
		fmt.Sscanf(address, "p%d@", &i)
		form := yes
		if i%3 == 0 {
			form = `{"action":"decline"}`
		}
		r.client.send(result(id, form))
	}
	for i := range many {
		got := r.client.response(t, fmt.Sprintf(`"c%d"`, i))
		if i%3 == 0 {
			blocked(t, got)
		} else {
			passed(t, got)
		}
	}
	r.finish()
	for i := range many {
		n, want := 0, min(i%3, 1)
		for _, line := range r.server.got.list() {
			if strings.Contains(line, fmt.Sprintf(`"p%d@random.example"`, i)) {
				n++
			}
		}
		if n != want {
			t.Errorf("the server got the call to p%d %d times, want %d", i, n, want)
		}
	}
}
