package proxy

import (
	"bytes"
	"sync"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
)

// peer is what the two sides said of themselves: who the client is, which protocol they speak, whether a person can be
// asked through the client.
type peer struct {
	mu          sync.Mutex
	name        string
	negotiated  string // the one that the server settled on; "" in the stateless protocol
	elicitation bool   // the client can show a form
	tools       bool   // the server declares tools
	meta        []byte // the stateless protocol's envelope, for Bouncer's own requests: one JSON object, nil in the other
}

// The stateless protocol's members of _meta (2026-07-28).
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// initialize reads the client's initialize request.
func (p *peer) initialize(params []byte) {
	v, err := jsonrpc.DecodeLenient(params)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(v, "clientInfo", "capabilities")
}

func (p *peer) note(v jsonrpc.Value, infoName, capabilitiesName string) {
	info, _ := v.Get(infoName)
	name, _ := info.Get("name")
	release, _ := info.Get("version")
	if p.name = name.Text; release.Text != "" {
		p.name += " " + release.Text
	}
	capabilities, _ := v.Get(capabilitiesName)
	elicitation, declared := capabilities.Get("elicitation")
	_, form := elicitation.Get("form")
	// An empty elicitation object means forms; one that names only another mode does not.
	p.elicitation = declared && elicitation.Kind == jsonrpc.Object && (len(elicitation.Members) == 0 || form)
}

// initialized reads the server's answer to initialize.
func (p *peer) initialized(result []byte, j *judge.Judge) {
	v, err := jsonrpc.DecodeLenient(result)
	if err != nil {
		return
	}
	version, _ := v.Get("protocolVersion")
	info, _ := v.Get("serverInfo")
	name, _ := info.Get("name")
	j.Reported(name.Text)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.negotiated = version.Text
	capabilities, _ := v.Get("capabilities")
	_, p.tools = capabilities.Get("tools")
}

// learn reads a call's _meta and reports whether the call speaks the stateless protocol.
func (p *peer) learn(meta []byte) bool {
	if !bytes.Contains(meta, []byte("protocolVersion")) {
		return false
	}
	v, err := jsonrpc.Decode(meta)
	if err != nil {
		return false
	}
	if _, ok := v.Get(metaVersion); !ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.negotiated != "" { // a session that shook hands is what it said then; a call does not rewrite it
		return false
	}
	p.note(v, metaClient, metaCapabilities)
	p.meta = []byte{'{'}
	for _, name := range []string{metaVersion, metaClient, metaCapabilities} {
		if member, ok := v.Get(name); ok {
			if len(p.meta) > 1 {
				p.meta = append(p.meta, ',')
			}
			p.meta = append(append(append(p.meta, jsonrpc.Quote(name)...), ':'), member.Raw...)
		}
	}
	p.meta = append(p.meta, '}')
	return true
}

// codexMeta is where Codex says which of its threads a call belongs to.
const codexMeta = "x-codex-turn-metadata"

// conversation reads the client's own id of a conversation from a call's _meta; "" where it gives none.
func conversation(meta []byte) string {
	if !bytes.Contains(meta, []byte(codexMeta)) {
		return ""
	}
	v, err := jsonrpc.Decode(meta)
	if err != nil {
		return ""
	}
	turn, _ := v.Get(codexMeta)
	if turn.Kind == jsonrpc.String { // some versions write the object as a text
		if turn, err = jsonrpc.Decode([]byte(turn.Text)); err != nil {
			return ""
		}
	}
	thread, _ := turn.Get("thread_id")
	if thread.Kind != jsonrpc.String || len(thread.Text) > 200 {
		return ""
	}
	return thread.Text
}

// hasTools reports whether the server said that it has tools. One that did not is asked at the first call.
func (p *peer) hasTools() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tools
}

func (p *peer) client() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.name
}

func (p *peer) version() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.negotiated
}

// envelope is the _meta that Bouncer's own request to the server needs; nil where the protocol has none.
func (p *peer) envelope() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.meta
}

// dialogue says how to ask through the client: mode is the form's mode member ("" where the version has none); why is
// why it cannot be done, "" when it can.
func (p *peer) dialogue(modern bool) (mode, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.elicitation:
		return "", "the client cannot show a question (it declares no elicitation)"
	case modern:
		return "form", ""
	case p.negotiated < "2025-06-18":
		return "", "the protocol version that was negotiated (" + p.negotiated + ") has no questions"
	case p.negotiated >= "2025-11-25":
		return "form", ""
	}
	return "", ""
}
