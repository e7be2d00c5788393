package proxy

import (
	"context"
	"strconv"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
)

// ask settles a call that a person must decide about, while everything else goes on (B32). frame is owned.
func (p *Proxy) ask(f *inflight, frame []byte, o *judge.Outcome) {
	ctx, stop := context.WithCancel(p.ctx)
	p.mu.Lock()
	f.stop = stop
	open := p.inflight[f.key] == f
	p.mu.Unlock()
	if !open { // the server went away meanwhile, and the client has its answer
		stop()
	}
	settle := func() {
		defer stop()
		p.settle(ctx, f, frame, o)
	}
	if !p.spawn(settle) { // the session is over; the log still gets the outcome
		stop()
		settle()
	}
}

func (p *Proxy) settle(ctx context.Context, f *inflight, frame []byte, o *judge.Outcome) {
	if !f.modern {
		p.cfg.Judge.Settle(ctx, o, p.cfg.Desk.Through(dialogue{p, progressToken(frame)}))
		p.end(f, frame, o)
		return
	}
	c := &carrier{p: p, f: f, slot: o.Slot()}
	p.cfg.Judge.Settle(ctx, o, p.cfg.Desk.Through(c))
	switch {
	case o.Decision.Verdict == gate.Ask:
		if p.drop(f) {
			p.reply(f, c.out)
		}
		return
	case o.Decision.Verdict == gate.Allow && o.Answer.Choice == approval.Once:
		p.mu.Lock()
		f.once = &carried{key: c.key, tool: f.tool, slot: c.slot, once: true}
		p.mu.Unlock()
	}
	p.end(f, frame, o)
}

func (p *Proxy) end(f *inflight, frame []byte, o *judge.Outcome) {
	if o.Decision.Verdict == gate.Allow {
		p.forward(f, frame)
	} else {
		p.deny(f, o)
	}
}

// dialogue asks through the client's own form (elicitation/create, protocol versions up to 2025-11-25).
type dialogue struct {
	p        *Proxy
	progress []byte // the call's progressToken, as it is spelled; nil without one
}

// stillAsking is how often a client hears that its call is alive while a person thinks: some give up after a minute (B29).
const stillAsking = 10 * time.Second

// Ask implements approval.Channel.
func (d dialogue) Ask(ctx context.Context, q approval.Question) approval.Answer {
	p := d.p
	mode, why := p.peer.dialogue(false)
	if why != "" {
		return approval.Answer{How: approval.Unsupported, Why: why}
	}
	id, answers := ownID(), make(chan []byte, 1)
	p.mu.Lock()
	p.asks[id.Key()] = answers
	p.mu.Unlock()
	p.client.queue(jsonrpc.RequestFrame(id, "elicitation/create", form(q, mode)))

	timeout, alive := time.NewTimer(p.cfg.AskFor), time.NewTicker(stillAsking)
	defer timeout.Stop()
	defer alive.Stop()
	answer := approval.Answer{How: approval.Withdrawn, Why: "the call was cancelled"}
	for step, waiting := 0, true; waiting; {
		select {
		case result := <-answers:
			return q.ReadResult(result)
		case <-alive.C:
			step++
			d.report(step)
		case <-timeout.C:
			answer = approval.Answer{How: approval.Unanswered, Why: "nobody answered within " + p.cfg.AskFor.String()}
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
	}
	p.mu.Lock()
	p.asks[id.Key()] = nil // an answer that comes now is late, and swallowed
	p.mu.Unlock()
	p.client.queue(jsonrpc.NotificationFrame(methodCancelled, append(append([]byte(`{"requestId":`), id.String()...), '}')))
	return answer
}

// form is the params of an elicitation/create with Bouncer's question. mode is "" where the version has none.
func form(q approval.Question, mode string) []byte {
	params := []byte(`{`)
	if mode != "" {
		params = append(params, `"mode":"`+mode+`",`...)
	}
	params = append(append(params, `"message":`...), jsonrpc.Quote(q.Message())...)
	return append(append(append(params, `,"requestedSchema":`...), q.Schema()...), '}')
}

// report says that the call is alive, where the client asked to be told.
func (d dialogue) report(step int) {
	if d.progress == nil {
		return
	}
	// It must grow, and stay below what the server will report itself: 1/2, 2/3, 3/4 of nothing.
	progress := strconv.FormatFloat(float64(step)/float64(step+1)/1000, 'f', -1, 64)
	params := append(append([]byte(`{"progressToken":`), d.progress...), `,"progress":`+progress...)
	d.p.client.queue(jsonrpc.NotificationFrame("notifications/progress", append(params, `,"message":"[bouncer] waiting for a person's answer"}`...)))
}

// progressToken returns the spelling of a call's progress token; nil when it has none.
func progressToken(frame []byte) []byte {
	v, err := jsonrpc.Decode(frame)
	if err != nil {
		return nil
	}
	params, _ := v.Get("params")
	meta, _ := params.Get("_meta")
	token, _ := meta.Get("progressToken")
	if token.Kind != jsonrpc.String && token.Kind != jsonrpc.Number {
		return nil
	}
	return token.Raw
}
