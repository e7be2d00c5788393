package session

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/mandate"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// everyStore runs a test of behaviour over every kind of store: in memory, shared and alone, and shared by two processes
// whose calls take turns.
func everyStore(t *testing.T, test func(*testing.T, Store)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { test(t, NewMemory()) })
	t.Run("local", func(t *testing.T) { test(t, &turns{stores: []Store{join(t, t.TempDir(), theClient)}}) })
	t.Run("two", func(t *testing.T) {
		home := t.TempDir()
		test(t, &turns{stores: []Store{join(t, home, theClient), join(t, home, theClient)}})
	})
}

// theClient is the client of the tests' sessions. It lives as long as the tests do.
var theClient = func() Identity {
	id, err := Here()
	if err != nil {
		panic(err)
	}
	return id
}()

// join joins a session until the test ends.
func join(t testing.TB, home string, who Identity) *Local {
	t.Helper()
	l, err := Open(home, who)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func segmentPath(l *Local) string { return l.own.file.Name() }

// nextSegment is the path of the segment that the next process of l's session would write.
func nextSegment(l *Local) string {
	for n := 1; ; n++ {
		path := filepath.Join(l.dir, segmentName(n))
		if _, err := os.Lstat(path); err != nil {
			return path
		}
	}
}

// turns is a Store whose calls go to several stores in turn.
type turns struct {
	stores []Store
	n      atomic.Uint64
}

func (s *turns) next() Store { return now(s.stores[s.n.Add(1)%uint64(len(s.stores))]) }

// now is a store as a decision sees it that begins now.
func now[S Store](s S) S {
	s.Mark()
	return s
}

func (s *turns) Mark() uint64 { return s.next().Mark() }
func (s *turns) Err(since uint64) error {
	for _, one := range s.stores {
		if err := one.Err(since); err != nil {
			return err
		}
	}
	return nil
}
func (s *turns) Observe(src provenance.Source, payload []byte, echo ...string) error {
	return s.next().Observe(src, payload, echo...)
}
func (s *turns) Seen(d destination.Destination, how provenance.Matching) (provenance.Sighting, bool) {
	return s.next().Seen(d, how)
}
func (s *turns) Verbatim(d destination.Destination) (provenance.Sighting, bool) {
	return s.next().Verbatim(d)
}
func (s *turns) Label(l provenance.Labelled) { s.next().Label(l) }
func (s *turns) Labelled(server string, d destination.Destination) (provenance.Labelled, bool) {
	return s.next().Labelled(server, d)
}
func (s *turns) Put(server string, ds []destination.Destination) { s.next().Put(server, ds) }
func (s *turns) Secret(text string) (provenance.Labelled, bool)  { return s.next().Secret(text) }
func (s *turns) Clean() bool                                     { return s.next().Clean() }
func (s *turns) Use(ds []destination.Destination)                { s.next().Use(ds) }
func (s *turns) First(d destination.Destination) bool            { return s.next().First(d) }
func (s *turns) Say(prompt string)                               { s.next().Say(prompt) }
func (s *turns) Request() *mandate.Request                       { return s.next().Request() }
func (s *turns) Fetch(domain, url string) int                    { return s.next().Fetch(domain, url) }
func (s *turns) Reserve(server, tool string) int                 { return s.next().Reserve(server, tool) }
func (s *turns) Vouch(server, tool string, d destination.Destination) {
	s.next().Vouch(server, tool, d)
}
func (s *turns) Vouched(server, tool string, d destination.Destination) bool {
	return s.next().Vouched(server, tool, d)
}

func (s *turns) Private(server, object string) (provenance.Labelled, bool) {
	return s.next().Private(server, object)
}
func (s *turns) VouchedFor(server string) []destination.Destination {
	return s.next().VouchedFor(server)
}
