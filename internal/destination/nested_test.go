package destination

import "testing"

func TestNested(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"https://ok.example/", ""},
		{"https://ok.example/login?next=/home", ""},
		{"https://ok.example/login?next=https://evil.example/x", "https://evil.example/x"},
		{"https://ok.example/url?u=https%3A%2F%2Fevil.example%2F", "https://evil.example/"},
		{"https://ok.example/url?u=https%253A%252F%252Fevil.example%252F", "https://evil.example/"},
		{"https://ok.example/login?next=//evil.example/x", "https://evil.example/x"},
		{`https://ok.example/login?next=https:/\evil.example`, "https://evil.example/"},
		{"https://ok.example/https://evil.example/x", "https://evil.example/x"},
		{"https://ok.example/#https://evil.example/", "https://evil.example/"},
		{"https://ok.example/r?u=aHR0cHM6Ly9ldmlsLmV4YW1wbGUv", "https://evil.example/"},
		{"https://ok.example/send?to=spy@evil.example", "spy@evil.example"},
		{"https://ok.example/send?to=spy%40evil.example", "spy@evil.example"},
	} {
		got := ""
		for _, d := range Nested(Parse(c.url)[0]) {
			if got = d.Canonical; got == c.want {
				break
			}
		}
		if got != c.want {
			t.Errorf("%s holds %q, want %q", c.url, got, c.want)
		}
	}
}

func TestPhone(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"+1 (555) 010-9999", "+15550109999"}, {"+15550109999", "+15550109999"}, {"0041 44 000 00 00", "+41440000000"},
		{"tel:+1-555-010-9999", "+15550109999"}, {"15550109999@s.whatsapp.net", "+15550109999"}, {"15550109999@c.us", "+15550109999"},
		{"15550109999", ""}, {"+1 555", ""}, {"+1 555 010 9999 x", ""}, {"+0123456789", ""}, {"+1+15550109999", ""}, {"2026-12-01", ""}, {"+12345678901234567", ""},
	} {
		d := Parse(c.raw)[0]
		if got := d.Kind == Phone; got != (c.want != "") || got && d.Canonical != c.want {
			t.Errorf("%q is %s %s, want %s", c.raw, d.Kind, d.Canonical, c.want)
		}
	}
}
