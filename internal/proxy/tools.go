package proxy

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// toolList is how Bouncer knows the server's tools: it asks for the list itself, with an id that the client never sees,
// when the session starts and whenever the server says that the list changed. Calls that arrive meanwhile are held, in
// order.
type toolList struct {
	mu      sync.Mutex
	idle    sync.Cond       // signalled when no run is under way and nothing is held
	listing *listing        // the run that is under way; nil when none
	again   bool            // the list changed during it
	rounds  int             // runs in a row that the list changed during
	held    []held          // calls that wait for it
	bytes   int             // what they take
	seen    []jsonrpc.Value // definitions that the client saw before anything was pinned
}

// listing is one run through the pages of tools/list.
type listing struct {
	tools []jsonrpc.Value
	pages int
	timer *time.Timer
}

type held struct {
	f     *inflight
	frame []byte
}

// Bounds on what a server may make Bouncer keep. Past them the list counts as unreadable, which denies.
const (
	maxPages = 1000
	maxTools = 100_000
	maxHeld  = 64 << 20
	// maxRounds is how often a list may change while it is read before the calls that wait for it are denied: a server
	// that never stops saying so must not hold them for ever.
	maxRounds = 20
)

// list starts a run, or notes that another one is due after the present one.
func (p *Proxy) list() {
	t := &p.tools
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listing != nil {
		t.again = true
		return
	}
	p.startLocked()
}

func (p *Proxy) startLocked() {
	run := &listing{}
	p.tools.listing = run
	run.timer = time.AfterFunc(p.cfg.ListFor, func() {
		p.finish(run, "the server did not list its tools within "+p.cfg.ListFor.String())
	})
	if !p.spawn(func() { p.page(run, "") }) { // not on the goroutine that reads the server: it may have to be read first
		run.timer.Stop()
		p.tools.abandonLocked()
	}
}

// listChanged is list for a change that the server announced: until the new list was compared, nothing is forwarded.
func (p *Proxy) listChanged() {
	if p.cfg.Pins.Known() || p.tools.running() {
		p.cfg.Pins.Lose()
		p.list()
	}
}

// abandonLocked gives up what waits: the session is over, and everything open was answered.
func (t *toolList) abandonLocked() {
	t.held, t.bytes, t.listing = nil, 0, nil
	t.idle.Broadcast()
}

// wait returns when no run is under way and nothing is held, and after limit at the latest: a client that left should not
// have to wait for a server that does not answer.
func (t *toolList) wait(limit time.Duration) {
	over := false
	timer := time.AfterFunc(limit, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		over = true
		t.idle.Broadcast()
	})
	defer timer.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for !over && (t.listing != nil || len(t.held) > 0) {
		t.idle.Wait()
	}
}

func (t *toolList) current(run *listing) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.listing == run
}

func (t *toolList) running() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.listing != nil
}

// page asks for one page.
func (p *Proxy) page(run *listing, cursor string) {
	params := []byte(`{`)
	if cursor != "" {
		params = append(append(params, `"cursor":`...), jsonrpc.Quote(cursor)...)
	}
	if meta := p.peer.envelope(); meta != nil {
		if len(params) > 1 {
			params = append(params, ',')
		}
		params = append(append(params, `"_meta":`...), meta...)
	}
	params = append(params, '}')
	id := ownID()
	p.mu.Lock()
	gone := p.gone
	p.hidden[id.Key()] = func(msg jsonrpc.Message) { p.paged(run, msg) }
	p.mu.Unlock()
	if gone || p.server.write(jsonrpc.RequestFrame(id, methodList, params)) != nil {
		p.takeHidden(id)
		p.finish(run, "the server takes no more requests")
	}
}

// paged takes one page of the list, on the goroutine that reads the server.
func (p *Proxy) paged(run *listing, msg jsonrpc.Message) {
	if !p.tools.current(run) { // its time is over
		return
	}
	if msg.Result == nil {
		p.finish(run, "the server did not answer tools/list with a list")
		return
	}
	if err := p.cfg.Session.Observe(provenance.Source{Server: p.cfg.Name, Tool: methodList, Kind: "definition"}, msg.Result); err != nil {
		p.finish(run, "the tool list is withheld: "+err.Error())
		return
	}
	result, err := jsonrpc.Decode(bytes.Clone(msg.Result)) // the tree outlives the frame
	if err != nil {
		p.finish(run, "the tool list has no single reading: "+err.Error())
		return
	}
	tools, ok := toolsOf(result)
	if !ok {
		p.finish(run, "the tool list is no list of named tools")
		return
	}
	run.tools = append(run.tools, tools...)
	run.pages++
	cursor, _ := result.Get("nextCursor")
	switch {
	case cursor.Text == "":
		p.finish(run, "")
	case run.pages >= maxPages || len(run.tools) > maxTools: // a cursor that never ends (A64)
		p.finish(run, "the tool list does not end")
	default:
		p.spawn(func() { p.page(run, cursor.Text) })
	}
}

// toolsOf returns the tools of a tools/list result. It is false unless every element is an object with a name.
func toolsOf(result jsonrpc.Value) ([]jsonrpc.Value, bool) {
	list, _ := result.Get("tools")
	if list.Kind != jsonrpc.Array {
		return nil, false
	}
	for _, tool := range list.Elems {
		if name, _ := tool.Get("name"); name.Kind != jsonrpc.String || name.Text == "" {
			return nil, false
		}
	}
	return list.Elems, true
}

// finish ends a run: with the whole list, or with why there is none. It then lets the held calls go to the judge, who
// denies them if there is nothing to compare with.
func (p *Proxy) finish(run *listing, problem string) {
	t := &p.tools
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listing != run {
		return
	}
	run.timer.Stop()
	if problem == "" {
		p.pinLocked(run.tools)
	} else {
		p.cfg.Pins.Lose()
		p.problem("the tools of %s are not pinned: %s", p.cfg.Name, problem)
	}
	if !p.againLocked() && !p.spawn(p.release) {
		t.abandonLocked()
	}
}

// againLocked starts another run if the list changed during the last one, and reports whether it did.
func (p *Proxy) againLocked() bool {
	t := &p.tools
	if !t.again {
		return false
	}
	t.again = false
	if t.rounds++; t.rounds > maxRounds {
		p.cfg.Pins.Lose()
		return false
	}
	p.startLocked()
	return true
}

func (p *Proxy) pinLocked(tools []jsonrpc.Value) {
	first := p.cfg.Pins.Tools() == nil
	worse := p.cfg.Pins.Pin(tools)
	worse = append(worse, p.cfg.Pins.Compare(p.tools.seen)...)
	p.tools.seen = nil
	p.warnChanged(worse)
	if first && p.cfg.OnPinned != nil {
		p.cfg.OnPinned(tools)
	}
}

func (p *Proxy) warnChanged(names []string) {
	if len(names) > 0 {
		p.problem("%s changed the definition of %s; calls to it are denied", p.cfg.Name, destination.Visible(strings.Join(names, ", "), 300))
	}
}

// release judges the held calls in their order. New calls are held too until the last one is through.
func (p *Proxy) release() {
	t := &p.tools
	for {
		t.mu.Lock()
		if p.againLocked() {
			t.mu.Unlock()
			return
		}
		if len(t.held) == 0 {
			t.held, t.bytes, t.rounds, t.listing = nil, 0, 0, nil
			t.idle.Broadcast()
			t.mu.Unlock()
			return
		}
		next := t.held[0]
		t.held = t.held[1:]
		t.bytes -= len(next.frame)
		t.mu.Unlock()
		if !p.isOpen(next.f) { // cancelled while it waited
			continue
		}
		if msg, bad := jsonrpc.Parse(next.frame, jsonrpc.FromClient); bad == nil {
			if call, bad := msg.ToolCall(); bad == nil {
				p.decide(next.f, next.frame, call, p.cfg.Judge.Decide, p.forwardNow)
			}
		}
	}
}

// hold keeps a call until the tools are pinned, and reports whether it did. A call that finds nothing pinned and
// nobody asking starts a run.
func (p *Proxy) hold(f *inflight, frame []byte) bool {
	t := &p.tools
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listing == nil && p.cfg.Pins.Known() {
		return false
	}
	if _, gone := p.over(); gone {
		return false
	}
	if t.bytes+len(frame) > maxHeld {
		return false // the judge denies it: nothing is pinned
	}
	if t.listing == nil {
		p.startLocked()
	}
	t.held = append(t.held, held{f, bytes.Clone(frame)})
	t.bytes += len(frame)
	return true
}

// listed compares a list that the client is about to see with the pins (A64). It returns why the list cannot be
// relayed, "" when it can.
func (p *Proxy) listed(result []byte) string {
	v, err := jsonrpc.Decode(bytes.Clone(result))
	if err != nil {
		return "it has no single reading: " + err.Error()
	}
	tools, ok := toolsOf(v)
	if !ok { // a nameless entry among the tools must not hide the others from the comparison
		return "it is no list of named tools"
	}
	t := &p.tools
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.cfg.Pins.Tools() == nil {
		if len(t.seen)+len(tools) <= maxTools {
			t.seen = append(t.seen, tools...)
			return ""
		}
		return "the tool list does not end"
	}
	p.warnChanged(p.cfg.Pins.Compare(tools))
	return ""
}
