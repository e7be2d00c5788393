package proxy

import (
	"bytes"
	"errors"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// readServer handles the server's frames until its output ends.
func (p *Proxy) readServer() {
	frames := jsonrpc.NewReader(p.serverIn, p.cfg.Limit)
	first := true
	for {
		if !frames.More() { // the next read may wait, so what was observed goes out now
			p.client.release()
		}
		frame, err := frames.Next()
		var large *jsonrpc.TooLargeError
		var cut *jsonrpc.UnterminatedError
		switch {
		case err == nil:
			if first {
				frame, first = bytes.TrimPrefix(frame, []byte("\xef\xbb\xbf")), false
			}
			p.fromServer(frame)
		case errors.As(err, &large):
			bad := &jsonrpc.Error{Code: codeTooLarge, Reason: large.Error(), ID: large.ID, Response: large.IsResponse}
			if !p.fail(bad) {
				p.problem("%s wrote what cannot be relayed: %s", p.cfg.Name, bad.Reason)
			}
		case errors.As(err, &cut):
			if _, bad := jsonrpc.Parse(cut.Frame, jsonrpc.FromServer); bad == nil {
				p.fromServer(cut.Frame) // whole, but for its newline
			} else {
				p.problem("%s ended inside a line", p.cfg.Name)
			}
			return
		default:
			return
		}
	}
}

func (p *Proxy) fromServer(frame []byte) {
	msg, bad := jsonrpc.Parse(frame, jsonrpc.FromServer)
	switch {
	case bad == nil:
		p.relay(msg)
	case bad.Batch:
		elements, bad := jsonrpc.SplitBatch(frame)
		if bad != nil && bad.Code == codeInvalid && bytes.Contains(frame, []byte(`"jsonrpc"`)) { // some open requests were answered in it, and nobody can say which
			p.noiseLine(frame)
			p.answerAll(codeGarbled, "[bouncer] "+p.cfg.Name+" sent a batch of answers that cannot be read: "+bad.Reason)
			return
		}
		if bad != nil { // a log line that starts with a bracket
			p.noiseLine(frame)
			return
		}
		for _, element := range elements {
			p.fromServer(element)
		}
	default:
		bad.Code = codeGarbled
		if !p.fail(bad) { // an id with a result is an answer, version or not: somebody waits for it
			p.noiseLine(frame)
		}
	}
}

// fail gives the client an error in place of an answer that cannot be relayed. It reports whether there was a request to
// answer.
func (p *Proxy) fail(bad *jsonrpc.Error) bool {
	if !bad.Response || bad.ID.IsZero() {
		return false
	}
	if done := p.takeHidden(bad.ID); done != nil {
		done(jsonrpc.Message{})
		return true
	}
	f := p.take(bad.ID)
	if f == nil {
		return false
	}
	p.problem("%s answered %s with what cannot be relayed: %s", p.cfg.Name, f.method, bad.Reason)
	p.reply(f, jsonrpc.ErrorFrame(f.id, bad.Code, "[bouncer] the answer of "+p.cfg.Name+" cannot be relayed: "+bad.Reason))
	return true
}

// take removes and returns the open request with this id that the server has. A server cannot answer a request that it
// was never sent.
func (p *Proxy) take(id jsonrpc.ID) *inflight {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.inflight[id.Key()]
	if f == nil || !f.sent {
		return nil
	}
	p.dropLocked(f)
	return f
}

func (p *Proxy) takeHidden(id jsonrpc.ID) func(jsonrpc.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done := p.hidden[id.Key()]
	delete(p.hidden, id.Key())
	return done
}

// relay passes a frame of the server on. Everything that a server writes is observed before the client can see it.
func (p *Proxy) relay(msg jsonrpc.Message) {
	if msg.Shape == jsonrpc.Response {
		p.relayResponse(msg)
		return
	}
	kind := "notification"
	if msg.Shape == jsonrpc.Request {
		kind = "request"
	}
	src := provenance.Source{Server: p.cfg.Name, Tool: knownMethod(msg.Method), Kind: kind}
	if err := p.cfg.Session.Observe(src, msg.Raw); err != nil {
		p.problem("a message of %s is dropped: %v", p.cfg.Name, err)
		return
	}
	if msg.Shape == jsonrpc.Notification && msg.Method == "notifications/tools/list_changed" {
		p.listChanged()
	}
	if msg.Shape == jsonrpc.Notification && msg.Method == methodCancelled {
		p.toreDown(requestID(msg.Params))
	}
	if msg.Shape == jsonrpc.Request && msg.Method == "elicitation/create" {
		frame, ok := p.named(msg.Raw)
		if !ok {
			p.problem("a question of %s is dropped: it cannot be read", p.cfg.Name)
			answer := jsonrpc.ErrorFrame(msg.ID, codeInvalid, "[bouncer] the question cannot be read")
			p.spawn(func() { p.server.write(answer) }) // not here: the server may have to be read before it reads
			return
		}
		p.client.write(frame)
		return
	}
	p.client.write(msg.Raw)
}

func (p *Proxy) relayResponse(msg jsonrpc.Message) {
	if done := p.takeHidden(msg.ID); done != nil {
		done(msg)
		return
	}
	f := p.take(msg.ID)
	if f == nil { // a second answer, or one to a question that nobody asked (B25)
		if !msg.ID.IsZero() || msg.Error == nil {
			p.problem("%s answered an id that is not open; the answer is dropped", p.cfg.Name)
			return
		}
		if err := p.cfg.Session.Observe(provenance.Source{Server: p.cfg.Name, Kind: "error"}, msg.Raw); err != nil {
			p.problem("a message of %s is dropped: %v", p.cfg.Name, err)
			return
		}
		p.client.write(msg.Raw) // "I could not read what you sent": it names no request
		return
	}
	if err := p.observe(f, msg); err != nil { // what the other processes will never know of must not be read
		p.reply(f, jsonrpc.ErrorFrame(f.id, codeUnrecorded, "[bouncer] the answer of "+p.cfg.Name+" is withheld: "+err.Error()))
		return
	}
	if f.method == methodList && msg.Result != nil {
		if reason := p.listed(msg.Result); reason != "" {
			p.reply(f, jsonrpc.ErrorFrame(f.id, codeGarbled, "[bouncer] the tool list of "+p.cfg.Name+" cannot be relayed: "+reason))
			return
		}
	}
	if f.method == methodInit {
		p.peer.initialized(msg.Result, p.cfg.Judge)
	}
	if f.batch != nil {
		f.batch.add(p, bytes.Clone(msg.Raw))
		return
	}
	frame := msg.Raw
	if p.mayAsk(frame) {
		var ok bool
		if frame, ok = p.moreInput(f, frame); !ok {
			p.reply(f, jsonrpc.ErrorFrame(f.id, codeGarbled, "[bouncer] the answer of "+p.cfg.Name+" cannot be relayed: it has too much in it to be read"))
			return
		}
	}
	p.client.hold(frame)
}

// kinds says what sort of text the answer to a method is, for evidence.
var kinds = map[string]string{
	methodCall: "result", methodList: "definition", methodInit: "instructions", "server/discover": "instructions",
	"resources/read": "resource", "resources/list": "resource", "resources/templates/list": "resource",
	"prompts/get": "prompt", "prompts/list": "prompt",
}

func (p *Proxy) observe(f *inflight, msg jsonrpc.Message) error {
	src := provenance.Source{Server: p.cfg.Name, Tool: f.tool, Call: f.call, Kind: kinds[f.method]}
	if src.Kind == "" {
		src.Kind = "result"
	}
	if src.Tool == "" {
		src.Tool = f.method
	}
	payload := msg.Result
	if msg.Error != nil { // an error's text is read by the model like any other (A65)
		src.Kind, payload = "error", msg.Error
	}
	if msg.Extra { // what stands beside the result may be shown too
		payload = msg.Raw
	}
	p.mu.Lock()
	asked := f.asked
	p.mu.Unlock()
	return p.cfg.Judge.Observe(asked, src, payload)
}

// knownMethod keeps a server from writing into evidence: a method that is none of the protocol's is named in general.
func knownMethod(method string) string {
	for _, known := range []string{"notifications/", "sampling/createMessage", "elicitation/create", "roots/list", "ping", "tasks/"} {
		if rest, ok := strings.CutPrefix(method, known); ok && len(rest) < 40 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz_/") == "" {
			return method
		}
	}
	return "a message of its own"
}

// toreDown closes a subscriptions/listen that the server ended: in 2026-07-28 it gets no response.
func (p *Proxy) toreDown(id jsonrpc.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.inflight[id.Key()]; f != nil && f.method == "subscriptions/listen" {
		p.dropLocked(f)
	}
}
