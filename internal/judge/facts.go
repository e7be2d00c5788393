package judge

import (
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/label"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// facts is what the gate may ask the session, and the answers that a person gave for always.
type facts struct {
	j       *Judge
	request Request
	answers func() approval.View // read when a decision first needs them, and then held
}

func (j *Judge) facts(r Request) facts { return facts{j, r, sync.OnceValue(j.cfg.Answers.View)} }

func (f facts) Approved(contract, tool string, d destination.Destination) bool {
	return f.j.cfg.Session.Vouched(f.j.cfg.Server.Name, scope(contract, tool, f.request.Conversation), d) ||
		f.answers().Approves(f.j.cfg.Server.Name, contract, tool, d)
}

// Refused asks for a never of this contract's question. One about a recipient is about the value: it holds in a text too.
func (f facts) Refused(contract, tool string, d destination.Destination) (string, bool) {
	if why, refused := f.answers().Refuses(f.j.cfg.Server.Name, contract, tool, d); refused {
		return why, true
	}
	if contract == gate.SinkGate {
		return "", false
	}
	return f.answers().Refuses(f.j.cfg.Server.Name, gate.SinkGate, tool, d)
}

func (f facts) Vouched() []destination.Destination {
	return append(f.j.cfg.Session.VouchedFor(f.j.cfg.Server.Name), f.answers().Destinations(f.j.cfg.Server.Name)...)
}

func (f facts) Seen(d destination.Destination, how provenance.Matching) (provenance.Sighting, bool) {
	return f.j.cfg.Session.Seen(d, how)
}

func (f facts) Verbatim(d destination.Destination) (provenance.Sighting, bool) {
	return f.j.cfg.Session.Verbatim(d)
}

func (f facts) Labelled(d destination.Destination) (provenance.Labelled, bool) {
	return f.j.cfg.Session.Labelled(f.j.cfg.Server.Name, d)
}

func (f facts) Secret(text string) (provenance.Labelled, bool) { return f.j.cfg.Session.Secret(text) }

func (f facts) Private(object string) (provenance.Labelled, bool) {
	return f.j.cfg.Session.Private(f.j.cfg.Server.Name, object)
}

func (f facts) Clean() bool { return f.j.cfg.Session.Clean() }

func (f facts) First(d destination.Destination) bool { return f.j.cfg.Session.First(d) }

// scope keeps answers to one contract's question apart from another's, and those of one conversation from another's.
func scope(contract, tool, conversation string) string {
	if contract != gate.SinkGate {
		tool = contract + "\x00" + tool
	}
	if conversation != "" {
		tool = conversation + "\x00in\x00" + tool
	}
	return tool
}

// ask fills in what the user's own words have to do with a call.
func (j *Judge) ask(o *Outcome) {
	if o.rules.Profile != policy.Strict {
		o.call.User = j.cfg.Session.Request()
	}
	if !o.rules.Fetch {
		return
	}
	o.call.Fetched = map[string]int{}
	for _, leaf := range o.call.Leaves {
		if leaf.Value.Kind != jsonrpc.String {
			continue
		}
		for _, d := range destination.Parse(leaf.Value.Text) {
			if d.Kind == destination.URL {
				o.call.Fetched[d.Canonical] = j.cfg.Session.Fetch(registrable(d.Host()), d.Canonical)
			}
		}
	}
}

// registrable is the part of a host that one owner holds; a host without one stands for itself.
func registrable(host string) string {
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

// wrote notes what an allowed call writes to its server, so that it does not come back as the user's own register: an
// agent that was talked into a new contact would otherwise have made a trusted one. And it notes what the agent named
// before any server did.
func (j *Judge) wrote(o *Outcome) {
	if o.Decision.Verdict != gate.Allow {
		return
	}
	if o.rules.Reads != nil {
		object := o.rules.Reads.Of(o.call.Args)
		j.cfg.Session.Label(provenance.Labelled{Label: provenance.Private, Server: j.cfg.Server.Name,
			Destination: destination.Destination{Kind: destination.Opaque, Raw: object, Canonical: object},
			Sighting:    provenance.Sighting{Source: provenance.Source{Server: j.cfg.Server.Name, Tool: o.request.Tool, Call: o.ID, Kind: "result"}}})
	}
	puts := !o.rules.Reader && j.labels()
	if !puts && !j.cfg.Policy.FirstUse {
		return
	}
	var ds []destination.Destination
	for _, leaf := range o.call.Leaves {
		text := leaf.Value.Text
		if len(text) <= 2048 {
			ds = append(ds, destination.Parse(text)...)
		}
		for _, m := range destination.Mentions(text) {
			ds = append(ds, m.Destination)
		}
	}
	if puts {
		j.cfg.Session.Put(j.cfg.Server.Name, ds)
	}
	if j.cfg.Policy.FirstUse {
		j.cfg.Session.Use(ds)
	}
}

// Asked is what an answer must be read with: what the call had in it that its answer may repeat, and whether the user
// pointed at what it asked for.
type Asked struct {
	echo  []string
	named bool
	rules gate.Rules
}

const (
	maxEchoes  = 64
	shortEcho  = 6
	longEcho   = 256
	shortNamed = 2
)

// Asked returns what Observe needs to read the call's answer with.
func (o *Outcome) Asked() Asked {
	a := Asked{rules: o.rules, named: o.call.User != nil}
	values := 0
	for _, leaf := range o.call.Leaves {
		text := leaf.Value.Text
		if leaf.IsName || leaf.Value.Kind == jsonrpc.Bool {
			continue
		}
		values++
		a.named = a.named && len(text) >= shortNamed && o.call.User.Names(text)
		if len(text) >= shortEcho && len(text) <= longEcho && len(a.echo) < maxEchoes && !strings.ContainsAny(text, "\n\r") {
			a.echo = append(a.echo, strings.Clone(text))
		}
	}
	a.named = a.named && values > 0
	return a
}

// Observe records the answer to an allowed call, and the labelled fields in it. It returns before the answer may be
// relayed. payload is the result, or the error, or the whole frame when more stands in it. On an error it must not be.
func (j *Judge) Observe(a Asked, src provenance.Source, payload []byte) error {
	src.Named = a.named
	if len(a.rules.Results) > 0 && src.Kind == "result" {
		for _, l := range label.Extract(payload, a.rules.Results) {
			l.Server, l.Sighting.Source = j.cfg.Server.Name, src
			j.cfg.Session.Label(l)
		}
	}
	return j.cfg.Session.Observe(src, payload, a.echo...)
}
