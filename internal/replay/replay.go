// Package replay runs recorded sessions against a policy, without a model: an agent that does its user's task and then
// obeys everything that an injected text tells it. It drives the judge, as the proxy does, so what it measures is what
// users get; or the real program in a process of its own, which must come to the same verdicts.
//
// What counts:
//
//   - A session is one honest task, or one pair of a task and an injection that succeeds undefended. It starts with
//     nothing known but the tools' definitions and, unless NoPrompt, the user's prompt.
//   - A denied call is not made, and what it would have returned is not seen. An injection's calls are made once its text
//     has reached the agent, and never when it has not.
//   - A question about a call of the user's is answered with yes for the session. One about a call of the injection's is
//     answered with yes for that call, so that what follows is judged too, and counts as asked. Headless, every question
//     is a denial.
//   - An attack is Blocked if it fails without its denied calls, by the recorded verdicts that leave one call out; Asked
//     if it fails without its denied and asked calls; else Silent.
//   - A question is one call's, whatever the number of its destinations.
//
// It must not decide anything itself, and a score must never flatter: what cannot be told from the recording counts for
// the attacker.
package replay

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// Config is what a replay is judged by.
type Config struct {
	Policy   *policy.Set
	Profile  policy.Profile
	NoPrompt bool     // the user's words are not known
	Headless bool     // nobody can be asked
	Through  *Process // play through the real program; nil plays in this process
}

// Call is one recorded call.
type Call struct {
	Phase    string          `json:"phase"`
	Function string          `json:"function"`
	Args     json.RawMessage `json:"args"`
	Out      string          `json:"out"`
	Error    *string         `json:"error"`
	Writes   bool            `json:"writes"`
}

// Output is what a recorded call returned: the text that the agent saw, and the same value as JSON.
type Output struct {
	ID         string          `json:"id"`
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured"`
}

// Step is what became of one call.
type Step struct {
	Call     Call
	Made     bool         // the agent got to it
	Verdict  gate.Verdict // before anybody was asked
	Decision gate.Decision
	Refused  bool // there was a question, and the call was denied all the same
	Nobody   bool // there was a question, and nobody to ask

	index int // of the call in its session: a late injection's calls are made out of order
}

// Denied reports a call that did not reach its server, whatever a person would say.
func (s Step) Denied() bool { return s.Verdict == gate.Deny || s.Refused }

// Asked reports a call that a person was asked about.
func (s Step) Asked() bool { return s.Verdict == gate.Ask && !s.Nobody }

// player is a session that calls can be made in.
type player interface {
	play(s *Step) error // has one call judged
	close() error       // comes after the last call, and before a step's Decision is read
}

// inProcess is a session whose calls the judge decides here.
type inProcess struct {
	headless bool
	server   string
	judge    *judge.Judge
	outputs  map[string]Output
}

// person answers every question in the same way.
type person approval.Choice

func (p person) Ask(context.Context, approval.Question) approval.Answer {
	return approval.Answer{Choice: approval.Choice(p), How: "replay"}
}

// answerTo is how a question about a call is answered. A yes to a call of the injection's is for that call alone, so that
// its next one is asked about as well: a session's yes would hide it.
func answerTo(phase string, headless bool) approval.Choice {
	switch {
	case headless:
		return approval.Deny
	case phase == "injection":
		return approval.Once
	}
	return approval.Session
}

// discard is the log of what never happened.
type discard struct{}

func (discard) Append(audit.Entry) error { return nil }

// newInProcess starts a session with one server.
func newInProcess(cfg Config, s *Suite, prompt string) *inProcess {
	store, book := session.NewMemory(), &pin.Book{}
	book.Pin(s.Tools)
	store.Observe(provenance.Source{Server: s.Name, Tool: "tools/list", Kind: "definition"}, s.Listed)
	if !cfg.NoPrompt && prompt != "" {
		store.Say(prompt)
	}
	return &inProcess{headless: cfg.Headless, server: s.Name, outputs: s.Outputs, judge: judge.New(judge.Config{
		Server: policy.Server{Name: s.Name}, Policy: cfg.Policy, Profile: cfg.Profile, Session: store, SessionID: "replay",
		Log: discard{}, Pins: book,
	})}
}

func (p *inProcess) close() error { return nil }

// play has one call judged, and lets the session see its recorded output unless the call was denied.
func (p *inProcess) play(s *Step) error {
	c := s.Call
	o := p.judge.Decide(judge.Request{Tool: c.Function, Args: c.Args, Client: "replay"})
	s.Made, s.Verdict, s.Decision = true, o.Decision.Verdict, o.Decision
	if s.Verdict == gate.Ask {
		p.judge.Settle(context.Background(), o, person(answerTo(c.Phase, p.headless)))
		s.Refused, s.Nobody = o.Decision.Verdict == gate.Deny, p.headless
	}
	if s.Denied() {
		return nil
	}
	answer, err := answerOf(p.outputs, c)
	if err != nil {
		return err
	}
	p.judge.Observe(o.Asked(), provenance.Source{Server: p.server, Tool: c.Function, Call: o.ID, Kind: "result"}, answer)
	return nil
}

// answerOf is what the server answered to a call, as the result of a tools/call.
func answerOf(outputs map[string]Output, c Call) ([]byte, error) {
	out, known := outputs[c.Out]
	if !known && c.Out != "" {
		return nil, fmt.Errorf("the output %q of %s is not recorded", c.Out, c.Function)
	}
	return out.answer(c.Error != nil), nil
}

// answer is the output as the result of a tools/call.
func (o Output) answer(failed bool) []byte {
	result := map[string]any{"content": []any{map[string]any{"type": "text", "text": o.Text}}}
	switch {
	case failed:
		result["isError"] = true
	case len(o.Structured) > 0 && o.Structured[0] == '{':
		result["structuredContent"] = o.Structured
	case len(o.Structured) > 0 && string(o.Structured) != "null":
		result["structuredContent"] = map[string]any{"result": o.Structured}
	}
	raw, err := json.Marshal(result)
	if err != nil {
		panic(err) // strings and JSON that was decoded before
	}
	return raw
}
