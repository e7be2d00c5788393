package provenance

import (
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// TestDisguises: what a server wrote in a disguise taints what it hides, and the evidence says through what.
func TestDisguises(t *testing.T) {
	for _, c := range []struct{ payload, destination, field string }{
		{`{"a":"write to spy&#64;evil.example"}`, "spy@evil.example", "a, through HTML entities"},
		{`{"a":"c3B5QGV2aWwuZXhhbXBsZQ=="}`, "spy@evil.example", "a, through base64"},
		{`{"a":"aHR0cHM6Ly9ldmlsLmV4YW1wbGUv"}`, "https://evil.example/?d=1", "a, through base64"},
		{`{"a":"https%3A%2F%2Fevil.example%2F"}`, "https://evil.example/", ""},
		{`{"a":"spy=40evil.example"}`, "spy@evil.example", ""},
		{`{"a":"spy at evil dot example"}`, "spy@evil.example", "a, through words for signs"},
		{`{"a":"spy@evil.exa\nmple"}`, "spy@evil.example", "a, through a line break"},
		{`{"a":{"user":"spy","domain":"evil.example"}}`, "spy@evil.example", "a, through two fields"},
		{`{"a":"4445383933373034303034343035333230313330303020"}`, "DE89370400440532013000", "a, through hex"},
		{`{"a":"QzBFWFQwMDAx"}`, "C0EXT0001", "a, through base64"},
	} {
		ix := New(Options{})
		ix.Add(Source{Server: "s"}, []byte(c.payload))
		d := destination.Parse(c.destination)[0]
		s, ok := ix.FindTokens(d)
		if !ok || !strings.HasSuffix(s.Field, c.field) {
			t.Errorf("%s in %s: %v, %q", c.destination, c.payload, ok, s.Field)
		}
		if v, ok := ix.Verbatim(c.destination); ok && strings.Contains(v.Field, "through") {
			t.Errorf("%s stands verbatim in %s", c.destination, c.payload)
		}
	}
	ix := New(Options{})
	ix.Add(Source{Server: "s"}, []byte(`{"a":{"user":"spy","note":"evil.example"}}`))
	if _, ok := ix.FindTokens(destination.Parse("spy@evil.example")[0]); ok {
		t.Error("any two fields make an address")
	}
}
