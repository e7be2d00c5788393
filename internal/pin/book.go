package pin

import (
	"sync"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// State says how a name stands to the pins.
type State uint8

// The states. The zero State is Unknown.
const (
	Unknown   State = iota // never pinned
	Changed                // listed with another definition since
	Ambiguous              // listed twice at the time of pinning, or beside a name that looks like it
	Held                   // as pinned
)

// Book is the pins of one server for one session. The first complete list pins; later lists are compared with it, and
// what they add is not pinned: a tool that appears in mid-session was never looked at. It is safe for concurrent use.
type Book struct {
	mu     sync.Mutex
	pinned bool
	stale  bool
	tools  map[string]*entry
}

type entry struct {
	definition jsonrpc.Value
	print      Print
	state      State
	changed    []string
	hidden     string
}

// Pin records the server's tools if nothing is pinned yet, else compares them with the pins. It returns the names whose
// state became worse, in list order.
func (b *Book) Pin(tools []jsonrpc.Value) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stale = false
	if b.pinned {
		return b.compare(tools)
	}
	b.pinned, b.tools = true, map[string]*entry{}
	var worse, names []string
	for _, t := range tools {
		name := toolName(t)
		if twin, twice := b.tools[name]; twice {
			if twin.print != Of(t) { // pages that overlap repeat a tool; that alone is no harm (A64)
				twin.state = Ambiguous
				worse = append(worse, name)
			}
			continue
		}
		b.tools[name] = &entry{definition: t, print: Of(t), state: Held, hidden: Hidden(t)}
		names = append(names, name)
	}
	for _, name := range alike(names) {
		if e := b.tools[name]; e.state == Held {
			e.state = Ambiguous
			worse = append(worse, name)
		}
	}
	return worse
}

// Compare checks definitions that the client is about to see against the pins. Before the first Pin it does nothing:
// the caller keeps the list and compares it later.
func (b *Book) Compare(tools []jsonrpc.Value) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.pinned {
		return nil
	}
	return b.compare(tools)
}

// compare marks pinned names whose definition differs. A changed pin stays changed: a server that shows the old
// definition again has still shown another one to somebody.
func (b *Book) compare(tools []jsonrpc.Value) []string {
	var worse []string
	for _, t := range tools {
		e := b.tools[toolName(t)]
		if e == nil || e.state != Held || e.print == Of(t) {
			continue
		}
		e.state, e.changed = Changed, Diff(e.definition, t)
		worse = append(worse, toolName(t))
	}
	return worse
}

// Lose notes that the server's list is said to have changed and could not be read. Until the next Pin nothing is known.
func (b *Book) Lose() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stale = true
}

// Known reports whether a list was pinned and nothing says that it may have changed since.
func (b *Book) Known() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pinned && !b.stale
}

// State returns how name stands, with the parts that changed when it is Changed.
func (b *Book) State(name string) (State, []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.tools[name]
	if e == nil {
		return Unknown, nil
	}
	return e.state, e.changed
}

// Hidden returns what the pinned definition of name hides from a reader; "" for nothing.
func (b *Book) Hidden(name string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.tools[name]; e != nil {
		return e.hidden
	}
	return ""
}

// Definition returns the pinned definition of name.
func (b *Book) Definition(name string) (jsonrpc.Value, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.tools[name]
	if e == nil {
		return jsonrpc.Value{}, false
	}
	return e.definition, true
}

// Tools returns the pinned definitions, in no particular order; nil before the first Pin.
func (b *Book) Tools() []jsonrpc.Value {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.pinned {
		return nil
	}
	out := make([]jsonrpc.Value, 0, len(b.tools))
	for _, e := range b.tools {
		out = append(out, e.definition)
	}
	return out
}

func toolName(t jsonrpc.Value) string {
	name, _ := t.Get("name")
	return name.Text
}
