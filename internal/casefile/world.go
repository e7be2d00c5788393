package casefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
	"github.com/mcp-bouncer/bouncer/internal/proxy"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// world is everything that one run of a case is made of: one session with its log, and a relay for every server.
type world struct {
	c     *Case
	temp  string // removed at the end
	dir   string // the scratch directory, with slashes and without links in its own path
	log   *audit.Log
	store session.Store
	// What is remembered for always lies outside the tree, as the log does.
	answers *approval.Book
	desk    *approval.Desk
	lines   logReader
	links   map[string]*link

	mu    sync.Mutex
	notes []string // what the relays told the user's terminal
}

// link is one relay with what stands at its two ends.
type link struct {
	name   string
	client *scriptedClient
	server *scriptedServer
	ended  chan struct{} // closed when the relay's Run returned
	pinned chan struct{} // closed when the relay has pinned the tools
	shut   func()        // closes every pipe, for a relay that does not end by itself
	seen   int           // frames of the server that the steps have accounted for
}

// build starts the relays of a case. askFor is how long a person has for an answer.
func build(ctx context.Context, c *Case, askFor time.Duration) (*world, error) {
	w := &world{c: c, links: map[string]*link{}}
	if err := w.open(ctx, askFor); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) open(ctx context.Context, askFor time.Duration) error {
	c := w.c
	if err := w.scratch(); err != nil {
		return fmt.Errorf("make the scratch directory: %w", err)
	}
	set, err := c.policy.set(w.dir)
	if err != nil {
		return err
	}
	set = set.WithPacks(packs.All())
	w.store = session.NewMemory()
	clock := &atomic.Int64{}
	for _, s := range c.servers {
		w.links[s.name] = w.start(s, set, w.store, clock, askFor)
	}
	for _, s := range c.servers {
		if err := w.links[s.name].client.greet(ctx); err != nil {
			return fmt.Errorf("start of server %s: %w", s.name, err)
		}
		w.links[s.name].seen = w.links[s.name].server.got.len()
	}
	return nil
}

func (w *world) scratch() (err error) {
	if w.temp, err = os.MkdirTemp("", "bouncer-case-"); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(w.temp)
	if err != nil {
		return err
	}
	tree := filepath.Join(real, "dir")
	w.dir = filepath.ToSlash(tree)
	if err := os.Mkdir(tree, 0o700); err != nil {
		return err
	}
	if err := plant(tree, w.c.files); err != nil {
		return err
	}
	// The log stands outside the tree: a case may plant whatever it likes in there.
	w.lines.path = filepath.Join(real, "log", "audit.jsonl")
	if w.log, err = audit.Open(w.lines.path); err != nil {
		return err
	}
	// The person of a case answers at once, and as often as the case says.
	w.desk = approval.NewDesk(approval.Settings{Fastest: -1, Most: -1}, nil, w.problem)
	w.answers, err = approval.OpenBook(filepath.Join(real, "log", "approvals.yaml"), w.problem)
	return err
}

func (w *world) problem(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.notes) < 100 {
		w.notes = append(w.notes, fmt.Sprintf(format, args...))
	}
}

func (w *world) start(s server, set *policy.Set, store session.Store, clock *atomic.Int64, askFor time.Duration) *link {
	who := policy.Server{Name: s.name}
	if s.pkg != "" {
		who.Identity = []string{s.pkg}
	}
	book := &pin.Book{}
	j := judge.New(judge.Config{Server: who, Policy: set, Profile: w.c.Profile, Session: store, SessionID: "case", Log: w.log,
		Pins: book, Problem: w.problem, Answers: w.answers,
		Paths: &judge.Paths{Dir: filepath.FromSlash(w.dir), UserHome: filepath.FromSlash(w.dir), Guarded: []string{filepath.Join(filepath.FromSlash(w.dir), ".bouncer")}}})

	clientToRelay, fromClient := io.Pipe()
	relayToClient, toClient := io.Pipe()
	relayToServer, toServer := io.Pipe()
	serverToRelay, fromServer := io.Pipe()
	pinned := make(chan struct{})
	p := w.c.newRelay(proxy.Config{Name: s.name, Judge: j, Session: store, Pins: book, Desk: w.desk, AskFor: askFor, ListFor: patience,
		Problem: w.problem, OnPinned: func([]jsonrpc.Value) { close(pinned) }, CloseUpstream: func() { toServer.Close() }},
		proxy.Pipe{In: clientToRelay, Out: toClient}, proxy.Pipe{In: serverToRelay, Out: toServer})

	l := &link{name: s.name, ended: make(chan struct{}), pinned: pinned}
	l.client = newScriptedClient(w.c.client, fromClient, clock)
	l.server = newScriptedServer(s, w.c.client, w.dir, clock)
	l.shut = func() {
		for _, c := range []io.Closer{fromClient, clientToRelay, relayToClient, toClient, relayToServer, toServer, serverToRelay, fromServer} {
			c.Close()
		}
	}
	go l.client.got.fill(relayToClient, func([]byte) {})
	go l.server.serve(relayToServer, fromServer)
	go func() {
		defer close(l.ended)
		p.Run()
		toClient.Close()
	}()
	return l
}

func (c *Case) newRelay(cfg proxy.Config, client, server proxy.Pipe) runner {
	if c.relay != nil {
		return c.relay(cfg, client, server)
	}
	return proxy.New(cfg, client, server)
}

// end closes the client's side and waits until the relay is done, so that whatever it would still write is written.
func (l *link) end(ctx context.Context) error {
	l.client.out.Close()
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	select {
	case <-l.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the relay of %s did not end with its client: %w", l.name, ctx.Err())
	}
}

// close gives everything back. A relay that is stuck loses its pipes.
func (w *world) close() {
	for _, l := range w.links {
		l.shut()
		select {
		case <-l.ended:
		case <-time.After(patience):
		}
	}
	if w.log != nil {
		w.log.Close()
	}
	if w.temp != "" {
		os.RemoveAll(w.temp)
	}
}

// told returns what the relays said to the user's terminal since the last call.
func (w *world) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.notes
	w.notes = nil
	return out
}

func (w *world) link(s step) (*link, error) {
	name := s.server
	if name == "" {
		name = w.c.servers[0].name
	}
	if l := w.links[name]; l != nil {
		return l, nil
	}
	return nil, errors.New("no server " + name)
}
