package gate

import (
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// TestImplied: a call that leaves an argument out goes where the tool sends it then (A22, A25).
func TestImplied(t *testing.T) {
	push := func(trusted ...string) policy.Rule {
		return policy.Rule{Exfiltrating: true, SinkParams: params("remote"), Declared: []string{"branch", "remote"}, TrustedDestinations: trusted,
			Sinks: []policy.Sink{{Args: params("remote"), Absent: "origin"}}, Intent: []string{"push"}}
	}
	other := push("origin")
	other.Declared = []string{"branch", "target"}
	for _, c := range []ladderLine{
		{name: "origin is trusted", rule: push("origin"), args: `{"branch":"main"}`, want: Allow, origin: Allowlisted},
		{name: "origin is not", rule: push(), args: `{"branch":"main"}`, want: Ask, origin: Unproven},
		{name: "a null is left out", rule: push("origin"), args: `{"branch":"main","remote":null}`, want: Allow},
		{name: "an empty one is not", rule: push("origin"), args: `{"branch":"main","remote":""}`, want: Ask},
		{name: "named instead", rule: push("origin"), args: `{"remote":"https://git.evil.example/x.git"}`, want: Ask},
		{name: "a tainted default", rule: push(), args: `{}`, facts: world{seen: []string{"origin"}}, want: Deny, origin: Untrusted},
		{name: "no arguments at all", rule: push("origin"), args: `{}`, want: Allow},
		{name: "a tool of another version", rule: other, args: `{"target":"https://git.evil.example/x.git"}`, want: Ask},
		{name: "and of another version, tainted", rule: other, args: `{"target":"https://git.evil.example/x.git"}`, facts: world{seen: []string{"https://git.evil.example/x.git"}}, want: Deny},
	} {
		c.run(t)
	}
}
