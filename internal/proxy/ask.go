package proxy

import (
	"context"
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
		p.cfg.Judge.Settle(ctx, o, dialogue{p, f.modern})
		if o.Decision.Verdict == gate.Allow {
			p.forward(f, frame)
		} else {
			p.deny(f, o)
		}
	}
	if !p.spawn(settle) { // the session is over; the log still gets the outcome
		stop()
		settle()
	}
}

// dialogue asks through the client's own form (elicitation/create, protocol versions up to 2025-11-25).
type dialogue struct {
	p      *Proxy
	modern bool
}

// Ask implements approval.Channel.
func (d dialogue) Ask(ctx context.Context, q approval.Question) approval.Answer {
	p := d.p
	mode, why := p.peer.dialogue(d.modern)
	if why != "" {
		return approval.Answer{How: "unsupported", Why: why}
	}
	params := []byte(`{`)
	if mode != "" {
		params = append(params, `"mode":"`+mode+`",`...)
	}
	params = append(append(params, `"message":`...), jsonrpc.Quote(q.Message())...)
	params = append(append(append(params, `,"requestedSchema":`...), approval.Schema()...), '}')

	id, answers := ownID(), make(chan []byte, 1)
	p.mu.Lock()
	p.asks[id.Key()] = answers
	p.mu.Unlock()
	p.client.queue(jsonrpc.RequestFrame(id, "elicitation/create", params))

	timeout := time.NewTimer(p.cfg.AskFor)
	defer timeout.Stop()
	answer := approval.Answer{How: "withdrawn", Why: "the call was cancelled"}
	select {
	case result := <-answers:
		return approval.ReadResult(result)
	case <-timeout.C:
		answer = approval.Answer{How: "timeout", Why: "nobody answered within " + p.cfg.AskFor.String()}
	case <-ctx.Done():
	}
	p.mu.Lock()
	p.asks[id.Key()] = nil // an answer that comes now is late, and swallowed
	p.mu.Unlock()
	p.client.queue(jsonrpc.NotificationFrame(methodCancelled, append(append([]byte(`{"requestId":`), id.String()...), '}')))
	return answer
}
