package policy

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	cases := map[string]string{
		"send_email": "send email", "sendEmail": "send email", "SEND-EMAIL": "send email", "HTMLBody": "html body",
		"webhookURLs": "webhook url", "emailIDs": "email id", "OAuth2Token": "o auth 2 token", "to": "to", "CC": "cc",
		"addresses": "address", "TwilioApiV2010--CreateMessage": "twilio api v 2010 create message", "$filter": "filter",
		"a.b[c]": "a b c", "": "", "__": "", "BaseURL": "base url", "x": "x", "sms": "sms",
	}
	for name, want := range cases {
		if got := strings.Join(words(name), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	keys := []string{"sink_params", "write_params", "max_calls", "exfiltrating"}
	cases := map[string]string{
		"sink_param": "sink_params", "sinkParams": "sink_params", "maxcalls": "max_calls", "MAX_CALLS": "max_calls",
		"exfiltrate": "exfiltrating", "zzz": "", "": "", strings.Repeat("s", 100): "",
	}
	for s, want := range cases {
		if got, _ := Nearest(s, keys); got != want {
			t.Errorf("%.20q: %q, want %q", s, got, want)
		}
	}
}

func TestCovers(t *testing.T) {
	cases := []struct {
		p, q string
		want bool
	}{
		{"to", "to", true}, {"to", "to[]", true}, {"to[]", "to", true}, {"a", "a.b", true}, {"a.b", "a", false},
		{"a[].b", "a.b", true}, {"to", "To", false}, {"a", "b", false},
	}
	for _, c := range cases {
		if got := MustParam(c.p).Covers(MustParam(c.q)); got != c.want {
			t.Errorf("%s covers %s: %v", c.p, c.q, got)
		}
	}
	if !EveryArgument.Covers(MustParam("x")) || MustParam("x").Covers(EveryArgument) {
		t.Error("every argument covers x, and not the other way round")
	}
}
