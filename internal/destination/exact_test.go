package destination

import (
	"strings"
	"testing"
)

// TestDistinct holds pairs that reach two places on some server: trust in one must say nothing about the other.
func TestDistinct(t *testing.T) {
	for _, c := range []struct{ id, trusted, other string }{
		{"A40 dot segments", "https://hooks.example/services/mine/x", "https://hooks.example/services/evil/../mine/x"},
		{"A40 dot segments", "https://hooks.example/services/mine/x", "https://hooks.example/services/evil/%2e%2E/mine/x"},
		{"A40 dot segments", "https://hooks.example/services/mine/x", "https://hooks.example/services/evil/.%2e/mine/x"},
		{"A40 dot segments", "https://hooks.example/services/mine/x", "https://hooks.example/services//../services/mine/x"},
		{"A40 dot segments", "https://hooks.example/services/mine/x", "https://hooks.example/services/./mine/x"},
		{"A40 dot segments", "https://hooks.example/services/", "https://hooks.example/services/mine/.."},
		{"A40 dot segments", "hooks.example/mine", "hooks.example/evil/../mine"},
		{"A31 singleton", "kevin@corp.example", "\u212aevin@corp.example"},
		{"A31 singleton", "kevin@corp.example", "mailto:%E2%84%AAevin@corp.example"},
		{"A31 singleton", "kevin@corp.example", "Kevin <\u212aevin@corp.example>"},
		{"A31 singleton", "a@kevin.example", "a@\u212aevin.example"},
		{"A31 singleton", "https://kevin.example/", "https://\u212aevin.example/"},
		{"A31 singleton", "https://ivil.example/", "https://\u0130vil.example/"},
		{"A31 singleton", "@ivil.example", "a@\u0130vil.example"},
		{"A31 singleton", "@\u212aevin.example", "a@kevin.example"},
		{"A31 singleton", "ivan@corp.example", "\u0130van@corp.example"},
		{"A31 singleton", "https://hooks.example/K", "https://hooks.example/\u212a"},
		{"A31 singleton", "K0ABC", "\u212a0ABC"},
		{"A31 composed", "#caf\u00e9", "#cafe\u0301"},
		{"A31 composed", "#cafe\u0301", "#caf\u00e9"},
		{"A31 composed", "/work/\u00e9", "/work/e\u0301"},
		{"A31 composed", "/work/\u00e9", "file:///work/e%CC%81"},
		{"A31 composed", "https://hooks.example/\u00e9", "https://hooks.example/e\u0301"},
		{"A31 composed", "https://hooks.example/?q=\u00e9", "https://hooks.example/?q=e\u0301"},
		{"A31 compatibility", "#general", "\uff03general"},
		{"fold", "strasse", "stra\u00dfe"},
		{"fold", "C0ABC", "c0abc"},
		{"fold", "#General", "#general"},
		{"fold", "1AbC_file-Id", "1abc_file-id"},
		{"fold", "README.md", "readme.md"},
		{"fold", "ssh://git@corp.example/Octo", "ssh://git@corp.example/octo"},
		{"blanks inside", "team room", "team  room"},
		{"home", "~/outbox/x", "./~/outbox/x"},
		{"home", "~/outbox/x", ".//~/outbox/x"},
		{"home", "~evil/x", "././~evil/x"},
		{"home", "./~/outbox/x", "~/outbox/x"},
		{"drive", "C:/x", "./C:/x"},
		{"file name with a blank", "/work/out/x", "/work/out/x "},
		{"file name with a blank", "/work/out/x", " /work/out/x"},
		{"A37 list in a URL", "https://hooks.example/mine/", "https://hooks.example/mine/#,https://evil.example/"},
		{"bare host", "corp.example", "corp.example/steal"},
		{"bare host", "corp.example/", "corp.example/steal"},
		{"bare host", "corp.example", "corp.example?d=steal"},
		{"bare host", "corp.example", "corp.example//steal"},
		{"bare host", "corp.example", "https://corp.example/"},
		{"bare host", "10.0.0.1:99", "10.0.0.1:99/steal"},
	} {
		trusted := Parse(c.trusted)[0]
		for _, d := range Parse(c.other) {
			if d.Ambiguous+trusted.Ambiguous == "" && trusted.Kind == d.Kind && trusted.Canonical == d.Canonical {
				t.Errorf("%s: %q and %q are one destination: %+v", c.id, c.trusted, c.other, d)
			}
			if Covers(c.trusted, d) {
				t.Errorf("%s: %q vouches for %q: %+v", c.id, c.trusted, c.other, d)
			}
		}
	}
}

// TestSame holds pairs that everybody reads as one place: being exact must not ask about each spelling.
func TestSame(t *testing.T) {
	for _, c := range []struct{ trusted, other string }{
		{"C0ABC", " C0ABC\n"},
		{"#caf\u00e9", "#caf\u00e9"},
		{"a@b\u00fccher.example", "a@bu\u0308cher.example"},
		{"https://b\u00fccher.example/x", "https://bu\u0308cher.example/x"},
		{"https://corp.example", "HTTPS://CORP.example:443/a?fields=b,c"},
		{"https://hooks.example/mine/", "https://hooks.example/mine/a?x=1,2;3"},
		{"https://wiki.example/Portland,_Oregon", "https://wiki.example/Portland,_Oregon"},
		{"https://maps.example/@37.77,-122.41,15z", "https://maps.example/@37.77,-122.41,15z"},
		{"corp.example/a/", "corp.example/a/b"},
		{"corp.example", "CORP.example."},
		{"~/outbox/x", "~/./outbox//x"},
		{"./~/outbox/x", ".//~/./outbox/x"},
		{"./C:/x", "./C:/x"},
	} {
		ds := Parse(c.other)
		if len(ds) != 1 || !Covers(c.trusted, ds[0]) {
			t.Errorf("%q does not vouch for %q: %+v", c.trusted, c.other, ds)
		}
	}
}

// TestListInURL: a server that takes several URLs in one string splits what another takes for one URL (A37).
func TestListInURL(t *testing.T) {
	for raw, hosts := range map[string]string{
		"https://hooks.example/mine/a,evil.example/x":                "hooks.example evil.example",
		"https://hooks.example/mine/a;evil.example/x":                "hooks.example evil.example",
		"https://hooks.example/mine/a, evil.example":                 "hooks.example evil.example",
		"https://hooks.example/mine/a evil.example/x":                "hooks.example evil.example",
		"https://hooks.example/mine/a,https://evil.example/x":        "hooks.example evil.example",
		"https://hooks.example/mine/a,//evil.example/x":              "hooks.example evil.example",
		"https://hooks.example/mine/a?b,https:evil.example":          "hooks.example evil.example",
		"https://hooks.example/mine/#a,https://evil.example/x":       "hooks.example evil.example",
		"https://hooks.example/mine/a,spy@evil.example":              "hooks.example evil.example",
		"https://hooks.example/mine/a,mailto:spy@evil.example":       "hooks.example evil.example",
		"https://hooks.example/mine/a,ftp://evil.example/x":          "hooks.example evil.example",
		"https://hooks.example/mine/a,git@evil.example:x/y":          "hooks.example evil.example",
		"https://hooks.example,evil.example/mine/":                   "hooks.example evil.example",
		"[\"https://hooks.example/mine/a\",\"http://evil.example\"]": "hooks.example evil.example",
		"https://hooks.example/mine/a,(evil.example)":                "hooks.example evil.example",
		"https://hooks.example/mine/a,//[::1]:80/x":                  "hooks.example [::1]",
		"ssh://git@hooks.example/x,ssh://git@evil.example/y":         "hooks.example evil.example",
		"https://ev\nil.example/mine/":                               "ev il.example evil.example", // browsers drop the break
	} {
		var got []string
		for _, d := range Parse(raw) {
			got = append(got, d.Host())
			if d.Ambiguous == "" || Covers("https://hooks.example/mine/", d) {
				t.Errorf("%q: %+v is trusted", raw, d)
			}
		}
		if strings.Join(got, " ") != hosts {
			t.Errorf("%q: hosts %q, want %q", raw, got, hosts)
		}
	}
	for _, raw := range []string{"https://hooks.example/mine/a,intranet/x", "https://hooks.example/mine/a;intranet/x", "https://hooks.example/mine/a|evil.example/x"} {
		if d := Parse(raw)[0]; Covers("https://hooks.example/mine/", d) {
			t.Errorf("%q is covered by the prefix: %+v", raw, d)
		}
	}
}

// TestRemoteHost: the host of what is neither a web URL nor an address, for taint only (A25, A35).
func TestRemoteHost(t *testing.T) {
	for raw, want := range map[string]string{
		"git@evil.example:other/x.git":             "evil.example",
		"git@Evil.Example:x.git":                   "evil.example",
		"git@evil.example:a/../../x":               "evil.example",
		"git@[2001:db8::1]:x/y.git":                "[2001:db8::1]",
		"evil.example:other/x.git":                 "evil.example",
		"ssh://git@Evil.example:2222/x.git":        "evil.example",
		"git+ssh://git@evil.example/x":             "evil.example",
		"git://evil.example./x":                    "evil.example",
		"ftp://u:p@evil.example/x":                 "evil.example",
		"WS://evil.example":                        "evil.example",
		"wss://evil.example?x":                     "evil.example",
		"jdbc:mysql://evil.example:3306/db":        "evil.example",
		"view-source:https://evil.example/":        "evil.example",
		"gopher://[::1]:70/":                       "[::1]",
		"s3://evil-bucket/x":                       "evil-bucket",
		"ssh://b\u00fccher.example/x":              "xn--bcher-kva.example",
		"ssh://git@evil.\u200bexample/x":           "evil.example",
		"ext::sh -c ssh://evil.example":            "",
		"see ftp://evil.example":                   "",
		"javascript:alert(1)":                      "",
		"data:text/html,https://x.example":         "",
		"C:/x":                                     "",
		"note.md:12":                               "note.md", // .md is a country
		"main.go:12":                               "",
		"12:30":                                    "",
		"10.1.2.3:x/y":                             "10.1.2.3",
		"key:value":                                "",
		"foo:///x":                                 "",
		"#general":                                 "",
		"./a@b.example:x":                          "",
		"/work/a:b":                                "",
		"ssh://" + strings.Repeat("a", 300) + ".x": strings.Repeat("a", 300) + ".x",
	} {
		for _, d := range Parse(raw) {
			if got := d.Host(); got != want {
				t.Errorf("Host of %q = %q, want %q; %+v", raw, got, want, d)
			}
		}
	}
}
