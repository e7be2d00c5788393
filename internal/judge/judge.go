// Package judge is one call's whole way: it finds the rule, looks up what the gate must know, lets the gate decide,
// asks a person where the gate says so, and writes the log. Proxy, case files and every later front door use this one
// way, so that they cannot come to differ.
package judge

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// Log is where verdicts are written. audit.Log is one.
type Log interface {
	Append(audit.Entry) error
}

// BufferedLog is a Log that can write many lines at once. Buffered lines come before later ones of Append; whether they
// were written is what Flush returns. audit.Log is one.
type BufferedLog interface {
	Log
	Buffer(audit.Entry)
	Flush() error
}

// Config is what a Judge needs. Policy, Session, Log and Pins are required.
type Config struct {
	Server     policy.Server
	Policy     *policy.Set
	Profile    policy.Profile
	Session    session.Store
	SessionID  string
	Log        Log
	BestEffort bool // forward even when the log cannot be written; off, such a call is denied
	Pins       *pin.Book
	Answers    *approval.Book // remembered answers; nil remembers nothing
	Digest     string         // of the policy: an answer that is given later is given under this one
	Paths      *Paths
	Problem    func(format string, args ...any) // tells the user's terminal; nil is silent
	Now        func() time.Time                 // nil is time.Now
}

// Judge judges the calls to one server. It is safe for concurrent use.
type Judge struct {
	cfg      Config
	reported atomic.Pointer[string] // serverInfo.name, once the server said it
	labels   func() bool            // whether any rule labels fields of answers
	rules    sync.Map               // tool name -> gate.Rules; pins and policy do not change within a session
}

// New returns a Judge.
func New(cfg Config) *Judge {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Problem == nil {
		cfg.Problem = func(string, ...any) {}
	}
	if cfg.Paths == nil {
		cfg.Paths = &Paths{}
	}
	return &Judge{cfg: cfg, labels: sync.OnceValue(cfg.Policy.Labels)}
}

// Server returns the server as it is known so far.
func (j *Judge) Server() policy.Server {
	s := j.cfg.Server
	if name := j.reported.Load(); name != nil {
		s.Reported = *name
	}
	return s
}

// Reported tells what the server says of itself. It may only tighten, and comes before the first call.
func (j *Judge) Reported(name string) { j.reported.Store(&name) }

// Request is one attempted call.
type Request struct {
	Tool   string
	Args   []byte // the arguments' span of the frame; nil when absent
	Client string

	// Slot is the attempt that this request was counted as already, where it is a call made again with the answer to its
	// question (protocol 2026-07-28): one call spends one, however many answers it needs. 0 counts it.
	Slot int

	// Conversation is the client's own id of the conversation that the call belongs to, where it gives one. A client that has
	// several in one process has one session: what was read counts for all of them, a yes for the session for its own alone.
	Conversation string

	method bool // Tool is the name of another method
}

// Outcome is what was decided about a Request, and what it takes to ask about it.
type Outcome struct {
	ID       string
	Decision gate.Decision
	Answer   *approval.Answer // set once a person was asked

	request Request
	call    gate.Call
	rules   gate.Rules
	took    time.Duration
}

// Slot is the attempt that the call was counted as, from 1; 0 when its tool has no budget.
func (o *Outcome) Slot() int { return o.call.Slot }

// Decide judges a request and logs the verdict. It does not ask anybody: an Ask is settled by Settle.
func (j *Judge) Decide(r Request) *Outcome { return j.decide(r, false) }

// DecideLater is Decide, but that the line of an Allow may be written as late as the next Flush. Nothing that it allowed
// may be forwarded before Flush has returned nil.
func (j *Judge) DecideLater(r Request) *Outcome { return j.decide(r, true) }

// Flush writes what DecideLater left to be written. On an error none of those calls may be forwarded: each becomes
// what Unlogged makes of it.
func (j *Judge) Flush() error {
	buffered, ok := j.cfg.Log.(BufferedLog)
	if !ok {
		return nil
	}
	err := buffered.Flush()
	if err == nil {
		return nil
	}
	j.cfg.Problem("%v", err)
	if j.cfg.BestEffort {
		return nil
	}
	return err
}

// Unlogged turns an Allow that could not be logged into a denial.
func (o *Outcome) Unlogged() { o.Decision = unlogged }

func (j *Judge) decide(r Request, later bool) *Outcome {
	start := j.cfg.Now()
	o := &Outcome{ID: audit.NewID(), request: r}
	args, err := decodeArgs(r.Args)
	if err != nil {
		o.Decision = refuse(gate.Constraint, "the arguments cannot be read in one way: "+err.Error())
		o.took = j.cfg.Now().Sub(start)
		j.log(o)
		return o
	}
	mark := j.cfg.Session.Mark()
	if r.method {
		o.rules = j.methodRules(r.Tool)
	} else {
		o.rules = j.rulesFor(r.Tool)
	}
	o.call = gate.Call{Server: j.cfg.Server.Name, Tool: r.Tool, Args: args, Leaves: policy.Leaves(args), Pin: j.pinOf(r)}
	j.ask(o)
	if o.call.Slot = r.Slot; o.call.Slot == 0 && o.rules.MaxCalls != nil && o.call.Pin.State == gate.PinHeld {
		o.call.Slot = j.cfg.Session.Reserve(j.cfg.Server.Name, r.Tool)
	}
	j.cfg.Paths.resolve(&o.call, o.rules)
	o.Decision = gate.Decide(o.call, o.rules, j.facts(o.request))
	j.wrote(o)
	j.sound(o, mark)
	o.took = j.cfg.Now().Sub(start)
	if buffered, ok := j.cfg.Log.(BufferedLog); ok && later && o.Decision.Verdict == gate.Allow {
		buffered.Buffer(j.entry(o))
		return o
	}
	if o.Decision.Verdict == gate.Ask { // the question outlives the frame, whose bytes the reader uses again
		o.request.Args = bytes.Clone(r.Args)
		o.call.Args, _ = decodeArgs(o.request.Args)
		o.call.Leaves = policy.Leaves(o.call.Args)
	}
	j.log(o)
	return o
}

// Settle asks a person about an Outcome whose verdict is Ask, and decides again with the answer: the session may have
// learned in the meantime what forbids the call, and a budget slot is not spent twice. It logs the outcome, and the
// verdict that it leaves in o is Allow or Deny; it stays Ask where the question travels back with the call, which is not
// forwarded then. Cancelling ctx withdraws the question and denies.
func (j *Judge) Settle(ctx context.Context, o *Outcome, ch approval.Channel) {
	if o.Decision.Verdict != gate.Ask {
		return
	}
	asked := o.Decision.Questions()
	question := j.question(o, asked)
	answer := ch.Ask(ctx, question)
	if ctx.Err() != nil {
		answer = approval.Answer{How: approval.Withdrawn, Why: "the call was cancelled"}
	}
	if answer.How == approval.Carried { // the question went back with the call; the verdict so far is in the log
		o.Answer = &answer
		return
	}
	j.remember(question, &answer)
	o.Answer = &answer
	if !answer.Choice.Approves() {
		o.Decision.Verdict = gate.Deny
		j.log(o)
		return
	}
	start, mark := j.cfg.Now(), j.cfg.Session.Mark()
	o.call.Answered = map[string]bool{}
	for _, q := range asked {
		o.call.Answered[q.Key()] = true
		if answer.Choice == approval.Session && q.Judged != nil {
			j.cfg.Session.Vouch(j.cfg.Server.Name, scope(q.Contract, o.request.Tool, o.request.Conversation), q.Judged.Destination)
		}
	}
	o.call.Pin = j.pinOf(o.request)
	j.cfg.Paths.resolve(&o.call, o.rules) // a link may have been swapped while the person thought (A74)
	o.Decision = gate.Decide(o.call, o.rules, j.facts(o.request))
	if o.Decision.Verdict == gate.Ask { // something new came up while they thought; one call is one question
		o.Decision.Verdict = gate.Deny
	}
	j.wrote(o)
	j.sound(o, mark)
	o.took += j.cfg.Now().Sub(start)
	j.log(o)
}

// sound denies what was decided on facts that could not be read, or whose own facts could not be written.
func (j *Judge) sound(o *Outcome, mark uint64) {
	if err := j.cfg.Session.Err(mark); err != nil {
		o.Decision = refuse("session", err.Error())
	}
}

// Refuse logs a frame that was not even a call: it has no single reading, or no id.
func (j *Judge) Refuse(tool, reason, client string) *Outcome {
	o := &Outcome{ID: audit.NewID(), request: Request{Tool: tool, Client: client}, Decision: refuse("frame", reason)}
	j.log(o)
	return o
}

func refuse(contract, reason string) gate.Decision {
	return gate.Decision{Verdict: gate.Deny, Contract: contract, Reason: reason}
}

func decodeArgs(raw []byte) (jsonrpc.Value, error) {
	if raw == nil {
		return jsonrpc.Value{}, nil
	}
	return jsonrpc.Decode(raw)
}

func (j *Judge) rulesFor(tool string) gate.Rules {
	definition, ok := j.cfg.Pins.Definition(tool)
	if !ok {
		return gate.NewRules(policy.Rule{Tool: tool}, j.cfg.Profile)
	}
	if rules, ok := j.rules.Load(tool); ok {
		return rules.(gate.Rules)
	}
	rules := gate.NewRules(j.cfg.Policy.Rule(j.Server(), policy.ToolOf(definition)), j.cfg.Profile)
	rules.CleanContext, rules.FirstUse = j.cfg.Policy.CleanContext, j.cfg.Policy.FirstUse
	rules.Reader = policy.Reads(policy.ToolOf(definition))
	j.rules.Store(tool, rules)
	return rules
}

// pinOf is the pin of a call's tool. Other methods are the protocol's and have no definition that could change.
func (j *Judge) pinOf(r Request) gate.Pin {
	if r.method {
		return gate.Pin{State: gate.PinHeld}
	}
	return j.pin(r.Tool)
}

func (j *Judge) pin(tool string) gate.Pin {
	if !j.cfg.Pins.Known() {
		return gate.Pin{State: gate.PinUnlistable}
	}
	state, changed := j.cfg.Pins.State(tool)
	switch state {
	case pin.Held:
		return gate.Pin{State: gate.PinHeld, Hidden: j.cfg.Pins.Hidden(tool)}
	case pin.Changed:
		return gate.Pin{State: gate.PinChanged, Changed: changed}
	case pin.Ambiguous:
		return gate.Pin{State: gate.PinAmbiguous}
	}
	return gate.Pin{State: gate.PinUnknown}
}
