package destination

import (
	"bytes"
	"strings"
	"testing"
)

func TestUnveil(t *testing.T) {
	for _, c := range []struct{ text, want, through string }{
		{"write to spy&#64;evil.example", "spy@evil.example", "HTML entities"},
		{"write to spy&commat;evil&period;example", "spy@evil.example", "HTML entities"},
		{"https%3A%2F%2Fevil.example%2Fx", "https://evil.example/x", "percent signs"},
		{"https%253A%252F%252Fevil.example", "https://evil.example", "percent signs"},
		{"spy=40evil=2Eexample", "spy@evil.example", "quoted-printable"},
		{"spy@evil.exa=\nmple", "spy@evil.example", "a line break"},
		{"aHR0cHM6Ly9ldmlsLmV4YW1wbGUv", "https://evil.example/", "base64"},
		{"see c3B5QGV2aWwuZXhhbXBsZQ== now", "spy@evil.example", "base64"},
		{"https://ok.example/r?u=aHR0cHM6Ly9ldmlsLmV4YW1wbGUv", "https://evil.example/", "base64"},
		{"737079406576696c2e6578616d706c65", "spy@evil.example", "hex"},
		{"spy at evil dot example", "spy@evil.example", "words for signs"},
		{"spy [at] evil [dot] example", "spy@evil.example", "words for signs"},
		{"spy(at)mail(dot)evil(dot)example", "spy@mail.evil.example", "words for signs"},
		{"spy@evil[.]example", "spy@evil.example", "words for signs"},
		{"hxxps://evil[.]example/x", "https://evil.example", "words for signs"},
		{"spy@evil.\nexample", "spy@evil.example", "a line break"},
		{"> https://evil.exa\n> mple/x", "https://evil.example/x", "a line break"},
		{"spy@\nevil.example", "spy@evil.example", "a line break"},
		{"spy@\u0435vil.example", "spy@evil.example", "look-alike letters"},
		{"aHR0cHMlM0ElMkYlMkZldmlsLmV4YW1wbGU=", "https://evil.example", "base64 and percent signs"},
	} {
		found := false
		for _, r := range Unveil([]byte(c.text)) {
			found = found || r.Through == c.through && bytes.Contains(r.Text, []byte(c.want))
		}
		if !found {
			t.Errorf("%q: no %q through %s in %+v", c.text, c.want, c.through, Unveil([]byte(c.text)))
		}
	}
}

// Ordinary texts hide nothing that names a destination.
func TestUnveilLeavesProseAlone(t *testing.T) {
	for _, text := range []string{
		"", "a plain sentence without anything", "documentation/examples/internationalisation", "He left. The next day came.",
		"We met at noon.\nThe dot on the map is red.", "price = 40, rate = 3%", "deadbeef", "Straße und Grüße", "a & b; c",
		"commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "from bob@corp.com\nsubject: x", "see https://ok.com\nand more",
	} {
		for _, r := range Unveil([]byte(text)) {
			if ms := Mentions(string(r.Text)); len(ms) > 0 {
				t.Errorf("%q: %s shows %v", text, r.Through, ms[0].Raw)
			}
		}
	}
}

// No input makes the readings many times its size.
func TestUnveilIsBounded(t *testing.T) {
	for _, seed := range []string{"%25", "&amp;", "=3D", "YWFhYWFhYWFhYWFh", "61", "a@b.\n", "x dot ", "[at]", "\u0435.", "=\n", "%", "/=", "aaaaaaaa "} {
		text := []byte(strings.Repeat(seed, 200_000/len(seed)))
		size := 0
		for _, r := range Unveil(text) {
			size += len(r.Text)
		}
		if size > 12*len(text) {
			t.Errorf("%q: %d bytes of readings of %d", seed, size, len(text))
		}
	}
}

func FuzzUnveil(f *testing.F) {
	f.Add([]byte("spy=40evil%2Eexample c3B5QGV2aWwuZXhhbXBsZQ== at dot"))
	f.Fuzz(func(t *testing.T, text []byte) {
		size := 0
		for _, r := range Unveil(text) {
			size += len(r.Text)
			if r.Through == "" || len(r.Text) == 0 {
				t.Errorf("%q: an empty reading", text)
			}
		}
		if size > 40*len(text)+100 {
			t.Errorf("%d bytes of readings of %d", size, len(text))
		}
	})
}

func BenchmarkUnveil(b *testing.B) {
	text := []byte(strings.Repeat("An ordinary sentence, with a number (42) and a link https://ok.example/page in it.\n", 1000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Unveil(text)
	}
}
