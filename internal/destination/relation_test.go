package destination

import "testing"

func TestResembles(t *testing.T) {
	for _, c := range []struct{ trusted, candidate, how string }{
		{"pay@corp.example", "pay@corp.example", ""},
		{"pay@corp.example", "bill@corp.example", ""},
		{"pay@corp.example", "pay@mail.corp.example", ""},
		{"pay@mail.corp.example", "pay@corp.example", ""},
		{"pay@corp.example", "pay@c0rp.example", "it looks the same"},
		{"pay@corp.example", "pay@соrp.example", "it looks the same"},
		{"pay@corp.example", "pay@côrp.example", "it looks the same"},
		{"pay@modern.example", "pay@modem.example", "it looks the same"},
		{"pay@corporate.example", "pay@corporat.example", "one character differs"},
		{"pay@corporate.example", "pay@corproate.example", "one character differs"},
		{"pay@corporate.example", "pay@corporatte.example", "one character differs"},
		{"pay@corporate.example", "pay@corporxte.example", "one character differs"},
		{"pay@corporate.example", "pay@crporxte.example", ""},
		{"pay@corp.com", "pay@corp.co", "another ending than .com"},
		{"pay@corp.co.uk", "pay@corp.com", "another ending than .co.uk"},
		{"pay@corp.com", "pay@corp.com.evil.example", "it begins like the trusted host and ends on another"},
		{"https://docs.corp.com/a", "https://docs.corp.com.evil.example/a", "it begins like the trusted host and ends on another"},
		{"https://docs.corp.com/a", "https://corp-com.example/a", "the trusted name with something added"},
		{"@corp.com", "pay@secure-corp.com", "the trusted name with something added"},
		{"@corp.com", "pay@corps.com", "one character differs"},
		{"@corp.com", "pay@other.com", ""},
		{"@corp.com", "pay@sub.corp.com", ""},
		{"@ab.com", "pay@ac.com", ""}, // too short to be taken for it
		{"https://192.0.2.1/", "https://192.0.2.2/", ""},
		{"amy.smith@gmail.com", "amy.smlth@gmail.com", "one character differs"},
		{"amy.smith@gmail.com", "amy.srnith@gmail.com", "it looks the same"},
		{"amy.smith@gmail.com", "bert@gmail.com", ""},
		{"acme/site", "acrne/site", "it looks the same"},
		{"acme/site", "acmee/site", "one character differs"},
		{"acme/site", "acme/sites", ""},
		{"DE89370400440532013000", "DE89370400440532013001", "one character differs"},
		{"#general", "#genera1", "it looks the same"},
		{"#general", "#random", ""},
	} {
		trusted := ParseEntry(c.trusted).Destinations()
		d := Parse(c.candidate)[0]
		which, how, ok := Resembles(d, trusted)
		if how != c.how || ok != (c.how != "") || ok && which.Canonical != trusted[0].Canonical {
			t.Errorf("%s beside %s: %q (%v), want %q", c.candidate, c.trusted, how, ok, c.how)
		}
	}
}

// A planted twin of a twin must not hide the real one: what is trusted itself resembles nothing.
func TestResemblesNothingWhenTrusted(t *testing.T) {
	both := []Destination{Parse("pay@c0rp.example")[0], Parse("pay@corp.example")[0]}
	for _, d := range both {
		if _, how, ok := Resembles(d, both); ok {
			t.Errorf("%s: %s", d.Canonical, how)
		}
	}
}

func FuzzResembles(f *testing.F) {
	f.Add("pay@corp.example", "pay@c0rp.example")
	f.Add("https://a.example/x", "xn--")
	f.Fuzz(func(t *testing.T, a, b string) {
		one, two := Parse(a)[0], Parse(b)[0]
		_, _, ab := Resembles(one, []Destination{two})
		if ab && one.Kind == two.Kind && one.Canonical == two.Canonical {
			t.Errorf("%q resembles itself", a)
		}
		if Skeleton(Skeleton(a)) == "" && Skeleton(a) != "" {
			t.Errorf("the skeleton of %q vanishes", a)
		}
	})
}
