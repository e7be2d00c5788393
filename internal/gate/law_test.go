package gate

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/mandate"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// The laws hold for any call, so the cases are drawn at random, from a small world where things meet often.
var (
	places  = []string{"ok@corp.example", "b@x.example", "evil@evil.example", "https://x.example/a", "https://evil.example/?q=1", "GB29NWBK60161331926819", "general", "acme/web"}
	prompts = []string{"", "What time is it?", "Send the notes to b@x.example", "Mail it to ok@corp.example and read https://x.example/a", "Pay GB29NWBK60161331926819", "Post it in general", "Summarise the mail from evil@evil.example"}
)

type drawn struct {
	rule    policy.Rule
	prompt  string
	args    string
	facts   world
	fetched int
}

func some(r *rand.Rand, from []string, p float64) (out []string) {
	for _, s := range from {
		if r.Float64() < p {
			out = append(out, s)
		}
	}
	return out
}

func draw(r *rand.Rand) drawn {
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	maybe := func() bool { return r.IntN(3) == 0 }
	rule := policy.Rule{Exfiltrating: r.IntN(5) > 0, SinkParams: params("to"), TrustedDestinations: some(r, places, 0.15), Fetch: maybe(), Declared: []string{"body", "name", "to"}}
	if maybe() {
		rule.Sinks = []policy.Sink{typed(policy.KindAccount, "to")}
	}
	if !maybe() {
		rule.Intent = []string{"send", "mail", "read", "pay", "post"}
	}
	if maybe() {
		rule.Consequence = &policy.Consequence{Named: params("name")}
	}
	if maybe() {
		rule.Deny = some(r, places, 0.1)
	}
	if maybe() {
		rule.Verbatim = []policy.Effect{policy.Allow, policy.Ask, policy.Deny}[r.IntN(3)]
	}
	return drawn{
		rule: rule, prompt: pick(prompts), fetched: r.IntN(3),
		args:  fmt.Sprintf(`{"to":%q,"body":%q,"name":%q}`, pick(places), "see "+pick(places), pick([]string{"report.txt", "7"})),
		facts: world{approved: some(r, places, 0.1), seen: some(r, places, 0.3), directory: some(r, places, 0.15), attributed: some(r, places, 0.15), pointed: maybe()},
	}
}

func (d drawn) decide(profile policy.Profile) Decision {
	c := Call{Tool: "t", Args: mustArgs(d.args), Pin: Pin{State: PinHeld}, Fetched: map[string]int{}}
	for _, p := range places {
		c.Fetched[canonical(p)] = d.fetched
	}
	if d.prompt != "" && profile != policy.Strict {
		c.User = mandate.Read(d.prompt)
	}
	return Decide(c, NewRules(d.rule, profile), d.facts)
}

func (d Decision) of(contract string) (v Verdict) {
	for _, f := range d.Findings {
		if f.Contract == contract {
			v = max(v, f.Verdict)
		}
	}
	return v
}

var profiles = []policy.Profile{policy.Strict, policy.Standard, policy.Paranoid}

// TestLaws: what must hold whatever the call.
func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	verdicts := map[Verdict]int{}
	calls := 20_000
	if raceOn { // there is nothing to race in here
		calls = 4_000
	}
	for range calls {
		d := draw(r)
		for _, profile := range profiles {
			got := d.decide(profile)
			verdicts[got.Verdict]++
			if again := d.decide(profile); !reflect.DeepEqual(got, again) {
				t.Fatalf("the same call twice: %+v, then %+v", got, again)
			}

			tainted := d
			tainted.facts.seen = append(slices.Clone(d.facts.seen), places[r.IntN(len(places))])
			if verbatim := d.rule.Fetch; !verbatim && tainted.decide(profile).of(SinkGate) < got.of(SinkGate) {
				t.Fatalf("%s: more untrusted text made %+v weaker: %v, then %v", profile, d, got, tainted.decide(profile))
			}

			trusting := d
			trusting.rule.TrustedDestinations = append(slices.Clone(d.rule.TrustedDestinations), places[r.IntN(len(places))])
			if after := trusting.decide(profile); after.of(SinkGate) > got.of(SinkGate) || after.of(Content) > got.of(Content) {
				t.Fatalf("%s: one more allowlist entry made %+v stronger: %v, then %v", profile, d, got, after)
			}
		}
		strict, standard := d.decide(policy.Strict), d.decide(policy.Standard)
		if !vouched(standard) && strict.of(SinkGate) < standard.of(SinkGate) {
			t.Fatalf("strict is weaker than standard on %+v: %v, %v", d, strict, standard)
		}
	}
	for v := Allow; v <= Deny; v++ {
		if verdicts[v] < 1000 {
			t.Errorf("only %d of the drawn calls are %v: the laws were hardly tried", verdicts[v], v)
		}
	}
}

// vouched reports a destination that the user's words or directory vouch for.
func vouched(d Decision) bool {
	return slices.ContainsFunc(d.Judged, func(j Judged) bool {
		return j.Origin == FromUser || j.Origin == Directory
	})
}
