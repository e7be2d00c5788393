// Package proxy is the relay between a client and one real server. It forwards by shape: requests, notifications and
// responses that Bouncer does not judge pass as the bytes they came in, unknown methods and fields included; every
// tools/call goes to the judge first. It decides nothing itself.
//
// Two goroutines do the relaying, one a direction, each reading a frame, handling it and writing it on, so that a frame
// costs no hand-over. Whatever waits (a person's answer, the first tool list) waits elsewhere.
package proxy

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// Pipe is one side of the relay.
type Pipe struct {
	In  io.Reader // what that side writes
	Out io.Writer // what that side reads
}

// Config is what a Proxy needs. Judge, Session and Pins are required and belong together.
type Config struct {
	Name     string // the server's configured name, for evidence and messages
	Judge    *judge.Judge
	Session  session.Store
	Pins     *pin.Book
	Desk     *approval.Desk // how people are asked; nil asks through the client alone
	Limit    int            // bytes a frame may have; 0 is jsonrpc.DefaultLimit
	AskFor   time.Duration  // how long a person has; 0 is two minutes
	ListFor  time.Duration  // how long the server has to list its tools; 0 is thirty seconds
	Problem  func(format string, args ...any)
	OnPinned func(tools []jsonrpc.Value) // told once, when the tools were pinned
	// CloseUpstream is called once when the client has nothing more to say, so that the server sees its input end.
	CloseUpstream func()
}

// ErrServerGone is what Run returns when the server ended before the client did.
var ErrServerGone = errors.New("the server ended")

// Proxy relays one session. Run may be called once.
type Proxy struct {
	cfg      Config
	clientIn io.Reader
	serverIn io.Reader
	client   *writer // to the client
	server   *writer // to the server

	ctx    context.Context // ends with the session: pending questions are withdrawn
	cancel context.CancelFunc
	tasks  sync.WaitGroup // goroutines that may still write; started by spawn

	mu       sync.Mutex
	inflight map[string]*inflight             // the client's requests without a response, by id
	hidden   map[string]func(jsonrpc.Message) // Bouncer's own requests to the server
	asks     map[string]chan<- []byte         // Bouncer's own requests to the client; nil once nobody waits
	states   map[string]*carried              // questions that went back with their calls
	gone     bool                             // the server is gone: nothing is forwarded any more
	closed   bool                             // Run is about to return: no new task starts
	ended    bool                             // the client has nothing more to say
	pending  []pending                        // decided calls that leave together; readClient's alone

	peer  peer
	tools toolList
	noise noise
}

// inflight is one request of the client that has no response yet.
type inflight struct {
	id     jsonrpc.ID
	key    string // id.Key()
	method string
	tool   string      // for tools/call
	call   string      // its audit id
	asked  judge.Asked // what its answer is read with
	modern bool        // it came in the stateless protocol (2026-07-28)
	batch  *batch      // the array that it came in, whose responses go back as one; nil for most
	stop   context.CancelFunc
	sent   bool // the server has it; false while it waits for a decision
	// Of a call in the stateless protocol: what it brings along for Bouncer, and what for the server.
	brought          *carried
	answer           []byte // to brought's question; nil for none
	state, responses []byte // the server's own requestState and the answers to its inputRequests
	once             *carried
	void             bool // the client cancelled it after it was sent: whatever becomes of it, no answer is owed
}

// New returns a Proxy over two pipes.
func New(cfg Config, client, server Pipe) *Proxy {
	if cfg.Limit == 0 {
		cfg.Limit = jsonrpc.DefaultLimit
	}
	if cfg.AskFor == 0 {
		cfg.AskFor = 2 * time.Minute
	}
	if cfg.Desk == nil {
		cfg.Desk = approval.NewDesk(approval.Settings{}, nil, nil)
	}
	if cfg.ListFor == 0 {
		cfg.ListFor = 30 * time.Second
	}
	if cfg.Problem == nil {
		cfg.Problem = func(string, ...any) {}
	}
	if cfg.CloseUpstream == nil {
		cfg.CloseUpstream = func() {}
	}
	p := &Proxy{
		cfg: cfg, clientIn: client.In, serverIn: server.In, client: newWriter(client.Out), server: newWriter(server.Out),
		inflight: map[string]*inflight{}, hidden: map[string]func(jsonrpc.Message){}, asks: map[string]chan<- []byte{},
		states: map[string]*carried{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.tools.idle.L = &p.tools.mu
	return p
}

// ownID returns an id for one of Bouncer's own requests. Each is drawn anew: a server that has seen one cannot forge
// the next, and so cannot answer a question in a person's place.
func ownID() jsonrpc.ID {
	var b [15]byte
	rand.Read(b[:])
	return jsonrpc.StringID("bouncer-" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:])))
}

// Abandon answers what is still open, for a caller that cannot wait for Run: the server is gone, and something holds
// its output open.
func (p *Proxy) Abandon() {
	p.serverGone()
	p.cancel()
	p.client.flush()
}

// Run relays until both sides are done. It returns nil when the client ended the session, ErrServerGone when the
// server did, and it never returns while something of this session could still be written.
func (p *Proxy) Run() error {
	go func() {
		p.readClient()
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
		p.cancel()              // nobody is left to answer a question
		p.tools.wait(lastCalls) // calls that wait for the tool list still go (B49)
		p.cfg.CloseUpstream()
	}()
	p.readServer()
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	p.serverGone()
	p.cancel()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.tasks.Wait()
	p.client.flush()
	if ended {
		return nil
	}
	return ErrServerGone
}

// serverGone answers every request that is still open: a client must never wait for a server that is not there (B34).
func (p *Proxy) serverGone() {
	p.mu.Lock()
	p.gone = true
	hidden := p.hidden
	p.hidden = map[string]func(jsonrpc.Message){}
	p.mu.Unlock()
	p.answerAll(codeGone, "[bouncer] the server "+p.cfg.Name+" ended before it answered")
	for _, done := range hidden {
		done(jsonrpc.Message{})
	}
}

// answerAll answers every open request with an error, and withdraws the questions among them.
func (p *Proxy) answerAll(code int, reason string) {
	p.mu.Lock()
	open := p.inflight
	p.inflight = map[string]*inflight{}
	for _, f := range open {
		if f.stop != nil {
			f.stop()
		}
	}
	p.mu.Unlock()
	for _, f := range open {
		if !f.void {
			p.reply(f, jsonrpc.ErrorFrame(f.id, code, reason))
		}
	}
}

// Error codes outside the ranges that JSON-RPC and MCP reserve.
const (
	codeGone       = 1001 // the server is not there any more
	codeTooLarge   = 1002 // the answer is over the limit
	codeGarbled    = 1003 // the answer has no single reading
	codeUnrecorded = 1004 // the answer could not be recorded
	CodeBlocked    = 1005 // a request other than tools/call that was denied: it has no result that could say so
)

// reply sends a response to the client: on its own, or into the batch that its request came in.
func (p *Proxy) reply(f *inflight, frame []byte) {
	if f.batch != nil {
		f.batch.add(p, frame)
		return
	}
	p.client.queue(frame)
}

// open registers a request of the client. It is false when its id is already open: a second call must not borrow the
// first one's answer (A53).
func (p *Proxy) open(f *inflight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, taken := p.inflight[f.key]; taken {
		return false
	}
	p.inflight[f.key] = f
	return true
}

// drop removes f if it is still open, and reports whether it was: whoever drops a request answers it.
func (p *Proxy) drop(f *inflight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropLocked(f)
}

func (p *Proxy) dropLocked(f *inflight) bool {
	if p.inflight[f.key] != f {
		return false
	}
	delete(p.inflight, f.key)
	return true
}

// lastCalls is how long calls that wait for the tool list may still go after the client had its last word.
const lastCalls = 2 * time.Second

// spawn runs task beside the relay, and reports whether it did: after the session's end there is nobody left to write to.
func (p *Proxy) spawn(task func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.tasks.Add(1)
	go func() {
		defer p.tasks.Done()
		task()
	}()
	return true
}

// over reports whether the session is: done that nothing is judged any more, gone that nothing is forwarded.
func (p *Proxy) over() (done, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed, p.gone
}

func (p *Proxy) isOpen(f *inflight) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inflight[f.key] == f
}
