package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
)

const (
	codeInvalid = -32600 // JSON-RPC: not one request

	methodCall      = "tools/call"
	methodList      = "tools/list"
	methodInit      = "initialize"
	methodInited    = "notifications/initialized"
	methodCancelled = "notifications/cancelled"
)

// readClient handles the client's frames until its input ends.
func (p *Proxy) readClient() {
	frames := jsonrpc.NewReader(p.clientIn, p.cfg.Limit)
	for {
		if !frames.More() { // the next read may wait, so what was decided goes out now
			p.flush()
		}
		frame, err := frames.Next()
		var large *jsonrpc.TooLargeError
		var cut *jsonrpc.UnterminatedError
		done, _ := p.over()
		switch {
		case err == nil && done: // read on, so that the client can finish writing, but judge nothing: nobody would answer
		case err == nil:
			p.fromClient(frame)
		case errors.As(err, &large):
			p.refuseFrame(&jsonrpc.Error{Code: codeInvalid, Reason: large.Error(), ID: large.ID, Response: large.IsResponse})
		case errors.As(err, &cut): // half a frame, or one that somebody may have cut: it is not forwarded (A52)
			p.refuse(jsonrpc.ID{}, codeInvalid, "the client's input ended inside a frame", nil)
			return
		default:
			return
		}
	}
}

func (p *Proxy) fromClient(frame []byte) {
	msg, bad := jsonrpc.Parse(frame, jsonrpc.FromClient)
	switch {
	case bad == nil:
		p.handle(msg, nil)
	case bad.Batch:
		p.fromClientBatch(frame)
	default:
		p.refuseFrame(bad)
	}
}

// refuseFrame answers a frame that could not be read, if it was a request. An answer that could not be read is answered
// by nobody: its id is the other side's, and the client may have a call of its own with the same one.
func (p *Proxy) refuseFrame(bad *jsonrpc.Error) {
	if !bad.Response {
		p.refuse(bad.ID, bad.Code, bad.Reason, nil)
		return
	}
	p.refuse(jsonrpc.ID{}, bad.Code, bad.Reason, nil)
	if waiting, own := p.answered(bad.ID); own && waiting != nil {
		waiting <- nil
	}
}

// handle relays or judges one frame, which may be an element of a batch.
func (p *Proxy) handle(msg jsonrpc.Message, b *batch) {
	switch msg.Shape {
	case jsonrpc.Request:
		p.request(msg, b)
	case jsonrpc.Notification:
		p.notification(msg)
	case jsonrpc.Response:
		p.response(msg)
	}
}

// refuse answers a frame that is not forwarded because it has no single reading. Without an id there is nobody to
// answer; the log has it in both cases.
func (p *Proxy) refuse(id jsonrpc.ID, code int, reason string, b *batch) {
	p.flush()
	p.cfg.Judge.Refuse("", reason, p.peer.client())
	if !id.IsZero() {
		p.reply(&inflight{batch: b}, jsonrpc.ErrorFrame(id, code, "[bouncer blocked] "+reason))
	}
}

func (p *Proxy) request(msg jsonrpc.Message, b *batch) {
	f := &inflight{id: msg.ID, key: msg.ID.Key(), method: msg.Method, batch: b}
	if _, gone := p.over(); gone {
		p.reply(f, jsonrpc.ErrorFrame(f.id, codeGone, "[bouncer] the server "+p.cfg.Name+" has ended"))
		return
	}
	if msg.Method == methodCall {
		p.call(msg, f)
		return
	}
	if disguised(msg.Method) {
		p.refuse(msg.ID, codeInvalid, fmt.Sprintf("method %q is not %s, and a server could take it for it", msg.Method, methodCall), b)
		return
	}
	if !p.open(f) {
		p.refuse(msg.ID, codeInvalid, "id "+msg.ID.String()+" is already in flight", b)
		return
	}
	if msg.Method == methodInit {
		p.peer.initialize(msg.Params)
	}
	p.flush()
	if o, judged := p.cfg.Judge.Method(msg.Method, msg.Params, p.peer.client()); judged {
		p.settled(f, msg.Raw, o, p.forwardNow)
		return
	}
	p.forward(f, msg.Raw)
}

// disguised reports a method that a lenient server may read as tools/call: other case, spaces around it, or
// letters that look like its own and signs that cannot be seen (A53).
func disguised(method string) bool {
	return method != methodCall && (strings.EqualFold(strings.TrimSpace(method), methodCall) || destination.Normalise(method) == methodCall)
}

// call takes a tools/call to the judge, at once if the tools are pinned, else when they are.
func (p *Proxy) call(msg jsonrpc.Message, f *inflight) {
	call, bad := msg.ToolCall()
	if bad != nil {
		p.refuse(msg.ID, bad.Code, bad.Reason, f.batch)
		return
	}
	f.tool, f.modern = call.Name, p.peer.learn(call.Meta)
	if !p.open(f) {
		p.refuse(msg.ID, codeInvalid, "id "+msg.ID.String()+" is already in flight", f.batch)
		return
	}
	frame := msg.Raw
	if f.modern && (mentions(frame, "requestState") || mentions(frame, "inputResponses")) {
		var err error
		if frame, err = p.unwrap(f, frame); err != nil {
			p.drop(f)
			p.refuse(msg.ID, codeInvalid, "the call cannot be read in one way: "+err.Error(), f.batch)
			return
		}
	}
	if p.hold(f, frame) {
		return
	}
	p.decide(f, frame, call, p.cfg.Judge.DecideLater, p.forwardLater)
}

// decide has the call judged and does what the verdict says. frame is only valid until decide returns.
func (p *Proxy) decide(f *inflight, frame []byte, call jsonrpc.Call, judged func(judge.Request) *judge.Outcome, allowed func(*inflight, []byte, *judge.Outcome)) {
	r := judge.Request{Tool: call.Name, Args: call.Arguments, Client: p.peer.client(), Conversation: conversation(call.Meta)}
	if f.brought != nil && f.brought.tool == call.Name {
		r.Slot = f.brought.slot
	}
	o := judged(r)
	p.settled(f, frame, o, allowed)
}

// settled does what a verdict says. frame is only valid until it returns.
func (p *Proxy) settled(f *inflight, frame []byte, o *judge.Outcome, allowed func(*inflight, []byte, *judge.Outcome)) {
	p.mu.Lock()
	f.call, f.asked = o.ID, o.Asked()
	p.mu.Unlock()
	switch o.Decision.Verdict {
	case gate.Allow:
		allowed(f, frame, o)
	case gate.Ask:
		p.ask(f, bytes.Clone(frame), o)
	default:
		p.deny(f, o)
	}
}

// forwardNow is forward for calls whose verdict is in the log.
func (p *Proxy) forwardNow(f *inflight, frame []byte, _ *judge.Outcome) { p.forward(f, frame) }

// pending is an allowed call that leaves with the next flush.
type pending struct {
	f       *inflight
	frame   []byte
	outcome *judge.Outcome
}

// maxPending is how many bytes of calls may wait for others to leave with.
const maxPending = 64 << 10

// forwardLater keeps an allowed call until the client's next frame would have to be waited for. A client that has many
// calls in flight writes them together; one write to the log and one to the server for all of them is most of what a
// relay can save.
func (p *Proxy) forwardLater(f *inflight, frame []byte, o *judge.Outcome) {
	p.pending = append(p.pending, pending{f, frame, o}) // the frame stays valid: no read comes before the flush
	size := 0
	for _, each := range p.pending {
		size += len(each.frame)
	}
	if size > maxPending {
		p.flush()
	}
}

// flush sends the pending calls: their verdicts to the log first, then all of them to the server.
func (p *Proxy) flush() {
	if len(p.pending) == 0 {
		return
	}
	calls := p.pending
	p.pending = p.pending[:0]
	if err := p.cfg.Judge.Flush(); err != nil {
		for _, c := range calls {
			c.outcome.Unlogged()
			p.deny(c.f, c.outcome)
		}
		return
	}
	if len(calls) == 1 {
		p.forward(calls[0].f, calls[0].frame)
		return
	}
	var out []byte
	var sent []*inflight
	p.mu.Lock()
	for _, c := range calls {
		if p.inflight[c.f.key] != c.f { // cancelled meanwhile
			continue
		}
		c.f.sent = true
		sent = append(sent, c.f)
		out = append(append(out, c.frame...), '\n')
	}
	gone := p.gone
	p.mu.Unlock()
	if len(out) == 0 || !gone && p.server.write(out[:len(out)-1]) == nil {
		return
	}
	for _, f := range sent {
		p.unsent(f)
	}
}

// forward sends a request of the client to the server, as the bytes it came in.
func (p *Proxy) forward(f *inflight, frame []byte) {
	p.mu.Lock()
	if p.inflight[f.key] != f { // cancelled while it was decided
		p.mu.Unlock()
		return
	}
	f.sent = true
	gone := p.gone
	p.mu.Unlock()
	if !gone {
		if err := p.server.write(frame); err == nil {
			return
		}
	}
	p.unsent(f)
}

// unsent answers a request that the server did not take.
func (p *Proxy) unsent(f *inflight) {
	if p.drop(f) {
		p.reply(f, jsonrpc.ErrorFrame(f.id, codeGone, "[bouncer] the server "+p.cfg.Name+" takes no more requests"))
	}
}

func (p *Proxy) deny(f *inflight, o *judge.Outcome) {
	switch {
	case !p.drop(f):
	case f.method == methodCall:
		p.reply(f, jsonrpc.ResultFrame(f.id, denial(o, f.modern)))
	default:
		p.reply(f, jsonrpc.ErrorFrame(f.id, CodeBlocked, explain(o)))
	}
}

// notification relays a notification of the client, but for the two that have a meaning here.
func (p *Proxy) notification(msg jsonrpc.Message) {
	switch {
	case msg.Method == methodCall || disguised(msg.Method): // a call without an id would run and answer nobody (A53)
		p.refuse(jsonrpc.ID{}, codeInvalid, methodCall+" without an id", nil)
	case msg.Method == methodCancelled:
		p.cancelled(msg)
	default:
		p.flush()
		p.server.write(msg.Raw)
		if msg.Method == methodInited {
			if p.peer.hasTools() {
				p.list()
			}
		}
	}
}

// cancelled relays a cancellation to the server only if the server has the request. A call that waits for a decision
// is dropped: it is never forwarded and gets no response (B17). One that came in a batch is out of it either way, since
// the other answers must not wait for one that nobody owes.
func (p *Proxy) cancelled(msg jsonrpc.Message) {
	id := requestID(msg.Params)
	p.mu.Lock()
	f := p.inflight[id.Key()]
	if f == nil {
		p.mu.Unlock()
		return
	}
	sent, first := f.sent, !f.void
	f.void = true
	if !sent || f.batch != nil {
		p.dropLocked(f)
	}
	if f.stop != nil {
		f.stop()
	}
	p.mu.Unlock()
	if f.batch != nil && first {
		f.batch.add(p, nil)
	}
	if sent {
		p.server.write(msg.Raw)
	}
}

// response relays a client's answer to a request of the server, and keeps the answers to Bouncer's own questions.
func (p *Proxy) response(msg jsonrpc.Message) {
	waiting, own := p.answered(msg.ID)
	switch {
	case !own:
		p.flush()
		p.server.write(msg.Raw)
	case waiting != nil:
		waiting <- bytes.Clone(msg.Result)
	}
}

// answered closes one of Bouncer's own questions, and says who waits for its answer. The first answer counts; later
// ones are swallowed.
func (p *Proxy) answered(id jsonrpc.ID) (waiting chan<- []byte, own bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting, own = p.asks[id.Key()]
	if own {
		p.asks[id.Key()] = nil
	}
	return waiting, own
}

// fromClientBatch judges the elements of a batch one by one and forwards them singly; their responses go back as one
// array. Protocol versions from 2025-06-18 on have no batches.
func (p *Proxy) fromClientBatch(frame []byte) {
	if !slices.Contains([]string{"2024-11-05", "2025-03-26"}, p.peer.version()) {
		p.refuseBatch("batches are not part of this protocol version")
		return
	}
	elements, bad := jsonrpc.SplitBatch(frame)
	if bad != nil {
		p.refuseBatch(bad.Reason)
		return
	}
	b := &batch{}
	var parsed []jsonrpc.Message
	for _, element := range elements {
		msg, bad := jsonrpc.Parse(element, jsonrpc.FromClient)
		if bad != nil { // half a batch is another batch than the client sent
			p.refuseBatch(bad.Reason)
			return
		}
		if msg.Shape == jsonrpc.Request {
			b.open++
		}
		parsed = append(parsed, msg)
	}
	for _, msg := range parsed {
		p.handle(msg, b)
	}
}

// refuseBatch answers with a null id, as JSON-RPC has it for what could not be read: an array has no id of its own.
func (p *Proxy) refuseBatch(reason string) {
	p.cfg.Judge.Refuse("", reason, p.peer.client())
	p.client.queue([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":` + string(jsonrpc.Quote("[bouncer blocked] "+reason)) + `}}`))
}
