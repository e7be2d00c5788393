package provenance

import (
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// TestNeighbours: what stands beside a host or an address in prose of any script must not hide it.
func TestNeighbours(t *testing.T) {
	const host, addr = "https://h.example/steal?d=x", "a@b.example"
	for _, c := range []struct{ text, dest string }{
		{"“https://h.example”", host}, {"‘https://h.example’s", host}, {"«h.example»", host}, {"„h.example“", host},
		{"h.example—now", host}, {"now—h.example", host}, {"h.example–now", host}, {"h.example’s", host}, {"h.example\u02bcs", host},
		{"h.example🎉", host}, {"🎉h.example", host}, {"👉🏽https://h.example👈🏽", host}, {"h.example❤\ufe0f", host},
		{"访问h.example下载", host}, {"请访问https://h.example下载", host}, {"https://h.example。请点击", host}, {"h.example。", host}, {"h.example，请", host},
		{"（h.example）", host}, {"「https://h.example」", host}, {"h.exampleへ", host}, {"сайтh.exampleдалее", host}, {"שלוםh.example", host},
		{"h.example\u200bword", host}, {"word\u200bh.example", host}, {"https://h.example\u200bword", host}, {"h.example\u2060word", host},
		{"h.example\ufeffword", host}, {"h.example\u00adword", host}, {"h.example\x00word", host}, {"h.example\x1bword é", host}, {"h.exam\u200bple", host},
		{"h.example™", host}, {"h.example¹", host}, {"h.example①and", host}, {"h.example…more", host}, {"h.example...more", host}, {"½h.example", host},
		{"h.example\u0301", host}, {"h.example•next", host}, {"h.example·next", host}, {"h.example和a@b.example", host}, {"a@b.example和h.example下载", host},
		{"https://u@h.example”与me@corp.example", host}, {"https://localhost”", "http://localhost:80/x"}, {"https://localhost下载", "http://localhost/x"},
		{"https://evil。example/x", "https://evil.example/y"}, {"https://10.1.2.3”", "http://10.1.2.3/x"}, {"地址10.1.2.3。", "http://10.1.2.3/x"},
		{"请bücher.example或evil.example下载", "https://bücher.example/x"}, {"请bücher.example或evil.example下载", "https://evil.example/x"},
		{"“bücher.example”", "https://xn--bcher-kva.example/"}, {"пример.example", "https://пример.example/"}, {"例え.example", "https://例え.example/"},
		{"i❤.ws", "https://xn--i-7iq.ws/"}, {"https://i❤.ws/", "https://xn--i-7iq.ws/x"},

		{"“a@b.example”", addr}, {"a@b.example’s", addr}, {"<a@b.example>—", addr}, {"a@b.example—now", addr}, {"a@b.example🎉", addr}, {"🎉a@b.example", addr},
		{"联系a@b.example或", addr}, {"a@b.example。请", addr}, {"a@b.example\u200bword", addr}, {"word\u200ba@b.example", addr}, {"a@b.example…more", addr},
		{"a@b.example...more", addr}, {"a@b.example™", addr}, {"a@b.example\u0301", addr}, {"a@\u200bb.example", addr}, {"a@localhost”", "a@localhost"},
		{"“a@bücher.example”", "a@bücher.example"}, {"a@bücher.example下载", "a@bücher.example"}, {"“rémy@b.example”", "rémy@b.example"},
	} {
		ix := New(Options{})
		ix.AddText(mail, "x", c.text)
		if s, ok := find(ix, c.dest); !ok || s.Match != Exact || s.Source != mail || s.Field != "x" {
			t.Errorf("%q does not taint %q: %v %+v", c.text, c.dest, ok, s)
		}
	}
}

// TestNeighboursStayApart: reading more must not mean reading anything.
func TestNeighboursStayApart(t *testing.T) {
	for _, c := range []struct{ text, dest string }{
		{"bücher.example", "https://cher.example/"},
		{"a@bücher.example", "https://bücher.example/"},
		{"a@bücher.example", "https://cher.example/"},
		{"a@b.example”", "https://b.example/"},
		{"a@b.example: hello", "https://b.example/"},
		{"/docs/h.example", "https://h.example/"},
		{"h.example.org。", "https://h.example/"},
		{"ver。1.2.3。", "http://1.2.3.0/"},
		{"said.” She", "https://said.she/"},
		{"h.example\u200bword", "https://word/"},
	} {
		ix := New(Options{})
		ix.AddText(mail, "x", c.text)
		if s, ok := find(ix, c.dest); ok {
			t.Errorf("%q taints %q: %+v", c.text, c.dest, s)
		}
	}
}

// TestRemotes ties a repository, file or socket address to its host, in both directions (A25, A35).
func TestRemotes(t *testing.T) {
	for _, c := range []struct {
		text, dest string
		want       bool
	}{
		{"git@evil.example:other/x.git", "https://evil.example/steal", true},
		{"git@evil.example:x.git", "git@evil.example:other/y.git", true},
		{"git@evil.example:~/x.git", "evil.example/steal", true},
		{"“git@evil.example:x.git”", "https://evil.example/steal", true},
		{"evil.example:other/x.git", "https://evil.example/steal", true},
		{"ssh://git@evil.example/x", "https://evil.example/steal", true},
		{"git://evil.example/x", "ssh://other@evil.example:22/y", true},
		{"ftp://evil.example/x", "wss://evil.example/y", true},
		{"wss://evil.example/x", "ftp://evil.example/y", true},
		{"see https://evil.example/", "git@evil.example:other/y.git", true},
		{"see https://evil.example/", "evil.example:other/y.git", true},
		{"see https://evil.example/", "git@evil.example:z", true},
		{"see https://evil.example/", "ssh://git@evil.example/other/y.git", true},
		{"see https://evil.example/", "git+ssh://git@Evil.example/y", true},
		{"see evil.example", "git://evil.example/y", true},
		{"see evil.example", "ftp://u:p@evil.example/y", true},
		{"see evil.example", "ws://evil.example:99/y", true},
		{"see evil.example", "jdbc:mysql://evil.example:3306/db", true},
		{"see http://127.0.0.1/", "redis://0x7f.1/0", true},
		{"see evil.example", "git@notevil.example:x/y", false},
		{"see evil.example", "ssh://git@sub.evil.example/x", false},
		{"mail git@evil.example: now", "ssh://git@evil.example/x", false},
		{"see evil.example", "/srv/evil-example/x", false},
	} {
		ix := New(Options{})
		ix.AddText(mail, "x", c.text)
		s, ok := find(ix, c.dest)
		if ok != c.want || ok && s.Match != Exact {
			t.Errorf("%q taints %q: %v %+v", c.text, c.dest, ok, s)
		}
	}
}

// TestFoldedTaint: trust compares opaque ids letter by letter, taint does not.
func TestFoldedTaint(t *testing.T) {
	ix := New(Options{})
	ix.AddText(mail, "x", "post it to C0ABCDEF or #Große-Runde")
	for _, raw := range []string{"C0ABCDEF", "c0abcdef", "#GROSSE-runde", "#große-RUNDE"} {
		if s, ok := ix.Find(destination.Parse(raw)[0]); !ok || s.Match != Text {
			t.Errorf("%q: %v %+v", raw, ok, s)
		}
	}
}
