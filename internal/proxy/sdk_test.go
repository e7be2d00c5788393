package proxy_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/proxy"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// tape records the lines that pass a point.
type tape struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (tp *tape) Write(b []byte) (int, error) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return tp.buf.Write(b)
}

func (tp *tape) lines() []string {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return strings.Split(strings.TrimSuffix(tp.buf.String(), "\n"), "\n")
}

// heard is an input of the relay whose bytes are recorded.
func heard(r io.Reader, t *tape) io.Reader { return io.TeeReader(r, t) }

// said is an output of the relay whose bytes are recorded, whether or not anybody reads them: at the end of a session
// the SDK's client does not.
type said struct {
	w io.Writer
	t *tape
}

func (s said) Write(b []byte) (int, error) {
	s.t.Write(b)
	return s.w.Write(b)
}

// sdkRig is a relay between an SDK's client and server. What it hears and says on both sides is recorded.
type sdkRig struct {
	t                                                *testing.T
	clientWrote, serverRead, serverWrote, clientRead *tape
	cs                                               *mcp.ClientSession
	client                                           *mcp.Client
	pins                                             *pin.Book
	ended                                            chan error
	serverDone                                       chan struct{}
}

// sdkStart connects both through the relay. The policy gates nothing, so that whatever differs is the relay's doing.
func sdkStart(t *testing.T, version string, client *mcp.Client, server *mcp.Server) *sdkRig {
	t.Helper()
	set, err := load.Bytes("policy.yaml", []byte("echo: {}\nstructured: {}\nmedia: {}\nfails: {}\nbig: {}\nprogress: {}\nslow: {}\norder: {}\nasks: {}\nlater: {}\nadd: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := &sdkRig{t: t, client: client, clientWrote: &tape{}, serverRead: &tape{}, serverWrote: &tape{}, clientRead: &tape{},
		pins: &pin.Book{}, ended: make(chan error, 1), serverDone: make(chan struct{})}
	store, log := session.NewMemory(), &memLog{}
	j := judge.New(judge.Config{Server: policy.Server{Name: "srv"}, Policy: set, Profile: policy.Standard, Session: store, SessionID: "sdk", Log: log, Pins: r.pins})
	cIn, cOut := io.Pipe()
	pcIn, pcOut := io.Pipe()
	sIn, sOut := io.Pipe()
	psIn, psOut := io.Pipe()
	p := proxy.New(proxy.Config{Name: "srv", Judge: j, Session: store, Pins: r.pins, CloseUpstream: func() { psOut.Close() }},
		proxy.Pipe{In: heard(cIn, r.clientWrote), Out: said{pcOut, r.clientRead}}, proxy.Pipe{In: heard(sIn, r.serverWrote), Out: said{psOut, r.serverRead}})
	go func() { r.ended <- p.Run(); pcOut.Close() }()
	const line = 64 << 20
	go func() {
		defer close(r.serverDone)
		server.Run(context.Background(), &mcp.IOTransport{Reader: psIn, Writer: sOut, MaxLineLength: line})
		sOut.Close()
	}()
	within(t, "connect", func() {
		r.cs, err = client.Connect(context.Background(), &mcp.IOTransport{Reader: pcIn, Writer: cOut, MaxLineLength: line},
			&mcp.ClientSessionOptions{ProtocolVersion: version})
	})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	if got := r.cs.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("the session speaks %s, want %s", got, version)
	}
	t.Cleanup(func() {
		for _, p := range []*io.PipeReader{cIn, pcIn, sIn, psIn} {
			p.CloseWithError(io.ErrClosedPipe)
		}
	})
	return r
}

// check ends the session and compares what was written with what was read.
func (r *sdkRig) check() {
	t := r.t
	t.Helper()
	within(t, "close", func() { r.cs.Close(); <-r.serverDone; <-r.ended })
	// A subscription is open when the client closes; what the relay answers to it then is the subject of another test.
	heardBack := strip(r.clientRead.lines())
	for i, line := range heardBack { // the one thing that is not relayed as it is: a server's question has its name before it
		heardBack[i] = strings.Replace(line, `"message":"[server srv asks] `, `"message":"`, 1)
	}
	compare(t, "server to client", strip(r.serverWrote.lines()), heardBack)
	// Calls may wait for the tools to be pinned while other frames pass, so their order is compared apart.
	for name, keep := range map[string]func(string) bool{"calls": isCall, "the rest": func(s string) bool { return !isCall(s) }} {
		compare(t, "client to server, "+name, pick(r.clientWrote.lines(), keep), pick(strip(r.serverRead.lines()), keep))
	}
	hiddenLists := 0
	for _, line := range r.serverRead.lines() {
		if own(line) {
			hiddenLists++
		}
	}
	if hiddenLists == 0 {
		t.Error("the relay never asked for the tools itself")
	}
	for _, line := range heardBack {
		if strings.Contains(line, "bouncer") {
			t.Errorf("the client saw the relay: %.300s", line)
		}
	}
}

func isCall(line string) bool {
	msg, bad := jsonrpc.Parse([]byte(line), jsonrpc.FromClient)
	return bad == nil && msg.Method == "tools/call"
}

func pick(all []string, keep func(string) bool) (out []string) {
	for _, line := range all {
		if keep(line) {
			out = append(out, line)
		}
	}
	return out
}

// strip takes the relay's own frames out.
func strip(all []string) []string { return pick(all, func(line string) bool { return !own(line) }) }

// used demands that these methods passed, so that a golden session which did nothing does not pass.
func (r *sdkRig) used(all []string, methods ...string) {
	r.t.Helper()
	var seen []string
	for _, line := range all {
		if msg, bad := jsonrpc.Parse([]byte(line), jsonrpc.FromServer); bad == nil && msg.Method != "" {
			seen = append(seen, msg.Method)
		}
	}
	slices.Sort(seen)
	seen = slices.Compact(seen)
	for _, m := range methods {
		if !slices.Contains(seen, m) {
			r.t.Errorf("no %s in the session: %s", m, cmp.Diff(methods, seen))
		}
	}
}
