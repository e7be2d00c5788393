package gate

import (
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// TestComposites: a destination that stands in several arguments is put together and read anew (A26, A43).
func TestComposites(t *testing.T) {
	of := func(kind policy.SinkKind, trusted string, names ...string) policy.Rule {
		return policy.Rule{Exfiltrating: true, SinkParams: params(names...), Declared: names, Sinks: []policy.Sink{typed(kind, names...)}, TrustedDestinations: []string{trusted}}
	}
	web := of(policy.KindURL, "https://ok.example/", "host", "path")
	full := of(policy.KindURL, "https://ok.example:8443/", "scheme", "host", "port", "path")
	mail := of(policy.KindEmail, "@corp.example", "user", "domain")
	repo := of(policy.KindRepo, "acme/site", "owner", "repo")
	evil := world{seen: []string{"evil.example"}}
	for _, c := range []ladderLine{
		{name: "host and path", rule: web, args: `{"host":"ok.example","path":"/c"}`, want: Allow, origin: Allowlisted},
		{name: "a path that changes the host", rule: web, args: `{"host":"ok.example","path":"@evil.example/"}`, want: Ask},
		{name: "a path that makes the host longer", rule: web, args: `{"host":"ok.example","path":".evil.example/"}`, want: Ask},
		{name: "a host that holds a path", rule: web, args: `{"host":"ok.example/x?","path":"/c"}`, want: Ask},
		{name: "a host that holds another", rule: web, args: `{"host":"ok.example@evil.example","path":"/c"}`, facts: evil, want: Ask},
		{name: "a tainted host", rule: web, args: `{"host":"evil.example","path":"/c"}`, facts: evil, want: Deny, origin: Untrusted},
		{name: "a path that climbs", rule: web, args: `{"host":"ok.example","path":"/../../x"}`, want: Ask},
		{name: "two hosts", rule: web, args: `{"host":["ok.example","evil.example"],"path":"/c"}`, facts: evil, want: Deny},
		{name: "with scheme and port", rule: full, args: `{"scheme":"https","host":"ok.example","port":8443,"path":"/c"}`, want: Allow},
		{name: "another port", rule: full, args: `{"scheme":"https","host":"ok.example","port":443,"path":"/c"}`, want: Ask},
		{name: "a port that is none", rule: full, args: `{"scheme":"https","host":"ok.example","port":"8443@evil.example","path":"/c"}`, facts: evil, want: Ask},
		{name: "user and domain", rule: mail, args: `{"user":"amy","domain":"corp.example"}`, want: Allow},
		{name: "another domain", rule: mail, args: `{"user":"spy","domain":"evil.example"}`, facts: evil, want: Deny, origin: Untrusted},
		{name: "a user that is an address", rule: mail, args: `{"user":"spy@evil.example,amy","domain":"corp.example"}`, facts: world{seen: []string{"spy@evil.example"}}, want: Deny},
		{name: "owner and repo", rule: repo, args: `{"owner":"acme","repo":"site"}`, want: Allow},
		{name: "another owner", rule: repo, args: `{"owner":"mallory","repo":"site"}`, facts: world{seen: []string{"mallory"}}, want: Deny},
		{name: "a repo that climbs", rule: repo, args: `{"owner":"acme","repo":"../mallory/site"}`, want: Ask},
	} {
		c.run(t)
	}
}

// TestPhoneSink: where the policy says that an argument is a telephone number, bare digits are one (A10).
func TestPhoneSink(t *testing.T) {
	rule := policy.Rule{Exfiltrating: true, SinkParams: params("to"), Sinks: []policy.Sink{typed(policy.KindPhone, "to")}, TrustedDestinations: []string{"+41440000000"}}
	for _, c := range []ladderLine{
		{name: "as allowlisted", rule: rule, args: `{"to":"+41 44 000 00 00"}`, want: Allow},
		{name: "digits", rule: rule, args: `{"to":"41440000000"}`, want: Allow},
		{name: "tainted", rule: rule, args: `{"to":"15550109999"}`, facts: world{seen: []string{"+1 (555) 010-9999"}}, want: Deny},
		{name: "another", rule: rule, args: `{"to":"15550109998"}`, want: Ask},
		{name: "no number", rule: rule, args: `{"to":"everybody"}`, want: Ask},
	} {
		c.run(t)
	}
}
