package proxy

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"strings"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// In protocol 2026-07-28 nobody asks a client anything: a call is answered with input_required, and the client makes it again
// with the answer and with the requestState that it was given. What it sends is its word alone, so the state is a random name
// for what this process remembers of the question: there is nothing in it to read, to forge or to use twice, and a process that
// was started anew asks again.

// carried is what a state stands for.
type carried struct {
	key   string // approval.Question.Key: client, server, tool, arguments, policy, and each destination with its origin
	input string // the name that the answer has among the inputResponses
	asked time.Time
	tool  string
	slot  int // the attempt that the call of tool was counted as
	// once is set on a state of a call that was approved and whose server wants to know more: the approval covers the rest of it.
	once bool
	// What the server itself had given the client, or the client it, when the question came between: restored as it was.
	state     []byte // requestState as it is spelled; nil for none
	responses []byte // inputResponses; nil for none
}

const (
	stateName = "bouncer-state-"
	inputName = "bouncer-"
	stateFor  = 10 * time.Minute
	maxStates = 1000
	maxKept   = 1 << 20 // bytes of the server's own that a state may stand for
)

// keep remembers c and returns its state. The oldest states go first: whose question is forgotten is asked again.
func (p *Proxy) keep(c *carried) string {
	state := stateName + random()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.states) >= maxStates {
		oldest := ""
		for name, each := range p.states {
			if oldest == "" || each.asked.Before(p.states[oldest].asked) {
				oldest = name
			}
		}
		delete(p.states, oldest)
	}
	p.states[state] = c
	return state
}

// spend returns what a state stands for, once.
func (p *Proxy) spend(state string) *carried {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.states[state]
	delete(p.states, state)
	if c == nil || time.Since(c.asked) > stateFor {
		return nil
	}
	return c
}

func random() string {
	var b [20]byte
	rand.Read(b[:])
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// carrier asks with the answer to the call (protocol 2026-07-28).
type carrier struct {
	p    *Proxy
	f    *inflight
	slot int
	key  string // of the question
	out  []byte // the answer to the call that holds the question, once it was asked
}

// Brought implements approval.Carrier. An answer counts for the very question whose state came with it, and for no other: edited
// arguments are another question.
func (c *carrier) Brought(q approval.Question) (approval.Answer, time.Duration, bool) {
	c.key = q.Key()
	with := c.f.brought
	if with == nil || c.key == "" || with.key != c.key {
		return approval.Answer{}, 0, false
	}
	if with.once {
		return approval.Answer{Choice: approval.Once, How: approval.ByPerson}, time.Since(with.asked) + approval.Fastest, true
	}
	if c.f.answer == nil { // made again with the state, and without an answer
		return approval.Answer{}, 0, false
	}
	return q.ReadResult(c.f.answer), time.Since(with.asked), true
}

// Ask implements approval.Channel.
func (c *carrier) Ask(_ context.Context, q approval.Question) approval.Answer {
	mode, why := c.p.peer.dialogue(true)
	switch {
	case why != "":
		return approval.Answer{How: approval.Unsupported, Why: why}
	case len(c.f.state)+len(c.f.responses) > maxKept:
		return approval.Answer{How: approval.Unsupported, Why: "the call carries too much of the server's own state for a question to come between"}
	}
	input := inputName + random()
	state := c.p.keep(&carried{key: q.Key(), input: input, asked: time.Now(), tool: c.f.tool, slot: c.slot, state: c.f.state, responses: c.f.responses})
	result := append([]byte(`{"resultType":"input_required","inputRequests":{"`+input+`":{"method":"elicitation/create","params":`), form(q, mode)...)
	result = append(append(append(result, `}},"requestState":"`...), state...), `"}`...)
	c.out = jsonrpc.ResultFrame(c.f.id, result)
	return approval.Answer{How: approval.Carried, Why: "the question went to the client"}
}

// unwrap takes what is Bouncer's out of a call that is made again, puts back what the server had said to it, and notes the answer
// that it brings. What was not given out by this process, or was used already, counts for nothing and is taken out all the same.
func (p *Proxy) unwrap(f *inflight, frame []byte) ([]byte, error) {
	v, err := jsonrpc.Decode(frame)
	if err != nil {
		return nil, err
	}
	params, _ := v.Get("params")
	state, hasState := params.Get("requestState")
	responses, hasResponses := params.Get("inputResponses")
	if hasState {
		f.state = state.Raw
	}
	var theirs, ours []jsonrpc.Member
	for _, m := range responses.Members {
		if strings.HasPrefix(m.Name, inputName) {
			ours = append(ours, m)
		} else {
			theirs = append(theirs, m)
		}
	}
	mine := state.Kind == jsonrpc.String && strings.HasPrefix(state.Text, stateName)
	if !mine && len(ours) == 0 {
		if hasResponses {
			f.responses = responses.Raw
		}
		f.state, f.responses = clone(f.state), clone(f.responses)
		return frame, nil
	}
	var kept []byte
	if mine {
		f.state, f.brought = nil, p.spend(state.Text)
		if c := f.brought; c != nil {
			f.state, kept = c.state, c.responses
			for _, m := range ours {
				if m.Name == c.input {
					f.answer = clone(m.Value.Raw)
				}
			}
		}
	}
	f.state, f.responses = clone(f.state), merge(kept, theirs)
	return object(v, func(m jsonrpc.Member) []byte {
		if m.Name != "params" {
			return m.Value.Raw
		}
		rest := object(m.Value, func(m jsonrpc.Member) []byte {
			if m.Name == "requestState" || m.Name == "inputResponses" {
				return nil
			}
			return m.Value.Raw
		}, member("inputResponses", f.responses), member("requestState", f.state))
		return rest
	}), nil
}

// merge joins the answers that the server had before Bouncer's question came between with those that came with it.
func merge(kept []byte, theirs []jsonrpc.Member) []byte {
	if len(theirs) == 0 {
		return kept
	}
	before, _ := jsonrpc.Decode(kept)
	members := theirs
	for _, m := range before.Members {
		again := false
		for _, t := range theirs {
			again = again || t.Name == m.Name
		}
		if !again {
			members = append(members, m)
		}
	}
	return object(jsonrpc.Value{Members: members}, func(m jsonrpc.Member) []byte { return m.Value.Raw })
}

// continued gives the answer of a server that wants to know more a state of Bouncer's own, which covers the rest of the call that a
// person said yes to. The server's own state is in it, and goes back as it was.
func (p *Proxy) continued(f *inflight, frame []byte) []byte {
	v, err := jsonrpc.Decode(frame)
	if err != nil {
		return frame
	}
	result, _ := v.Get("result")
	kind, _ := result.Get("resultType")
	state, _ := result.Get("requestState")
	if kind.Text != "input_required" || len(state.Raw) > maxKept {
		return frame
	}
	next := *f.once
	next.asked, next.state = time.Now(), clone(state.Raw)
	name := p.keep(&next)
	return object(v, func(m jsonrpc.Member) []byte {
		if m.Name != "result" {
			return m.Value.Raw
		}
		return object(m.Value, func(m jsonrpc.Member) []byte {
			if m.Name == "requestState" {
				return nil
			}
			return m.Value.Raw
		}, member("requestState", jsonrpc.Quote(name)))
	})
}

// object writes an object again with the values that edit gives, without those for which it gives nil, and with more members.
func object(v jsonrpc.Value, edit func(jsonrpc.Member) []byte, more ...[]byte) []byte {
	out := []byte{'{'}
	add := func(parts ...[]byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		for _, part := range parts {
			out = append(out, part...)
		}
	}
	for _, m := range v.Members {
		if value := edit(m); value != nil {
			add(m.NameRaw, []byte{':'}, value)
		}
	}
	for _, m := range more {
		if m != nil {
			add(m)
		}
	}
	return append(out, '}')
}

// member is one member of an object; nil when it has no value.
func member(name string, value []byte) []byte {
	if value == nil {
		return nil
	}
	return append(append(jsonrpc.Quote(name), ':'), value...)
}

func clone(b []byte) []byte {
	if b == nil {
		return nil
	}
	return append([]byte{}, b...)
}
