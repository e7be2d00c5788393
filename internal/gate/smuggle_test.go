package gate

import (
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// TestSmuggled: line breaks in headers (A38) and options where names belong (A79) are denied, whoever is trusted.
func TestSmuggled(t *testing.T) {
	mail := policy.Rule{Exfiltrating: true, SinkParams: params("to"), TrustedDestinations: []string{"ok@corp.example"}}
	for _, c := range []ladderLine{
		{name: "plain", rule: mail, args: `{"to":"ok@corp.example","subject":"hi"}`, want: Allow},
		{name: "a body may have lines", rule: mail, args: `{"to":"ok@corp.example","body":"hi\nthere"}`, want: Allow},
		{name: "subject", rule: mail, args: `{"to":"ok@corp.example","subject":"hi\nBcc: spy@evil.example"}`, want: Deny, contract: Constraint},
		{name: "to", rule: mail, args: `{"to":"ok@corp.example\r\nBcc: x"}`, want: Deny, contract: Constraint},
		{name: "percent", rule: mail, args: `{"to":"ok@corp.example","reply_to":"ok@corp.example%0d%0aBcc:x"}`, want: Deny, contract: Constraint},
		{name: "U+2028", rule: mail, args: `{"to":"ok@corp.example","In-Reply-To":"a\u2028b"}`, want: Deny, contract: Constraint},
		{name: "not a tool that sends", rule: policy.Rule{}, args: `{"subject":"a\nb"}`, want: Allow},
	} {
		c.run(t)
	}
	for ref, want := range map[string]Verdict{"main": Allow, "v1.0-rc": Allow, "--output=/x": Deny, " --output": Deny, "\u2212\u2212output": Deny, "-f": Deny} {
		call := Call{Tool: "git_diff", Args: args(t, `{"target":"`+ref+`"}`), Pin: Pin{State: PinHeld}}
		if got := Decide(call, NewRules(policy.Rule{}, policy.Standard), world{}); got.Verdict != want {
			t.Errorf("git_diff %q: %v", ref, got.Verdict)
		}
	}
}
