package destination

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// want is one expected destination; a trailing "!" on the canonical form means that it must be ambiguous.
func describe(ds []Destination) []string {
	var out []string
	for _, d := range ds {
		s := string(d.Kind) + " " + d.Canonical
		if d.Ambiguous != "" {
			s += " !"
		}
		out = append(out, s)
	}
	return out
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		id, raw string
		want    []string
	}{
		{"empty", "", []string{"opaque  !"}},
		{"blank", " \n\t", []string{"opaque  !"}},
		{"plain", "Bob@Partner.Example", []string{"email bob@partner.example"}},
		{"plus tag stays", "bob+x@partner.example", []string{"email bob+x@partner.example"}},
		{"name", `Bob Smith <bob@partner.example>`, []string{"email bob@partner.example"}},
		{"quoted name", `"Bob S." <bob@partner.example>`, []string{"email bob@partner.example"}},
		{"name with comma", `"ok@corp.example, x" <evil@x.example>`, []string{"email ok@corp.example !", "email evil@x.example !"}},
		{"idn", "bob@BÜCHER.example", []string{"email bob@xn--bcher-kva.example"}},
		{"idn decomposed", "bob@bu\u0308cher.example", []string{"email bob@xn--bcher-kva.example"}},
		{"punycode", "bob@xn--bcher-kva.example", []string{"email bob@xn--bcher-kva.example"}},
		{"comment", "bob(comment)@x.example", []string{"email bob(comment)@x.example !"}},
		{"percent hack", "evil%x.example@corp.example", []string{"email evil%x.example@corp.example !"}},
		{"two ats", "a@b.example@c.example", []string{"email a@b.example@c.example !"}},
		{"free text", "write to bob@x.example today", []string{"email bob@x.example !"}},
		{"handle", "@alice", []string{"opaque @alice"}},
		{"scp", "git@github.com:octo/repo.git", []string{"path git@github.com:octo/repo.git"}},

		{"A29", "https://docs.corp.example@evil.example/", []string{"url https://evil.example/ !"}},
		{"A29", "https://docs.corp.example:pw@evil.example", []string{"url https://evil.example/ !"}},
		{"A29", "https://docs.corp.example%20@evil.example", []string{"url https://evil.example/ !"}},
		{"A29", "https://u:p@docs.corp.example/", []string{"url https://docs.corp.example/ !"}},
		{"A31", "https://corp\u3002example/", []string{"url https://corp.example/ !"}},
		{"A31", "https://evil.example\uff0f@corp.example", []string{"url https://evil.example/@corp.example !"}},
		{"A31", "https://corp.example\uff03@evil.example", []string{"url https://corp.example/ !"}},
		{"A31", "https://\u2113ocalhost/", []string{"url https://localhost/ !"}},
		{"A31 valid name", "https://bücher.example/", []string{"url https://xn--bcher-kva.example/"}},
		{"A31 deviation", "https://fuß.example/", []string{"url https://xn--fu-hia.example/ !"}},
		{"A32", `https:\\evil.example`, []string{"url https://evil.example/ !"}},
		{"A32", "https:/evil.example", []string{"url https://evil.example/ !"}},
		{"A32", "https:evil.example", []string{"url https://evil.example/ !"}},
		{"A32", "//evil.example", []string{"url https://evil.example/ !"}},
		{"A32", "ht\ttps://evil.example", []string{"url https://evil.example/ !"}},
		{"A32", "HTTPS://CORP.EXAMPLE.", []string{"url https://corp.example/"}},
		{"A32", "https://corp.example:8443", []string{"url https://corp.example:8443/"}},
		{"A32", "https://corp.example:0443/", []string{"url https://corp.example/"}},
		{"A32", "evil.example?=.corp.example", []string{"url evil.example/?=.corp.example"}},
		{"A32", " https://evil.example", []string{"url https://evil.example/"}},
		{"A35", "file:///etc/passwd", []string{"path /etc/passwd"}},
		{"A35", "gopher://evil.example:25/", []string{"opaque gopher://evil.example:25/"}},
		{"A35", "javascript:alert(1)", []string{"opaque javascript:alert(1)"}},
		{"A35", "data:text/html,<b>", []string{"opaque data:text/html,<b>"}},
		{"A35", "view-source:https://x.example", []string{"opaque view-source:https://x.example"}},
		{"A35", "mailto:x@evil.example?bcc=y@evil.example", []string{"email x@evil.example", "email y@evil.example"}},
		{"A35", "mailto:a@b.example?cc=c%40d.example", []string{"email a@b.example", "email c@d.example"}},
		{"A35", "mailto:a@b.example%0d%0aBcc:x@y.example", []string{"email a@b.example !", "email x@y.example !"}},
		{"A37", "ok@corp.example,evil@x.example", []string{"email ok@corp.example", "email evil@x.example"}},
		{"A37", "ok@corp.example; evil@x.example", []string{"email ok@corp.example", "email evil@x.example"}},
		{"A37", "ok@corp.example\nevil@x.example", []string{"email ok@corp.example", "email evil@x.example"}},
		{"A37", "Team: ok@corp.example, evil@x.example;", []string{"email ok@corp.example", "email evil@x.example"}},
		{"A37 blanks", "ok@corp.example evil@x.example", []string{"email ok@corp.example !", "email evil@x.example !"}},
		{"A37 mixed", "ok@corp.example, #general", []string{"email ok@corp.example", "opaque #general !"}},
		{"A37 urls", "https://a.example/ https://b.example/", []string{"url https://a.example/ !", "url https://b.example/ !"}},
		{"A38", "ok@corp.example\r\nBcc: evil@x.example", []string{"email ok@corp.example !", "email evil@x.example !"}},
		{"A38", "ok@corp.example\nBcc: evil@x.example", []string{"email ok@corp.example !", "email evil@x.example !"}},
		{"A38", "ok@corp.example\u2028Bcc: evil@x.example", []string{"email ok@corp.example !", "email evil@x.example !"}},
		{"A38", "ok@corp.example\u0085evil@x.example", []string{"email ok@corp.example !", "email evil@x.example !"}},
		{"A38", "ok@corp.example%0d%0aBcc:evil@x.example", []string{"email ok@corp.example\r\nbcc !", "email evil@x.example !"}},
		{"A40", "https%3A%2F%2Fevil.example%2F", []string{"url https://evil.example/ !"}},
		{"A40", "https://%65vil.example/", []string{"url https://evil.example/ !"}},
		{"A40", "https://corp.example/%2e%2e/%2e%2e", []string{"url https://corp.example/ !"}},
		{"A40", "%2e%2e%2fsecret", []string{"opaque %2e%2e%2fsecret !"}},
		{"A40", "a/%252e%252e", []string{"path a/%252e%252e !"}},
		{"A40", "..%2fsecret/x", []string{"path ..%2fsecret/x !"}},

		{"ipv4", "http://2130706433/", []string{"url http://127.0.0.1/ !"}},
		{"ipv4", "http://0x7f.1/", []string{"url http://127.0.0.1/ !"}},
		{"ipv4", "http://0177.0.0.1/", []string{"url http://127.0.0.1/ !"}},
		{"ipv4", "http://127.0.0.1:80/a", []string{"url http://127.0.0.1/a"}},
		{"ipv4", "http://1.2.3.4.5/", []string{"url http://1.2.3.4.5/ !"}},
		{"ipv6", "http://[0:0::1]:8080/", []string{"url http://[::1]:8080/"}},
		{"ipv6", "http://[::ffff:1.2.3.4]/", []string{"url http://1.2.3.4/"}},
		{"ipv6", "http://[fe80::1%25eth0]/", []string{"url http://[fe80::1]/ !"}},
		{"fragment, query", "https://x.example/a/c?Q=%aB#f", []string{"url https://x.example/a/c?Q=%AB"}},
		{"bare", "evil.example/x", []string{"url evil.example/x"}},
		{"bare", "evil.co.uk", []string{"url evil.co.uk/"}},
		{"bare", "10.0.0.1:99", []string{"url 10.0.0.1:99/"}},
		{"bare", "localhost:3000", []string{"url localhost:3000/"}},
		{"file name", "README.md", []string{"opaque README.md"}},
		{"version", "1.2.3", []string{"opaque 1.2.3"}},
		{"invisible", "https://corp.\u200bexample/", []string{"url https://corp.example/ !"}},
		{"invisible", "evil\u00ad@x.example", []string{"email evil@x.example !"}},
		{"invalid UTF-8", "bob\xff@x.example", []string{"email bob\ufffd@x.example !"}},

		{"path", "/work/./out//a", []string{"path /work/out/a"}},
		{"path", "out/../../etc", []string{"path ../etc !"}},
		{"path", "./README.md", []string{"path ./README.md"}},
		{"path", "~/notes", []string{"path ~/notes"}},
		{"path", "octo/Repo", []string{"path octo/Repo"}},
		{"path", `C:\a\b`, []string{"path C:/a/b"}},
		{"path", `\\host\share`, []string{`path ./\\host\share !`}},
		{"path", "/a\x00b", []string{"path /ab !"}},
		{"path", "file://host/x", []string{"path /x !"}},
		{"path", "file:///a%2fb", []string{"path /a/b !"}},

		{"channel", "#General", []string{"opaque #General"}},
		{"opaque", "  Two   Words ", []string{"opaque Two   Words"}},
		{"opaque", "#gene\u200bral", []string{"opaque #general !"}},
		{"opaque", "＃general", []string{"opaque #general !"}},
	} {
		if diff := cmp.Diff(c.want, describe(Parse(c.raw))); diff != "" {
			t.Errorf("%s: Parse(%q) (-want +got):\n%s", c.id, c.raw, diff)
		}
	}
}

func TestParseBounds(t *testing.T) {
	if ds := Parse(strings.Repeat("a@b.example,", 5000)); len(ds) != maxRecipients+1 || ds[maxRecipients].Ambiguous == "" {
		t.Errorf("5000 recipients: %d destinations, the last %+v", len(ds), ds[len(ds)-1])
	}
	for _, many := range []string{"a@b.example,", "a@b.example ", "https://b.example ", "https://a.example,b.example;"} {
		if ds := Parse(strings.Repeat(many, 2000)); len(ds) != maxRecipients+1 || ds[maxRecipients].Ambiguous == "" || ds[maxRecipients].Kind != Opaque {
			t.Errorf("2000 times %q: %d destinations, the last %+v", many, len(ds), ds[len(ds)-1])
		}
	}
	if ds := Parse(strings.Repeat("a", maxRaw+1)); len(ds) != 1 || ds[0].Ambiguous == "" {
		t.Errorf("overlong: %d destinations", len(ds))
	}
	for _, s := range []string{"@", "<", "(", ":", "://a ", "%", "/..", "a@", ",", "\\", "[", "xn--", "http://", "a@b.c:"} {
		Parse(strings.Repeat(s, maxRaw/len(s))) // must come back
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		id, entry, raw string
		want           bool
	}{
		{"A28", "https://docs.corp.example", "https://docs.corp.example.evil.example/x", false},
		{"A28", "https://docs.corp.example", "https://docs.corp.example-evil.example", false},
		{"A28", "*.corp.example", "https://evildocs.corp.example", true},
		{"A28", "*.corp.example", "https://evilcorp.example", false},
		{"A28", "*.corp.example", "https://corp.example", false},
		{"A28", "*.corp.example", "bob@mail.corp.example", true},
		{"A28", "*.corp.example", "bob@corp.example", false},
		{"A28", "*.", "https://evil.example/", false},
		{"A28", "*.0.0.1", "http://127.0.0.1/", false},
		{"A32 port", "*.corp.example", "https://x.corp.example:8443/", false},
		{"domain", "@corp.example", "Bob <bob@CORP.example>", true},
		{"domain", "@corp.example", "bob@sub.corp.example", false},
		{"domain", "@corp.example", "bob@corp.example.evil.example", false},
		{"domain", "@corp.example", "https://corp.example/", false},
		{"domain", "@", "bob@corp.example", false},
		{"email", "bob@corp.example", "BOB@corp.example", true},
		{"email", "bob@corp.example", "bob+x@corp.example", false},
		{"email", "a@corp.example, b@corp.example", "a@corp.example", false},
		{"url", "https://corp.example", "https://corp.example/any?q=1", true},
		{"url", "https://corp.example", "http://corp.example/", false},
		{"url", "https://corp.example", "https://corp.example:8443/", false},
		{"url", "https://corp.example/a/", "https://corp.example/a/b", true},
		{"url", "https://corp.example/a/", "https://corp.example/a", false},
		{"url", "https://corp.example/a", "https://corp.example/a/b", false},
		{"url", "https://corp.example/a", "https://corp.example/a?x", false},
		{"url", "https://corp.example/a?x", "https://corp.example/a?x", true},
		{"A40", "https://corp.example/a/", "https://corp.example/a/../b", false},
		{"A40", "https://corp.example/a/", "https://corp.example/a/%2e%2e/b", false},
		{"A40", "https://corp.example/a/", "https://corp.example/a/..%2fb", false},
		{"A40", "https://corp.example/a/", "https://corp.example/a/%252e%252e/b", false},
		{"A40", "https://corp.example/a/", `https://corp.example/a/..\b`, false},
		{"A29", "https://corp.example", "https://corp.example@evil.example/", false},
		{"A29", "https://corp.example", "https://u@corp.example/", false},
		{"opaque", "#general", "#general", true},
		{"opaque", "#general", "general", false},
		{"opaque", "general", "#general", false},
		{"opaque", "#general", "#gene\u200bral", false},
		{"opaque raw", "x%2fy", "x%2fy", true},
		{"opaque raw", "x%2fy", "x%2Fy", false},
		{"empty", "", "", false},
		{"empty", " ", " ", false},
		{"path", "/work/out", "/work/./out/", true},
		{"path", "/work/out", "/work/x/../out", false},
		{"path", "/work/out", "/work/out/a", false},
		{"path", "a/b", "./a/b", true},
		{"kind", "evil.example", "https://evil.example", false},
	} {
		for _, d := range Parse(c.raw) {
			if got := Covers(c.entry, d); got != c.want {
				t.Errorf("%s: Covers(%q, %q) = %v; %+v", c.id, c.entry, c.raw, got, d)
			}
		}
	}
}

func TestHost(t *testing.T) {
	for raw, want := range map[string]string{
		"bob@Corp.example":             "corp.example",
		"https://Corp.example:8443/x@": "corp.example",
		"http://[::1]:80/a":            "[::1]",
		"corp.example/x":               "corp.example",
		"/etc/passwd":                  "",
		"#general":                     "",
	} {
		if got := Parse(raw)[0].Host(); got != want {
			t.Errorf("Host of %q = %q, want %q", raw, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"a\u202eb":         `a\u{202e}b`,
		"a\nb\x1b[31m":     `a\u{a}b\u{1b}[31m`,
		"x\u200by\ufeff":   `x\u{200b}y\u{feff}`,
		"\xff":             `\xff`,
		`\u{202e}`:         `\u{5c}u{202e}`,
		"a\u00a0b\u3000c":  `a\u{a0}b\u{3000}c`,
		"grün \U0001F600.": "grün \U0001F600.",
	} {
		got := Visible(in, 100)
		if in == `\u{202e}` {
			want = `\u{5c}u{202e}`
		}
		if got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Visible(strings.Repeat("ä", 500), 120); utf8.RuneCountInString(got) != 120 || !strings.HasSuffix(got, "…") {
		t.Errorf("not cut at 120: %d", utf8.RuneCountInString(got))
	}
	if got := Visible(strings.Repeat("a", 120), 120); got != strings.Repeat("a", 120) {
		t.Errorf("120 characters are cut: %q", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "a@b.example", "Team: a@b, c@d;", "https://x.example/%2e", "mailto:a@b?cc=c", "./a@b", "x.md/", "C:/x", "file:///a",
		"./~/x", "./C:/x", "git@a.example:b/c", "ssh://u@h:1/x", "https://a.example/b,c.example", "e\u0301", "\u212a@b.example", "file:///e%CC%81"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		ds := Parse(raw)
		if len(ds) == 0 {
			t.Fatal("no destination")
		}
		for _, d := range ds {
			d.Display()
			if d.Kind == "" || d.Canonical == "" && d.Ambiguous == "" {
				t.Fatalf("%+v", d)
			}
			if d.Ambiguous != "" {
				continue
			}
			again := Parse(d.Canonical)
			if len(again) != 1 || again[0].Canonical != d.Canonical || again[0].Kind != d.Kind || again[0].Ambiguous != "" {
				t.Fatalf("%q is %+v, but its canonical form is %+v", raw, d, again)
			}
			if !Covers(d.Canonical, d) && !strings.HasPrefix(d.Canonical, "*.") {
				t.Fatalf("%q does not vouch for itself: %+v", d.Canonical, d)
			}
		}
	})
}
