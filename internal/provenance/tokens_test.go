package provenance

import (
	"encoding/json"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// TestTokens: text counts as whole tokens, typed destinations as before, and a host is tainted by its parents.
func TestTokens(t *testing.T) {
	for _, c := range []struct {
		seen, asked string
		want        bool
	}{
		{"post it in general, please", "general", true},
		{"the generals met", "general", false},
		{"postgeneral", "general", false},
		{"in External_01", "External_0", false},
		{"in 'External_0'", "External_0", true},
		{"Fred", "Fred", false}, // too short for text
		{"stay at the Riverside View Hotel!", "Riverside View Hotel", true},
		{"write to bob@x.example.", "bob@x.example", true},
		{"write to jim.bob@x.example", "bob@x.example", false},
		{"write to bob@x.example.evil.example", "bob@x.example", false},
		{"see evil.example", "https://evil.example/?q=1", true},
		{"see evil.example", "https://a.evil.example/", true},
		{"see https://a.evil.example/x", "https://evil.example/", false},
		{"see notevil.example", "https://evil.example/", false},
		{"see b.github.io", "https://a.github.io/", false},
		{"see co.uk", "https://evil.co.uk/", false},
		{"pay GB29 NWBK 6016 1331 9268 19 now", "GB29NWBK60161331926819", true},
		{"pay GB29NWBK60161331926819 now", "GB29 NWBK 6016 1331 9268 19", true},
		{"pay GB29NWBK601613319268190 now", "GB29NWBK60161331926819", false},
	} {
		ix := New(Options{})
		ix.AddText(Source{}, "", c.seen)
		d := destination.Parse(c.asked)[0]
		if _, got := ix.FindTokens(d); got != c.want {
			t.Errorf("after %q, FindTokens(%q) = %v, want %v", c.seen, c.asked, got, c.want)
		}
	}
}

// TestEcho: what the agent said itself and the answer repeats is nothing new, and it hides nothing else.
func TestEcho(t *testing.T) {
	for _, c := range []struct {
		echo, answer, asked string
		want                bool
	}{
		{"bob@x.example", "sent to bob@x.example.", "bob@x.example", false},
		{"bob@x.example", "sent to <bob@x.example>, thanks", "bob@x.example", false},
		{"bob@x.example", `{"to":"bob@x.example"}`, "bob@x.example", false},
		{"bob@x.example", "sent to bob@x.example and eve@x.example", "eve@x.example", true},
		{"evil.example", "see https://evil.example/x", "https://evil.example/x", true},
		{"evil.example", "write to drop@evil.example", "drop@evil.example", true},
		{"evil.example", "at sub.evil.example", "https://sub.evil.example/", true},
		{"evil.example", "at evil.example.org", "https://evil.example.org/", true},
		{"evil.example", "at evil.example:8080", "https://evil.example:8080/", true},
		{"evil.e", "at evil.example", "https://evil.example/", true},
		{"a", "write to a@b.example", "a@b.example", true}, // too short to be an echo
	} {
		ix := New(Options{})
		ix.AddText(Source{}, "", "nothing")
		raw := jsonString(c.answer)
		ix.Add(Source{}, raw, c.echo)
		d := destination.Parse(c.asked)[0]
		if _, got := ix.FindTokens(d); got != c.want {
			t.Errorf("after echo %q in %q, FindTokens(%q) = %v, want %v", c.echo, c.answer, c.asked, got, c.want)
		}
		ix.Add(Source{}, raw) // the same bytes, and nobody had asked
		if _, got := ix.FindTokens(d); !got {
			t.Errorf("%q in %q, which is no echo now, does not taint", c.asked, c.answer)
		}
	}
	ix := New(Options{})
	ix.AddText(Source{}, "", "write to bob@x.example")
	ix.Add(Source{}, jsonString("sent to bob@x.example"), "bob@x.example")
	if _, ok := ix.FindTokens(destination.Parse("bob@x.example")[0]); !ok {
		t.Error("an echo took away what was seen before")
	}
}

// TestVerbatim: a URL stood there as it is, or it was composed.
func TestVerbatim(t *testing.T) {
	for _, c := range []struct {
		seen, asked string
		want        bool
	}{
		{"see https://blog.example/post.", "https://blog.example/post", true},
		{"see blog.example/post", "https://blog.example/post", true},
		{"see https://blog.example/post", "blog.example/post", true},
		{"see www.blog.example!", "www.blog.example", true},
		{"see https://www.blog.example/", "https://www.blog.example", true},
		{"see (www.blog.example).", "www.blog.example", true},
		{"see https://blog.example/post?id=1", "https://blog.example/post", false},
		{"see https://blog.example/post", "https://blog.example/post?secret=1", false},
		{"see https://blog.example/posts", "https://blog.example/post", false},
		{"see https://blog.example/post/2", "https://blog.example/post", false},
		{"see https://x.blog.example/post", "blog.example/post", false},
		{"see x-blog.example/post", "blog.example/post", false},
		{"write to me@blog.example", "blog.example", false},
		{"see blog.example.org", "blog.example", false},
		{"see blog.example", "a.b", false},
	} {
		ix := New(Options{})
		ix.AddText(Source{}, "", c.seen)
		if _, got := ix.Verbatim(c.asked); got != c.want {
			t.Errorf("after %q, Verbatim(%q) = %v, want %v", c.seen, c.asked, got, c.want)
		}
	}
}

// TestVerbatimPrefersWhereTheUserPointed: a link that stands in two places is where the user pointed.
func TestVerbatimPrefersWhereTheUserPointed(t *testing.T) {
	ix := New(Options{})
	ix.AddText(Source{Tool: "a"}, "", "see blog.example/post")
	ix.AddText(Source{Tool: "b", Named: true}, "", "see blog.example/post too")
	ix.AddText(Source{Tool: "c"}, "", "and again blog.example/post")
	if s, ok := ix.Verbatim("https://blog.example/post"); !ok || s.Source.Tool != "b" {
		t.Errorf("Verbatim = %+v, %v", s, ok)
	}
}

func jsonString(s string) []byte {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return raw
}
