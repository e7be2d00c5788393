package session

import (
	"math"
	"path/filepath"
	"slices"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// The kinds of rare fact.
const (
	vouchedFor = "vouch" // server, tool, kind, canonical
	putThere   = "put"   // server, kind, canonical
	namedFirst = "first" // kind, canonical
	saidWords  = "say"   // prompt
)

type rareFact struct {
	kind string
	body []byte
}

func rareOf(kind string, parts ...string) rareFact { return rareFact{kind, appendText(nil, parts...)} }

func (l *Local) who() string { return filepath.Base(l.dir) }

// tell writes rare facts and takes them in. It returns when every other process will know them before it decides.
func (l *Local) tell(facts ...rareFact) {
	if len(facts) == 0 {
		return
	}
	if err := l.db.add(facts); err != nil {
		l.fault(err)
		return
	}
	_ = l.write(func(b []byte) []byte { return append(b, recBell) }, nil) // a fault is kept, and Err says it
	l.stale.Store(true)
	l.sync(false)
}

// load takes in what is new in the database.
func (l *Local) load() error {
	return l.db.since(func(id int64, f rareFact) error {
		u := unpacker{rest: f.body}
		switch f.kind {
		case vouchedFor:
			server, tool := u.text(), u.text()
			if d := u.kindAndCanonical(); !u.bad {
				l.mem.Vouch(server, tool, d)
			}
		case putThere:
			server := u.text()
			if d := u.kindAndCanonical(); !u.bad {
				l.mem.Put(server, []destination.Destination{d})
			}
		case namedFirst:
			if d := u.kindAndCanonical(); !u.bad {
				l.mem.claim(d)
			}
		case saidWords:
			before := l.mem.Request()
			if l.mem.Say(u.text()); l.mem.Request() != before {
				l.request.Store(id)
			}
		default:
			u.bad = true
		}
		if u.bad || len(u.rest) > 0 {
			return errGarbled
		}
		return nil
	})
}

func (u *unpacker) kindAndCanonical() destination.Destination {
	return destination.Destination{Kind: destination.Kind(u.text()), Canonical: u.text()}
}

// Vouch implements Store.
func (l *Local) Vouch(server, tool string, d destination.Destination) {
	if d.Ambiguous != "" || l.mem.Vouched(server, tool, d) {
		return
	}
	l.tell(rareOf(vouchedFor, server, tool, string(d.Kind), d.Canonical))
}

// Put implements Store.
func (l *Local) Put(server string, ds []destination.Destination) {
	l.rare.Lock()
	defer l.rare.Unlock()
	news := func(d destination.Destination) bool { return l.mem.putNews(entryOf(server, d)) }
	if !slices.ContainsFunc(ds, news) { // most calls write what earlier ones wrote
		return
	}
	l.sync(false) // what is a directory entry by now stays one
	var facts []rareFact
	told := map[entry]bool{}
	for _, d := range ds {
		if key := entryOf(server, d); !told[key] && news(d) {
			told[key] = true
			facts = append(facts, rareOf(putThere, server, string(d.Kind), d.Canonical))
		}
	}
	l.tell(facts...)
}

// Use implements Store.
func (l *Local) Use(ds []destination.Destination) {
	l.sync(false)
	var facts []rareFact
	for _, d := range ds {
		if d.Ambiguous != "" || l.mem.First(d) {
			continue
		}
		if _, seen := l.mem.Seen(d, provenance.Tokens); !seen {
			facts = append(facts, rareOf(namedFirst, string(d.Kind), d.Canonical))
		}
	}
	l.tell(facts...)
}

// Say implements Store.
func (l *Local) Say(prompt string) { l.tell(rareOf(saidWords, prompt)) }

// SayHere records words that count in this process alone. The flag that they come from stands in the config entry of one
// server, and whoever wrote that entry must not speak for the user to the others.
func (l *Local) SayHere(prompt string) {
	l.sync(false)
	l.mem.Say(prompt)
}

// Fetch implements Store.
func (l *Local) Fetch(domain, url string) int {
	n, err := l.db.fetch(l.request.Load(), domain, url)
	if err != nil {
		l.fault(err)
		return maxFetched
	}
	return n
}

// Reserve implements Store.
func (l *Local) Reserve(server, tool string) int {
	n, err := l.db.reserve(server, tool)
	if err != nil {
		l.fault(err)
		return math.MaxInt32 // no budget has such a slot
	}
	return n
}
