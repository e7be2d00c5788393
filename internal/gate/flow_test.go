package gate

import (
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// TestFlow: what was read in one place does not go unasked to another where strangers read (A01, A02, A04).
func TestFlow(t *testing.T) {
	pr := policy.Rule{Exfiltrating: true, SinkParams: params("repo"), TrustedDestinations: []string{"acme/site"}, Public: &policy.Object{Args: params("repo")}}
	comment := policy.Rule{Public: &policy.Object{Args: params("key"), Unless: []policy.ArgValues{{Param: policy.MustParam("visibility"), Values: []string{"internal"}}}}}
	anywhere := policy.Rule{Public: &policy.Object{}}
	for _, c := range []ladderLine{
		{name: "nothing read", rule: pr, args: `{"repo":"acme/site"}`, want: Allow},
		{name: "its own object", rule: pr, args: `{"repo":"acme/site"}`, facts: world{read: "acme/site"}, want: Allow},
		{name: "its own object, in capitals", rule: pr, args: `{"repo":"Acme/Site"}`, facts: world{read: "acme/site"}, want: Ask, contract: SinkGate},
		{name: "another", rule: pr, args: `{"repo":"acme/site"}`, facts: world{read: "acme/payroll"}, want: Ask, contract: Flow},
		{name: "another, paranoid", profile: policy.Paranoid, rule: pr, args: `{"repo":"acme/site"}`, facts: world{read: "acme/payroll"}, want: Deny, contract: Flow},
		{name: "strict has no flow", profile: policy.Strict, rule: pr, args: `{"repo":"acme/site"}`, facts: world{read: "acme/payroll"}, want: Allow},
		{name: "an object that the call does not name", rule: pr, args: `{"to":"acme/site"}`, facts: world{read: "acme/site"}, want: Ask},
		{name: "kept inside", rule: comment, args: `{"key":"SUP-9","visibility":"internal"}`, facts: world{read: "int"}, want: Allow},
		{name: "an absent visibility is public", rule: comment, args: `{"key":"SUP-9"}`, facts: world{read: "int"}, want: Ask, contract: Flow},
		{name: "another visibility", rule: comment, args: `{"key":"SUP-9","visibility":"public"}`, facts: world{read: "int"}, want: Ask, contract: Flow},
		{name: "two visibilities", rule: comment, args: `{"key":"SUP-9","visibility":["internal","public"]}`, facts: world{read: "int"}, want: Ask, contract: Flow},
		{name: "no object at all", rule: anywhere, args: `{}`, facts: world{read: "int"}, want: Ask, contract: Flow},
	} {
		c.run(t)
	}
}
