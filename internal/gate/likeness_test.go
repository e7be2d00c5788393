package gate

import (
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// TestLookAlikes: what could be taken for a trusted destination is denied and shown beside it; what is vouched for never is.
func TestLookAlikes(t *testing.T) {
	mail := policy.Rule{Exfiltrating: true, SinkParams: params("to"), Intent: mailWords, TrustedDestinations: []string{"@corp.example", "amy@partner.example"}}
	lax := mail
	lax.OnUnproven = policy.Allow
	for _, c := range []ladderLine{
		{name: "the real one", rule: mail, args: `{"to":"pay@corp.example"}`, want: Allow},
		{name: "unproven twin of a domain", rule: mail, args: `{"to":"pay@c0rp.example"}`, want: Deny, origin: Unproven},
		{name: "tainted twin", rule: mail, args: `{"to":"pay@corps.example"}`, facts: world{seen: []string{"pay@corps.example"}}, want: Deny, origin: Untrusted},
		{name: "tainted twin that the request could mean", rule: mail, prompt: "Mail everybody in the file", args: `{"to":"pay@corps.example"}`, facts: world{seen: []string{"pay@corps.example"}}, want: Deny},
		{name: "a domain that the policy only half trusts", rule: mail, args: `{"to":"amy@partners.example"}`, want: Deny},
		{name: "a brother", rule: mail, args: `{"to":"bert@partner.example"}`, want: Ask},
		{name: "another one", rule: mail, args: `{"to":"bert@other.example"}`, want: Ask},
		{name: "the user means it", rule: mail, prompt: "Send a mail to pay@c0rp.example", args: `{"to":"pay@c0rp.example"}`, want: Allow, origin: FromUser},
		{name: "a directory has it", rule: mail, prompt: "Send a mail", args: `{"to":"pay@c0rp.example"}`, facts: world{directory: []string{"pay@c0rp.example"}}, want: Allow, origin: Directory},
		{name: "approved already", rule: mail, args: `{"to":"pay@c0rp.example"}`, facts: world{approved: []string{"pay@c0rp.example"}}, want: Allow, origin: Approved},
		{name: "twin of an approved one is asked about", rule: mail, args: `{"to":"zoe@ohter.example"}`, facts: world{approved: []string{"zoe@other.example"}}, want: Ask},
		{name: "tainted twin of an approved one", rule: mail, args: `{"to":"zoe@ohter.example"}`, facts: world{approved: []string{"zoe@other.example"}, seen: []string{"zoe@ohter.example"}}, want: Deny},
		{name: "no setting lets it pass", rule: lax, args: `{"to":"pay@c0rp.example"}`, want: Deny},
		{name: "strict asks as ever", profile: policy.Strict, rule: mail, args: `{"to":"pay@c0rp.example"}`, want: Ask},
	} {
		c.run(t)
	}
}
