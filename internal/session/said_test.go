package session

import (
	"fmt"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

func labelled(l provenance.Label, server, raw string) provenance.Labelled {
	return provenance.Labelled{Label: l, Server: server, Destination: dest(raw)}
}

func labelOf(m Store, server, raw string) provenance.Label {
	l, _ := m.Labelled(server, dest(raw))
	return l.Label
}

// TestLabels: a directory outlives an attribution, binds to its server, and never takes in what an agent's call put there.
func TestLabels(t *testing.T) { everyStore(t, testLabels) }

func testLabels(t *testing.T, m Store) {
	for _, l := range []provenance.Labelled{
		labelled(provenance.Attributed, "mail", "a@x.example"), labelled(provenance.Directory, "mail", "a@x.example"),
		labelled(provenance.Directory, "mail", "b@x.example"), labelled(provenance.Attributed, "mail", "b@x.example"),
		labelled(provenance.Attributed, "mail", "c@x.example"),
	} {
		m.Label(l)
	}
	m.Put("mail", []destination.Destination{dest("b@x.example"), dest("c@x.example"), dest("d@x.example")})
	for _, raw := range []string{"c@x.example", "d@x.example"} {
		m.Label(labelled(provenance.Directory, "mail", raw))
	}
	m.Label(labelled(provenance.Directory, "files", "d@x.example"))
	for _, c := range []struct {
		server, raw string
		want        provenance.Label
	}{
		{"mail", "a@x.example", provenance.Directory},
		{"mail", "a@X.EXAMPLE", provenance.Directory},
		{"mail", "b@x.example", provenance.Directory},
		{"mail", "c@x.example", provenance.Attributed},
		{"mail", "d@x.example", ""},
		{"files", "d@x.example", provenance.Directory},
		{"files", "a@x.example", ""},
	} {
		if got := labelOf(m, c.server, c.raw); got != c.want {
			t.Errorf("%s on %s is %q, want %q", c.raw, c.server, got, c.want)
		}
	}
	odd := dest("a@x.example")
	odd.Ambiguous = "two readings"
	if _, ok := m.Labelled("mail", odd); ok {
		t.Error("an ambiguous spelling is labelled")
	}
}

func TestSecrets(t *testing.T) { everyStore(t, testSecrets) }

func testSecrets(t *testing.T, m Store) {
	if _, ok := m.Secret("4237-4252-7456-2574"); ok {
		t.Error("a secret before any was labelled")
	}
	for _, raw := range []string{"4237-4252-7456-2574", "HGK137803", "12"} {
		m.Label(provenance.Labelled{Label: provenance.Secret, Server: "bank", Destination: destination.Destination{Kind: destination.Opaque, Raw: raw, Canonical: raw}})
	}
	for text, want := range map[string]bool{
		"card 4237-4252-7456-2574.":     true,
		"card 4237 4252 7456 2574":      true,
		"card 4237425274562574":         true,
		"passport hgk137803, thanks":    true,
		"passport HGK1378034":           false,
		"card 14237425274562574":        false,
		"it is 12 o'clock":              false,
		"":                              false,
		"4237 4252 and then 7456, 2574": false,
	} {
		if _, got := m.Secret(text); got != want {
			t.Errorf("Secret(%q) = %v, want %v", text, got, want)
		}
	}
}

// TestFetch: each URL of a domain has its number, until the user asks for something else.
func TestFetch(t *testing.T) { everyStore(t, testFetch) }

func testFetch(t *testing.T, m Store) {
	m.Say("Read the article that Bob posted")
	want := func(domain, url string, n int) {
		t.Helper()
		if got := m.Fetch(domain, url); got != n {
			t.Errorf("Fetch(%s, %s) = %d, want %d", domain, url, got, n)
		}
	}
	want("evil.example", "a", 1)
	want("evil.example", "b", 2)
	want("evil.example", "a", 1)
	want("blog.example", "a", 1)
	m.Say("Yes, go ahead")
	want("evil.example", "c", 3)
	m.Say("Now read the other article")
	want("evil.example", "c", 1)
	for i := range 2 * maxFetched {
		m.Fetch("evil.example", fmt.Sprint("u", i))
	}
	if got := m.Fetch("evil.example", "one more"); got < 2 {
		t.Errorf("a flood made the next URL number %d", got)
	}
}

func TestFirstUse(t *testing.T) { everyStore(t, testFirstUse) }

func testFirstUse(t *testing.T, m Store) {
	if !m.Clean() {
		t.Error("a new session is not clean")
	}
	m.Observe(provenance.Source{Kind: "definition"}, []byte(`"write to def@x.example"`))
	if !m.Clean() {
		t.Error("definitions make a session dirty")
	}
	m.Use([]destination.Destination{dest("mine@x.example")})
	m.Observe(provenance.Source{Kind: "result"}, []byte(`"mine@x.example and theirs@x.example"`))
	m.Use([]destination.Destination{dest("theirs@x.example"), dest("def@x.example")})
	if m.Clean() || !m.First(dest("mine@x.example")) || m.First(dest("theirs@x.example")) || m.First(dest("def@x.example")) || m.First(dest("new@x.example")) {
		t.Error("who named what first is wrong")
	}
}

func TestPrivate(t *testing.T) { everyStore(t, testPrivate) }

// testPrivate: what was read counts as read for every other object, on every server.
func testPrivate(t *testing.T, s Store) {
	read := func(server, object string) {
		s.Label(provenance.Labelled{Label: provenance.Private, Server: server,
			Destination: destination.Destination{Kind: destination.Opaque, Raw: object, Canonical: object},
			Sighting:    provenance.Sighting{Source: provenance.Source{Server: server, Tool: "get"}}})
	}
	if _, ok := s.Private("git", "acme/site"); ok {
		t.Error("something was read before anything was")
	}
	read("git", "acme/site")
	read("git", "acme/site")
	for _, c := range []struct {
		server, object string
		want           bool
	}{{"git", "acme/site", false}, {"git", "acme/other", true}, {"git", "", true}, {"jira", "acme/site", true}} {
		if got, ok := s.Private(c.server, c.object); ok != c.want || ok && got.Sighting.Source.Tool != "get" {
			t.Errorf("%s %q: %v %+v", c.server, c.object, ok, got)
		}
	}
	read("git", "acme/payroll")
	read("git", "acme/third")
	if got, ok := s.Private("git", "acme/site"); !ok || got.Destination.Raw != "acme/payroll" {
		t.Errorf("a second object is not known: %+v", got)
	}
}

func TestVouchedFor(t *testing.T) { everyStore(t, testVouchedFor) }

func testVouchedFor(t *testing.T, s Store) {
	s.Vouch("mail", "send", dest("b@x.example"))
	s.Vouch("mail", "forward", dest("a@x.example"))
	s.Vouch("chat", "send", dest("c@x.example"))
	got := s.VouchedFor("mail")
	if len(got) != 2 || got[0].Canonical != "a@x.example" || got[1].Canonical != "b@x.example" || len(s.VouchedFor("none")) != 0 {
		t.Errorf("vouched for on mail: %+v", got)
	}
}
