package gate

import (
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/mandate"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

var mailWords = []string{"send", "mail", "email", "write", "reply"}

func typed(kind policy.SinkKind, args ...string) policy.Sink {
	return policy.Sink{Args: params(args...), Kind: kind}
}

// ladderLine is a call of a tool under the whole ladder.
type ladderLine struct {
	name     string
	profile  policy.Profile
	rule     policy.Rule
	prompt   string
	args     string
	facts    world
	fetched  int
	want     Verdict
	origin   Origin // of the first judged destination; "" is not looked at
	contract string // "" is not looked at
}

func (c ladderLine) run(t *testing.T) {
	t.Helper()
	profile := c.profile
	if profile == "" {
		profile = policy.Standard
	}
	call := Call{Tool: "t", Args: args(t, c.args), Pin: Pin{State: PinHeld}, Fetched: map[string]int{}}
	if c.prompt != "" && profile != policy.Strict {
		call.User = mandate.Read(c.prompt)
	}
	rules := NewRules(c.rule, profile)
	if c.fetched > 0 {
		for _, leaf := range policy.Leaves(call.Args) {
			call.Fetched[canonical(leaf.Value.Text)] = c.fetched
		}
	}
	got := Decide(call, rules, c.facts)
	if got.Verdict != c.want || c.contract != "" && got.Contract != c.contract {
		t.Errorf("%s: Decide = %v by %s (%s), want %v by %s", c.name, got.Verdict, got.Contract, got.Reason, c.want, c.contract)
	}
	if c.origin != "" && (len(got.Judged) == 0 || got.Judged[0].Origin != c.origin) {
		t.Errorf("%s: judged %+v, want origin %s", c.name, got.Judged, c.origin)
	}
}

// TestActsForOthers: what heuristics take for an act on the world needs a request for it, whatever its arguments.
func TestActsForOthers(t *testing.T) {
	grant := policy.Rule{Consequence: &policy.Consequence{Guessed: true, Asked: true}, Intent: []string{"grant", "give access", "share"}}
	for _, c := range []ladderLine{
		{name: "asked for", rule: grant, prompt: "Grant Amy access to the garden", args: `{"guest":"amy"}`, want: Allow},
		{name: "not asked for", rule: grant, prompt: "Read my mail", args: `{"guest":"amy"}`, want: Ask, contract: Consequence},
		{name: "forbidden", rule: grant, prompt: "Read my mail, but do not grant anybody access", args: `{"guest":"amy"}`, want: Ask},
		{name: "left to a list", rule: grant, prompt: "Do the tasks on my list", args: `{"guest":"amy"}`, want: Allow},
		{name: "nobody knows", rule: grant, args: `{"guest":"amy"}`, want: Allow},
		{name: "paranoid", profile: policy.Paranoid, rule: grant, prompt: "Read my mail", args: `{"guest":"amy"}`, want: Deny},
		{name: "strict", profile: policy.Strict, rule: grant, args: `{"guest":"amy"}`, want: Allow},
	} {
		c.run(t)
	}
}

func TestLadder(t *testing.T) {
	mail := policy.Rule{Exfiltrating: true, SinkParams: params("to"), Intent: mailWords, TrustedDestinations: []string{"ok@corp.example"}, Deny: []string{"@bad.example"}}
	pay := policy.Rule{Exfiltrating: true, SinkParams: params("account"), Sinks: []policy.Sink{typed(policy.KindAccount, "account")}, Intent: []string{"pay", "transfer", "send"}}
	push := policy.Rule{Exfiltrating: true, SinkParams: params("owner", "repo"), Sinks: []policy.Sink{typed(policy.KindRepo, "owner", "repo")}, TrustedDestinations: []string{"acme/web"}, Intent: []string{"push"}}
	get := policy.Rule{Exfiltrating: true, Fetch: true, SinkParams: params("url"), Intent: []string{"read", "visit", "open"}}
	const url = "https://blog.example/post"
	with := func(r policy.Rule, change func(*policy.Rule)) policy.Rule { change(&r); return r }
	for _, c := range []ladderLine{
		{name: "allowlisted", rule: mail, args: `{"to":"ok@corp.example"}`, facts: world{seen: []string{"ok@corp.example"}}, want: Allow, origin: Allowlisted},
		{name: "refused beats a person's yes", rule: mail, args: `{"to":"a@bad.example"}`, facts: world{approved: []string{"a@bad.example"}}, want: Deny, origin: Refused, contract: SinkGate},
		{name: "refused below the host", rule: mail, args: `{"to":"https://x.bad.example/y"}`, want: Deny, origin: Refused},
		{name: "approved beats taint", rule: mail, args: `{"to":"b@x.example"}`, facts: world{approved: []string{"b@x.example"}, seen: []string{"b@x.example"}}, want: Allow, origin: Approved},
		{name: "the user's words beat taint", rule: mail, prompt: "Send the report to b@x.example", args: `{"to":"b@x.example"}`, facts: world{seen: []string{"b@x.example"}}, want: Allow, origin: FromUser},
		{name: "but not under strict", profile: policy.Strict, rule: mail, prompt: "Send the report to b@x.example", args: `{"to":"b@x.example"}`, facts: world{seen: []string{"b@x.example"}}, want: Deny, origin: Untrusted},
		{name: "a mention is not a mandate", rule: mail, prompt: "Summarise the mail from b@x.example", args: `{"to":"b@x.example"}`, facts: world{seen: []string{"b@x.example"}}, want: Deny, origin: Untrusted},
		{name: "directory", rule: mail, prompt: "Send it to Bob", args: `{"to":"b@x.example"}`, facts: world{directory: []string{"b@x.example"}, seen: []string{"b@x.example"}}, want: Allow, origin: Directory},
		{name: "directory without a prompt", rule: mail, args: `{"to":"b@x.example"}`, facts: world{directory: []string{"b@x.example"}, seen: []string{"b@x.example"}}, want: Allow, origin: Directory},
		{name: "directory for an act that nobody asked for", rule: mail, prompt: "What is on my calendar?", args: `{"to":"b@x.example"}`, facts: world{directory: []string{"b@x.example"}}, want: Ask, origin: Directory, contract: Intent},
		{name: "attributed", rule: mail, prompt: "Send it to Bob", args: `{"to":"b@x.example"}`, facts: world{attributed: []string{"b@x.example"}, seen: []string{"b@x.example"}}, want: Ask, origin: Attributed, contract: SinkGate},
		{name: "attributed under strict is tainted", profile: policy.Strict, rule: mail, args: `{"to":"b@x.example"}`, facts: world{attributed: []string{"b@x.example"}, seen: []string{"b@x.example"}}, want: Deny, origin: Untrusted},
		{name: "tainted, no prompt", rule: mail, args: `{"to":"b@x.example"}`, facts: world{seen: []string{"b@x.example"}}, want: Deny, origin: Untrusted},
		{name: "tainted, the act was asked for", rule: mail, prompt: "Send the minutes to the client", args: `{"to":"b@x.example"}`, facts: world{seen: []string{"b@x.example"}}, want: Ask, origin: Untrusted},
		{name: "tainted, another act was asked for", rule: mail, prompt: "Summarise the minutes", args: `{"to":"b@x.example"}`, facts: world{seen: []string{"b@x.example"}}, want: Deny, origin: Untrusted},
		{name: "a closed request", rule: mail, prompt: "Send the minutes to c@y.example", args: `{"to":"b@x.example"}`, facts: world{seen: []string{"b@x.example"}}, want: Deny, origin: Untrusted},
		{name: "money never follows free text", rule: pay, prompt: "Pay the bill", args: `{"account":"GB29NWBK60161331926819"}`, facts: world{seen: []string{"GB29NWBK60161331926819"}}, want: Deny, origin: Untrusted},
		{name: "money to the account that the user typed", rule: pay, prompt: "Pay 10 to GB29NWBK60161331926819", args: `{"account":"GB29NWBK60161331926819"}`, facts: world{seen: []string{"GB29NWBK60161331926819"}}, want: Allow, origin: FromUser},
		{name: "unproven", rule: mail, prompt: "Send it to Bob", args: `{"to":"b@x.example"}`, want: Ask, origin: Unproven},
		{name: "unproven, not asked for", rule: mail, prompt: "What time is it?", args: `{"to":"b@x.example"}`, want: Ask, origin: Unproven},
		{name: "on_tainted", rule: with(mail, func(r *policy.Rule) { r.OnTainted = policy.Ask }), args: `{"to":"b@x.example"}`, facts: world{seen: []string{"b@x.example"}}, want: Ask},
		{name: "on_unproven", rule: with(mail, func(r *policy.Rule) { r.OnUnproven = policy.Deny }), args: `{"to":"b@x.example"}`, want: Deny},
		{name: "require_approval", rule: with(mail, func(r *policy.Rule) { r.RequireApproval = true }), args: `{"to":"ok@corp.example"}`, want: Ask, contract: Approval},
		{name: "paranoid asks about the trusted", profile: policy.Paranoid, rule: mail, args: `{"to":"ok@corp.example"}`, want: Ask},
		{name: "paranoid denies what nobody asked for", profile: policy.Paranoid, rule: mail, prompt: "What time is it?", args: `{"to":"ok@corp.example"}`, want: Deny, contract: Intent},
		{name: "two arguments, one repository", rule: push, args: `{"owner":"acme","repo":"web"}`, want: Allow, origin: Allowlisted},
		{name: "whose place it is decides", rule: push, args: `{"owner":"mallory","repo":"web"}`, facts: world{seen: []string{"mallory"}}, want: Deny, origin: Untrusted},
		{name: "half a repository", rule: push, args: `{"repo":"web"}`, want: Ask, origin: Unproven},

		{name: "fetch verbatim without a prompt", rule: get, args: `{"url":"` + url + `"}`, facts: world{seen: []string{url}}, fetched: 1, want: Ask, origin: Untrusted},
		{name: "fetch verbatim where the user pointed", rule: get, prompt: "Read the article that Bob posted in 'general'", args: `{"url":"` + url + `"}`, facts: world{seen: []string{url}, pointed: true}, fetched: 1, want: Allow, origin: Untrusted},
		{name: "fetch the second of a series (A20)", rule: get, prompt: "Read the article that Bob posted in 'general'", args: `{"url":"` + url + `"}`, facts: world{seen: []string{url}, pointed: true}, fetched: 2, want: Ask, origin: Untrusted},
		{name: "fetch verbatim where the user did not point", rule: get, prompt: "Read the article that Bob posted", args: `{"url":"` + url + `"}`, facts: world{seen: []string{url}}, fetched: 1, want: Ask, origin: Untrusted},
		{name: "fetch another page than the one named", rule: get, prompt: "Read https://news.example/", args: `{"url":"` + url + `"}`, facts: world{seen: []string{url}, pointed: true}, fetched: 1, want: Ask, origin: Untrusted},
		{name: "fetch composed", rule: get, args: `{"url":"` + url + `"}`, facts: world{seen: []string{"https://blog.example/post#"}}, fetched: 1, want: Deny, origin: Untrusted},
		{name: "verbatim: allow", rule: with(get, func(r *policy.Rule) { r.Verbatim = policy.Allow }), args: `{"url":"` + url + `"}`, facts: world{seen: []string{url}}, fetched: 1, want: Allow, origin: Untrusted},
		{name: "verbatim: allow, the second", rule: with(get, func(r *policy.Rule) { r.Verbatim = policy.Allow }), args: `{"url":"` + url + `"}`, facts: world{seen: []string{url}}, fetched: 2, want: Ask, origin: Untrusted},
		{name: "verbatim: deny", rule: with(get, func(r *policy.Rule) { r.Verbatim = policy.Deny }), args: `{"url":"` + url + `"}`, facts: world{seen: []string{url}}, fetched: 1, want: Deny, origin: Untrusted},
		{name: "strict knows no verbatim", profile: policy.Strict, rule: get, args: `{"url":"` + url + `"}`, facts: world{seen: []string{url}, pointed: true}, fetched: 1, want: Deny, origin: Untrusted},
	} {
		t.Run(c.name, c.run)
	}
}

func TestConsequence(t *testing.T) {
	words := []string{"delete", "remove"}
	named := policy.Rule{Intent: words, Consequence: &policy.Consequence{Named: params("name")}}
	own := policy.Rule{Intent: []string{"create", "add"}, Consequence: &policy.Consequence{Own: params("title")}}
	bare := policy.Rule{Intent: words, Consequence: &policy.Consequence{}}
	for _, c := range []ladderLine{
		{name: "named by the user", rule: named, prompt: "Delete report.txt", args: `{"name":"report.txt"}`, want: Allow},
		{name: "another one", rule: named, prompt: "Delete report.txt", args: `{"name":"budget.xlsx"}`, want: Ask, contract: Consequence},
		{name: "named for another act", rule: named, prompt: "Summarise report.txt", args: `{"name":"report.txt"}`, want: Ask, contract: Consequence},
		{name: "no prompt", rule: named, args: `{"name":"report.txt"}`, want: Ask, contract: Consequence},
		{name: "strict has no such contract", profile: policy.Strict, rule: named, args: `{"name":"report.txt"}`, want: Allow},
		{name: "paranoid denies", profile: policy.Paranoid, rule: named, args: `{"name":"report.txt"}`, want: Deny, contract: Consequence},
		{name: "dictated", rule: own, prompt: "Add a reminder to my calendar", args: `{"title":"Book the Riverside"}`, facts: world{seen: []string{"Book the Riverside"}}, want: Ask, contract: Consequence},
		{name: "dictated, no prompt", rule: own, args: `{"title":"Book the Riverside"}`, facts: world{seen: []string{"Book the Riverside"}}, want: Ask, contract: Consequence},
		{name: "its own words", rule: own, prompt: "Add a reminder to my calendar", args: `{"title":"Reminder"}`, want: Allow},
		{name: "its own words, no prompt", rule: own, args: `{"title":"Reminder"}`, want: Allow},
		{name: "its own words for what nobody asked", rule: own, prompt: "Summarise my mail", args: `{"title":"Reminder"}`, want: Ask, contract: Consequence},
		{name: "the user said it too", rule: own, prompt: "Add 'Family Reunion' to my calendar", args: `{"title":"Family Reunion"}`, facts: world{seen: []string{"Family Reunion"}}, want: Allow},
		{name: "nothing to look at", rule: bare, prompt: "Delete everything", args: `{}`, want: Allow},
		{name: "nothing to look at, not asked for", rule: bare, prompt: "Summarise everything", args: `{}`, want: Ask, contract: Consequence},
		{name: "nothing is declared, something is there", rule: bare, prompt: "Delete it", args: `{"id":"7"}`, want: Ask, contract: Consequence},
		{name: "guessed, no prompt", rule: policy.Rule{Intent: words, Consequence: &policy.Consequence{Guessed: true}}, args: `{"id":"7"}`, want: Allow},
	} {
		t.Run(c.name, c.run)
	}
}

func TestContent(t *testing.T) {
	mail := policy.Rule{Exfiltrating: true, SinkParams: params("to"), Intent: mailWords, TrustedDestinations: []string{"ok@corp.example", "https://corp.example/"}}
	const ok = `"to":"ok@corp.example"`
	for _, c := range []ladderLine{
		{name: "plain text", rule: mail, args: `{` + ok + `,"body":"See you at 12.30, report.txt is v1.2"}`, want: Allow},
		{name: "a link from nowhere", rule: mail, args: `{` + ok + `,"body":"see https://new.example/x"}`, want: Ask, contract: Content},
		{name: "a tainted link", rule: mail, args: `{` + ok + `,"body":"see https://evil.example/x"}`, facts: world{seen: []string{"https://evil.example/x"}}, want: Deny, contract: Content},
		{name: "an allowlisted link", rule: mail, args: `{` + ok + `,"body":"see https://corp.example/x"}`, want: Allow},
		{name: "the user's link", rule: mail, prompt: "Send https://new.example/x to ok@corp.example", args: `{` + ok + `,"body":"see https://new.example/x"}`, want: Allow},
		{name: "a directory's address", rule: mail, args: `{` + ok + `,"body":"ask bob@x.example"}`, facts: world{directory: []string{"bob@x.example"}}, want: Allow},
		{name: "the recipient's own address", rule: mail, args: `{` + ok + `,"body":"Hi ok@corp.example"}`, want: Allow},
		{name: "an account", rule: mail, args: `{` + ok + `,"body":"wire it to GB29NWBK60161331926819"}`, facts: world{seen: []string{"GB29NWBK60161331926819"}}, want: Deny, contract: Content},
		{name: "strict does not look inside", profile: policy.Strict, rule: mail, args: `{` + ok + `,"body":"see https://evil.example/x"}`, facts: world{seen: []string{"https://evil.example/x"}}, want: Allow},
		{name: "paranoid denies", profile: policy.Paranoid, rule: mail, args: `{` + ok + `,"body":"see https://new.example/x"}`, want: Deny, contract: Content},
		{name: "a secret", rule: mail, args: `{` + ok + `,"body":"passport HGK137803"}`, facts: world{secret: "HGK137803"}, want: Ask, contract: Content},
		{name: "a secret that the user wrote", rule: mail, prompt: "Mail my passport number HGK137803 to ok@corp.example", args: `{` + ok + `,"body":"passport HGK137803"}`, facts: world{secret: "HGK137803"}, want: Allow},
		{name: "a tool that sends nothing out", rule: policy.Rule{}, args: `{"body":"see https://evil.example/x"}`, facts: world{seen: []string{"https://evil.example/x"}}, want: Allow},
	} {
		t.Run(c.name, c.run)
	}
}
