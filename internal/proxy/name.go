package proxy

import (
	"bytes"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// named puts the server's name before the text of a question that the server asks through the client, so that nobody takes it for
// Bouncer's; one that looks like Bouncer's is marked. frame is a request of the method elicitation/create.
func (p *Proxy) named(frame []byte) []byte {
	v, err := jsonrpc.Decode(frame)
	if err != nil {
		return frame
	}
	return object(v, func(m jsonrpc.Member) []byte {
		if m.Name != "params" {
			return m.Value.Raw
		}
		return p.namedForm(m.Value)
	})
}

// namedInputs is named for the questions in an input_required result (protocol 2026-07-28).
func (p *Proxy) namedInputs(frame []byte) []byte {
	v, err := jsonrpc.Decode(frame)
	if err != nil {
		return frame
	}
	result, _ := v.Get("result")
	if kind, _ := result.Get("resultType"); kind.Text != "input_required" {
		return frame
	}
	inside := func(name string, edit func(jsonrpc.Value) []byte) func(jsonrpc.Member) []byte {
		return func(m jsonrpc.Member) []byte {
			if m.Value.Kind != jsonrpc.Object || name != "" && m.Name != name {
				return m.Value.Raw
			}
			return edit(m.Value)
		}
	}
	return object(v, inside("result", func(r jsonrpc.Value) []byte {
		return object(r, inside("inputRequests", func(all jsonrpc.Value) []byte {
			return object(all, inside("", func(one jsonrpc.Value) []byte { return object(one, inside("params", p.namedForm)) }))
		}))
	}))
}

// mentions reports whether a frame may hold a word: as it is, or escaped.
func mentions(frame []byte, word string) bool {
	return bytes.Contains(frame, []byte(word)) || bytes.Contains(frame, []byte(`\u`))
}

// moreInput is the answer of a server that wants to know more before it does what it was called for.
func (p *Proxy) moreInput(f *inflight, frame []byte) []byte {
	frame = p.namedInputs(frame)
	p.mu.Lock()
	once := f.once
	p.mu.Unlock()
	if once != nil {
		frame = p.continued(f, frame)
	}
	return frame
}

func (p *Proxy) namedForm(params jsonrpc.Value) []byte {
	message, ok := params.Get("message")
	if params.Kind != jsonrpc.Object || !ok || message.Kind != jsonrpc.String {
		return params.Raw
	}
	schema, _ := params.Get("requestedSchema")
	from := "[server " + destination.Visible(p.cfg.Name, 60) + " asks] "
	if approval.Imitates(message.Text, schema) {
		from = "[server " + destination.Visible(p.cfg.Name, 60) + " asks; this is NOT a question of Bouncer's] "
	}
	return object(params, func(m jsonrpc.Member) []byte {
		if m.Name == "message" {
			return jsonrpc.Quote(from + message.Text)
		}
		return m.Value.Raw
	})
}
