// Package replay runs recorded sessions against a policy, without a model: an agent that does its user's task and then
// obeys everything that an injected text tells it. It drives the judge, as the proxy does, so what it measures is what
// users get.
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
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
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
	NoPrompt bool // the user's words are not known
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

// Step is what became of one call. An asked call went on as if somebody had said yes.
type Step struct {
	Call     Call
	Verdict  gate.Verdict // before anybody was asked
	Decision gate.Decision
	Refused  bool // it was asked, and denied after the answer all the same
}

// Denied reports a call that did not reach its server, whatever a person would say.
func (s Step) Denied() bool { return s.Verdict == gate.Deny || s.Refused }

// Asked reports a call that a person was asked about.
func (s Step) Asked() bool { return s.Verdict == gate.Ask }

// player is one session.
type player struct {
	server  string
	judge   *judge.Judge
	store   *session.Memory
	outputs map[string]Output
}

// yes approves every question for the session, as somebody does who is asked twice about the same.
type yes struct{}

func (yes) Ask(context.Context, approval.Question) approval.Answer {
	return approval.Answer{Choice: approval.Session, How: "replay"}
}

// discard is the log of what never happened.
type discard struct{}

func (discard) Append(audit.Entry) error { return nil }

// newPlayer starts a session of one server.
func newPlayer(cfg Config, server, prompt string, tools []jsonrpc.Value, listed []byte, outputs map[string]Output) *player {
	store, book := session.NewMemory(), &pin.Book{}
	book.Pin(tools)
	store.Observe(provenance.Source{Server: server, Tool: "tools/list", Kind: "definition"}, listed)
	if !cfg.NoPrompt && prompt != "" {
		store.Say(prompt)
	}
	return &player{server: server, store: store, outputs: outputs, judge: judge.New(judge.Config{
		Server: policy.Server{Name: server}, Policy: cfg.Policy, Profile: cfg.Profile, Session: store, SessionID: "replay",
		Log: discard{}, Pins: book,
	})}
}

// play has one call judged, and lets the session see its recorded output unless the call was denied.
func (p *player) play(s *Step) error {
	c := s.Call
	o := p.judge.Decide(judge.Request{Tool: c.Function, Args: c.Args, Client: "replay"})
	s.Verdict, s.Decision = o.Decision.Verdict, o.Decision
	if s.Verdict == gate.Ask {
		p.judge.Settle(context.Background(), o, yes{})
		s.Refused = o.Decision.Verdict == gate.Deny
	}
	if s.Denied() {
		return nil
	}
	out, known := p.outputs[c.Out]
	if !known && c.Out != "" {
		return fmt.Errorf("the output %q of %s is not recorded", c.Out, c.Function)
	}
	p.judge.Observe(o.Asked(), provenance.Source{Server: p.server, Tool: c.Function, Call: o.ID, Kind: "result"}, out.answer(c.Error != nil))
	return nil
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
