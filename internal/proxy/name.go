package proxy

import (
	"bytes"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// named puts the server's name before the text of a question that the server asks through the client, so that nobody takes it for
// Bouncer's; one that looks like Bouncer's is marked. frame is a request of the method elicitation/create. It is false for one that
// cannot be marked, which nobody may see.
//
// A server's frames may hold a name twice, or in other letters: whichever of them the client reads, each is marked.
func (p *Proxy) named(frame []byte) ([]byte, bool) {
	v, err := jsonrpc.DecodeLenient(frame)
	if err != nil {
		return nil, false
	}
	return object(v, func(m jsonrpc.Member) []byte {
		if m.Name != "params" {
			return m.Value.Raw
		}
		return p.namedForm(m.Value)
	}), true
}

// namedInputs is named for the questions in a result (protocol 2026-07-28), whatever it is the result of.
func (p *Proxy) namedInputs(frame []byte) ([]byte, bool) {
	v, err := jsonrpc.DecodeLenient(frame)
	if err != nil {
		return nil, false
	}
	asks := false
	inside := func(name string, edit func(jsonrpc.Value) []byte) func(jsonrpc.Member) []byte {
		return func(m jsonrpc.Member) []byte {
			if m.Value.Kind != jsonrpc.Object || name != "" && !strings.EqualFold(m.Name, name) {
				return m.Value.Raw
			}
			return edit(m.Value)
		}
	}
	out := object(v, inside("result", func(r jsonrpc.Value) []byte {
		return object(r, inside("inputRequests", func(all jsonrpc.Value) []byte {
			return object(all, inside("", func(one jsonrpc.Value) []byte {
				asks = true
				return object(one, inside("params", p.namedForm))
			}))
		}))
	}))
	if !asks { // what asks nothing passes as the bytes that it came in
		return frame, true
	}
	return out, true
}

// mentions reports whether a frame may hold a word: as it is, or escaped.
func mentions(frame []byte, word string) bool {
	return bytes.Contains(frame, []byte(word)) || bytes.Contains(frame, []byte(`\u`))
}

// mayAsk reports an answer that may hold questions of the server's: sessions that shook hands know of none before 2026-07-28.
func (p *Proxy) mayAsk(frame []byte) bool {
	if version := p.peer.version(); version != "" && version < "2026" {
		return false
	}
	return bytes.Contains(frame, []byte(`\u`)) || bytes.Contains(bytes.ToLower(frame), []byte("inputrequests"))
}

// moreInput is the answer of a server that wants to know more before it does what it was asked for. It is false for one whose
// questions cannot be marked.
func (p *Proxy) moreInput(f *inflight, frame []byte) ([]byte, bool) {
	frame, ok := p.namedInputs(frame)
	if !ok {
		return nil, false
	}
	p.mu.Lock()
	once := f.once
	p.mu.Unlock()
	if once != nil {
		frame = p.continued(f, frame)
	}
	return frame, true
}

func (p *Proxy) namedForm(params jsonrpc.Value) []byte {
	var text []string
	schema := jsonrpc.Value{Kind: jsonrpc.Array}
	for _, m := range params.Members {
		switch {
		case m.Value.Kind == jsonrpc.String && strings.EqualFold(m.Name, "message"):
			text = append(text, m.Value.Text)
		default: // the form, and what else a client may show
			schema.Elems = append(schema.Elems, m.Value)
		}
	}
	from := "[server " + destination.Visible(p.cfg.Name, 60) + " asks] "
	if approval.Imitates(strings.Join(text, "\n"), schema) {
		from = "[server " + destination.Visible(p.cfg.Name, 60) + " asks; this is NOT a question of Bouncer's] "
	}
	if params.Kind != jsonrpc.Object || text == nil {
		return params.Raw
	}
	return object(params, func(m jsonrpc.Member) []byte {
		if m.Value.Kind == jsonrpc.String && strings.EqualFold(m.Name, "message") {
			return jsonrpc.Quote(from + m.Value.Text)
		}
		return m.Value.Raw
	})
}
