package session

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

func dest(raw string) destination.Destination { return destination.Parse(raw)[0] }

// TestSeenWaitsForTheIndex: whatever was observed is found by the next look-up, though indexing happens later.
func TestSeenWaitsForTheIndex(t *testing.T) { everyStore(t, testSeenWaitsForTheIndex) }

func testSeenWaitsForTheIndex(t *testing.T, m Store) {
	var readers sync.WaitGroup
	for w := range 8 {
		readers.Go(func() {
			for i := range 300 {
				address := fmt.Sprintf("user%d@host%d.example", i, w)
				payload := []byte(fmt.Sprintf(`{"content":[{"type":"text","text":"mail %s now %s"}]}`, address, strings.Repeat("x", i)))
				m.Observe(provenance.Source{Server: "mail", Tool: "read", Call: address}, payload)
				copy(payload, strings.Repeat("z", len(payload))) // the caller uses its buffer again
				seen, ok := m.Seen(dest(address), provenance.Substring)
				if !ok || seen.Source.Call != address {
					t.Errorf("%s was observed and is not seen: %+v %v", address, seen, ok)
				}
			}
		})
	}
	readers.Wait()
	if _, ok := m.Seen(dest("nobody@nowhere.example"), provenance.Substring); ok {
		t.Error("an address that nobody wrote is seen")
	}
}

// TestFloodIsIndexedByItself: past the backlog the writer indexes, so a flood cannot pile up.
func TestFloodIsIndexedByItself(t *testing.T) {
	m := NewMemory()
	big := []byte(`"` + strings.Repeat("flood ", (backlog/4)/6) + `"`)
	for range 6 {
		m.Observe(provenance.Source{}, big)
		m.mu.Lock()
		waiting := m.waiting
		m.mu.Unlock()
		if waiting > backlog {
			t.Fatalf("%d bytes wait", waiting)
		}
	}
}

// TestReserve: two calls never get the same slot, and tools and servers count apart.
func TestReserve(t *testing.T) { everyStore(t, testReserve) }

func testReserve(t *testing.T, m Store) {
	var mu sync.Mutex
	got := map[int]int{}
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			n := m.Reserve("files", "write")
			mu.Lock()
			defer mu.Unlock()
			got[n]++
		})
	}
	callers.Wait()
	for n := 1; n <= 50; n++ {
		if got[n] != 1 {
			t.Errorf("slot %d was given %d times", n, got[n])
		}
	}
	if m.Reserve("files", "delete") != 1 || m.Reserve("other", "write") != 1 {
		t.Error("two tools share a budget")
	}
}

// TestVouch: an approval is for this server, tool, kind and canonical destination, and never for an ambiguous one.
func TestVouch(t *testing.T) { everyStore(t, testVouch) }

func testVouch(t *testing.T, m Store) {
	m.Vouch("mail", "send", dest("New@Random.com"))
	for _, c := range []struct {
		server, tool, raw string
		want              bool
	}{
		{"mail", "send", "new@random.com", true},
		{"mail", "send", "Name <new@random.com>", true},
		{"mail", "send", "other@random.com", false},
		{"mail", "forward", "new@random.com", false},
		{"other", "send", "new@random.com", false},
	} {
		if got := m.Vouched(c.server, c.tool, dest(c.raw)); got != c.want {
			t.Errorf("Vouched(%s, %s, %s) = %v", c.server, c.tool, c.raw, got)
		}
	}
	unclear := dest("http://a@b.example/")
	if unclear.Ambiguous == "" {
		t.Fatal("the test needs an ambiguous destination")
	}
	m.Vouch("mail", "send", unclear)
	if m.Vouched("mail", "send", unclear) {
		t.Error("an ambiguous destination is vouched for")
	}
}
