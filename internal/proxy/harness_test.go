package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/proxy"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// patience is how long anything may take before it counts as a hang. No test waits for it to pass.
const patience = 30 * time.Second

// hung fails a test that waits for something that does not come, and shows where every goroutine stands.
func hung(t *testing.T, what string) {
	t.Helper()
	buf := make([]byte, 1<<20)
	t.Fatalf("hangs: %s\n%s", what, buf[:runtime.Stack(buf, true)])
}

// within runs f and fails the test when it does not return.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(patience):
		hung(t, what)
	}
}

// lines is a growing list of lines that a test can wait on.
type lines struct {
	mu   sync.Mutex
	all  []string
	grew chan struct{} // closed and replaced at every change
	eof  bool
}

func newLines() *lines { return &lines{grew: make(chan struct{})} }

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
	close(l.grew)
	l.grew = make(chan struct{})
}

func (l *lines) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.eof = true
	close(l.grew)
	l.grew = make(chan struct{})
}

func (l *lines) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// wait returns the first line that matches, whenever it comes.
func (l *lines) wait(t *testing.T, what string, match func(string) bool) string {
	t.Helper()
	deadline := time.After(patience)
	for from := 0; ; {
		l.mu.Lock()
		all, grew, eof := l.all, l.grew, l.eof
		l.mu.Unlock()
		for ; from < len(all); from++ {
			if match(all[from]) {
				return all[from]
			}
		}
		if eof {
			t.Fatalf("no %s before the end; there was:\n%s", what, head(all))
		}
		select {
		case <-grew:
		case <-deadline:
			hung(t, "waiting for "+what+"; there was:\n"+head(all))
		}
	}
}

func head(all []string) string {
	var b strings.Builder
	for _, line := range all[:min(len(all), 30)] {
		fmt.Fprintln(&b, line[:min(len(line), 300)])
	}
	return b.String()
}

// memLog is an audit log in memory.
type memLog struct {
	mu      sync.Mutex
	entries []audit.Entry
}

func (l *memLog) Append(e audit.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Args = bytes.Clone(e.Args)
	l.entries = append(l.entries, e)
	return nil
}

// verdicts are the verdicts about a tool, in the order of the log; answers of a person in brackets.
func (l *memLog) verdicts(tool string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, e := range l.entries {
		if e.Tool == tool {
			v := e.Verdict
			if e.Answer != "" {
				v += "(" + e.Answer + ")"
			}
			out = append(out, v)
		}
	}
	return out
}

// The scripted server's tools: echo is not gated, only takes mode=good, send is a sink.
const (
	toolEcho = `{"name":"echo","description":"says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`
	toolOnly = `{"name":"only","inputSchema":{"type":"object","properties":{"mode":{"type":"string"}}}}`
	toolSend = `{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"body":{"type":"string"}}}}`
	allTools = toolEcho + "," + toolOnly + "," + toolSend

	rules = `
echo: {}
only: {arg_values: {mode: [good]}}
send: {exfiltrating: true, sink_params: [to], trusted_destinations: [bob@trusted.example]}
`
)

type options struct {
	version     string                                  // what the server negotiates; "" is 2025-11-25
	capability  string                                  // the client's elicitation capability; "" is {}, "none" leaves it out
	raw         bool                                    // neither handshake nor answers: the test plays both sides
	mute        bool                                    // the client reads nothing until it is told to
	server      func(s *side, msg jsonrpc.Message) bool // takes a frame before the scripted server does
	person      func(s *side, msg jsonrpc.Message)      // sees every frame that the client gets
	limit       int
	askFor      time.Duration
	listFor     time.Duration
	rules       string
	onPinned    func([]jsonrpc.Value)
	closing     func() // called after the server's input was closed
	noHandshake bool
	desk        *approval.Desk // nil is one that counts every answer
}

// rig is a relay between a scripted client and a scripted server.
type rig struct {
	t              *testing.T
	client, server *side
	log            *memLog
	pins           *pin.Book
	problems       *lines
	pipes          [4]*io.PipeReader
	ended          chan error
	greeted        int // lines that the client had when the handshake was over
}

func start(t *testing.T, o options) *rig {
	t.Helper()
	if o.rules == "" {
		o.rules = rules
	}
	set, err := load.Bytes("policy.yaml", []byte(o.rules))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, log: &memLog{}, pins: &pin.Book{}, problems: newLines(), ended: make(chan error, 1)}
	problem := func(format string, args ...any) { r.problems.add(fmt.Sprintf(format, args...)) }
	store := session.NewMemory()
	j := judge.New(judge.Config{Server: policy.Server{Name: "srv"}, Policy: set, Profile: policy.Standard, Session: store,
		SessionID: "test", Log: r.log, Pins: r.pins, Problem: problem})
	cIn, cOut := io.Pipe()
	pcIn, pcOut := io.Pipe()
	sIn, sOut := io.Pipe()
	psIn, psOut := io.Pipe()
	r.pipes = [4]*io.PipeReader{cIn, pcIn, sIn, psIn}
	if o.desk == nil {
		o.desk = approval.NewDesk(approval.Settings{Fastest: -1, Most: -1}, nil, nil)
	}
	p := proxy.New(proxy.Config{Name: "srv", Judge: j, Session: store, Pins: r.pins, Desk: o.desk, Limit: o.limit, AskFor: o.askFor,
		ListFor: o.listFor, Problem: problem, OnPinned: o.onPinned, CloseUpstream: func() {
			psOut.Close()
			if o.closing != nil {
				o.closing()
			}
		}},
		proxy.Pipe{In: cIn, Out: pcOut}, proxy.Pipe{In: sIn, Out: psOut})
	r.client = newSide(pcIn, cOut, jsonrpc.FromServer, o.person, o.mute)
	r.server = newSide(psIn, sOut, jsonrpc.FromClient, r.serve(o), false)
	go func() { r.ended <- p.Run(); pcOut.Close() }()
	if !o.raw && !o.noHandshake {
		r.greet(o)
	}
	t.Cleanup(func() { // a failed test must not leave goroutines in a pipe
		r.client.hangUp()
		r.server.hangUp()
		r.client.unmute()
		for _, p := range r.pipes {
			p.CloseWithError(io.ErrClosedPipe)
		}
	})
	return r
}

func (r *rig) greet(o options) {
	capability := `"elicitation":{}`
	switch o.capability {
	case "none":
		capability = ""
	case "":
	default:
		capability = `"elicitation":` + o.capability
	}
	r.client.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{` +
		capability + `},"clientInfo":{"name":"rig","version":"1"}}}`)
	if o.mute {
		r.client.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		return
	}
	r.client.response(r.t, `"init"`)
	r.client.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	r.greeted = len(r.client.got.list())
}

// serve is the scripted server: it answers what nobody else does, unless the test plays the server itself.
func (r *rig) serve(o options) func(*side, jsonrpc.Message) {
	version := o.version
	if version == "" {
		version = "2025-11-25"
	}
	return func(s *side, msg jsonrpc.Message) {
		if o.server != nil && o.server(s, msg) || o.raw || msg.Shape != jsonrpc.Request {
			return
		}
		switch msg.Method {
		case "initialize":
			s.send(result(msg.ID.String(), `{"protocolVersion":"`+version+`","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}`))
		case "tools/list":
			s.send(result(msg.ID.String(), `{"tools":[`+allTools+`]}`))
		case "tools/call":
			s.send(result(msg.ID.String(), `{"content":[{"type":"text","text":"done"}]}`))
		default:
			s.send(result(msg.ID.String(), `{}`))
		}
	}
}

// finish ends the session from the client's side and returns when Run has, with everything written.
func (r *rig) finish() error {
	r.t.Helper()
	r.client.hangUp()
	r.server.got.waitEOF(r.t, "the server's input to end")
	r.server.hangUp()
	return r.join()
}

func (r *rig) join() error {
	r.t.Helper()
	select {
	case err := <-r.ended:
		r.client.got.waitEOF(r.t, "the client's input to end")
		return err
	case <-time.After(patience):
		hung(r.t, "Run does not return")
		return nil
	}
}

func (l *lines) waitEOF(t *testing.T, what string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		l.mu.Lock()
		eof, grew := l.eof, l.grew
		l.mu.Unlock()
		if eof {
			return
		}
		select {
		case <-grew:
		case <-deadline:
			hung(t, what)
		}
	}
}

func result(id, body string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":` + body + `}` }

func call(id, tool, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
}
