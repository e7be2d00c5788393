package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// checkInput is what bouncer_check_verdict takes. Args and the definition are read from the request's own bytes.
type checkInput struct {
	Tool             string         `json:"tool" jsonschema:"name of the tool that would be called"`
	Args             map[string]any `json:"args,omitempty" jsonschema:"arguments of the call"`
	UntrustedContext []string       `json:"untrusted_context,omitempty" jsonschema:"texts that count as written by a tool server, such as earlier results"`
	UserPrompt       string         `json:"user_prompt,omitempty" jsonschema:"what the user asked for, in their own words"`
	UserPolicyYAML   string         `json:"user_policy_yaml,omitempty" jsonschema:"a policy to judge with, in place of the active user policy"`
	Server           string         `json:"server,omitempty" jsonschema:"name of the server in the client's config, or its package"`
	ToolDefinition   map[string]any `json:"tool_definition,omitempty" jsonschema:"the tool as the server lists it in tools/list; without it Bouncer goes by what its packs know, and else treats every argument as a destination"`
	Profile          string         `json:"profile,omitempty" jsonschema:"strict, standard or paranoid; the active profile when absent"`
}

// Verdict is what bouncer_check_verdict answers.
type Verdict struct {
	Verdict     string     `json:"verdict" jsonschema:"allow, ask or deny"`
	Contract    string     `json:"contract" jsonschema:"the contract that decided; default when none objected"`
	Reason      string     `json:"reason"`
	Origin      string     `json:"origin" jsonschema:"where the deciding destination came from: refused, allowlisted, approved, user, directory, attributed, untrusted, unproven, or empty"`
	Evidence    []Evidence `json:"evidence" jsonschema:"every objection and every trusted destination"`
	Omitted     int        `json:"evidence_omitted,omitempty" jsonschema:"how many more there are"`
	Rule        RuleSource `json:"rule" jsonschema:"the policy rule that was applied"`
	Assumptions []string   `json:"assumptions" jsonschema:"what was taken for granted because the request did not say"`
}

// Evidence is one objection or one trusted destination, spelled as in the audit log.
type Evidence struct {
	Contract    string `json:"contract"`
	Param       string `json:"param,omitempty"`
	Destination string `json:"destination,omitempty"`
	Kind        string `json:"kind,omitempty"`
	Origin      string `json:"origin,omitempty"`
	SeenServer  string `json:"seen_server,omitempty"`
	SeenTool    string `json:"seen_tool,omitempty"`
	SeenField   string `json:"seen_field,omitempty"`
	Snippet     string `json:"snippet,omitempty"`
	Match       string `json:"match,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

// RuleSource says which rule decided.
type RuleSource struct {
	Layer    string `json:"layer" jsonschema:"user, pack or heuristic; none when no rule applies"`
	Pack     string `json:"pack,omitempty"`
	Why      string `json:"why"`
	Position string `json:"position,omitempty" jsonschema:"file:line:column"`
}

func (s *Server) checkVerdict(ctx context.Context, req *mcp.CallToolRequest, in checkInput) (*mcp.CallToolResult, Verdict, error) {
	// The SDK reads JSON more leniently than the proxy reads frames; the call is judged on the bytes that came (A50).
	whole, err := jsonrpc.Decode(req.Params.Arguments)
	if err != nil {
		return nil, Verdict{}, fmt.Errorf("the request cannot be read in one way: %w", err)
	}
	t := trial{tool: in.Tool, context: in.UntrustedContext, prompt: in.UserPrompt}
	if args, ok := whole.Get("args"); ok && args.Kind != jsonrpc.Null {
		t.args = args
	}
	if def, ok := whole.Get("tool_definition"); ok && def.Kind != jsonrpc.Null {
		t.definition = &def
	}
	if t.rules, t.profile, err = s.rulesFor(in.UserPolicyYAML, in.Profile); err != nil {
		return nil, Verdict{}, err
	}
	t.server = serverOf(t.rules, in.Server)
	select {
	case s.trial <- struct{}{}:
		defer func() { <-s.trial }()
	case <-ctx.Done():
		return nil, Verdict{}, ctx.Err()
	}
	return nil, s.try(t), nil
}

// rulesFor returns the policy and profile to judge with. A broken policy judges nothing: its errors are the answer.
func (s *Server) rulesFor(yaml, profile string) (*policy.Set, policy.Profile, error) {
	set, active, err := s.cfg.Policy()
	if err != nil {
		return nil, "", fmt.Errorf("the active policy cannot be loaded: %w", err)
	}
	if yaml != "" {
		user, err := load.Bytes("user_policy_yaml", []byte(yaml))
		if err != nil {
			return nil, "", err
		}
		if user.Profile != "" {
			active = user.Profile
		}
		set = user.WithPacks(set.Packs)
	}
	if profile != "" {
		if active, err = policy.ParseProfile(profile); err != nil {
			return nil, "", errors.New("profile must be strict, standard or paranoid")
		}
	}
	return set, active, nil
}

// trial is one call to be judged in a session of its own.
type trial struct {
	server     policy.Server
	rules      *policy.Set
	profile    policy.Profile
	tool       string
	args       jsonrpc.Value // Null when the call has none
	definition *jsonrpc.Value
	context    []string
	prompt     string // the user's words; "" when they are not known
}

// try judges a call by the proxy's own way, in a session that begins and ends with it. The session's log is kept in
// memory: what did not happen must not stand in the log as if it had.
func (s *Server) try(t trial) Verdict {
	v := Verdict{Assumptions: []string{}, Evidence: []Evidence{}}
	store := session.NewMemory()
	definition := jsonrpc.Value{}
	if t.definition != nil {
		definition = *t.definition
		listed := append(append([]byte(`{"tools":[`), definition.Raw...), `]}`...)
		store.Observe(provenance.Source{Server: t.server.Name, Tool: "tools/list", Kind: "definition"}, listed)
	} else {
		var assumed string
		definition, assumed = assume(t)
		v.Assumptions = append(v.Assumptions, assumed)
	}
	for i, text := range t.context {
		payload := append(append([]byte(`{"content":[{"type":"text","text":`), jsonrpc.Quote(text)...), `}]}`...)
		store.Observe(provenance.Source{Server: t.server.Name, Tool: fmt.Sprintf("untrusted_context[%d]", i), Kind: "result"}, payload)
	}
	if t.prompt != "" {
		store.Say(t.prompt)
	}
	book := &pin.Book{}
	book.Pin([]jsonrpc.Value{definition})
	log := &memoryLog{}
	j := judge.New(judge.Config{Server: t.server, Policy: t.rules, Profile: t.profile, Session: store, SessionID: "check",
		Log: log, Pins: book, Paths: s.cfg.Paths})
	request := judge.Request{Tool: t.tool, Client: "check"}
	if t.args.Kind != jsonrpc.Null {
		request.Args = t.args.Raw
	}
	outcome := j.Decide(request)
	if defined := policy.ToolOf(definition); defined.Name != t.tool {
		v.Rule = RuleSource{Layer: "none", Why: "the definition is another tool's, so no rule applies"}
	} else if rule := t.rules.Rule(t.server, defined); rule.MaxCalls == nil {
		v.Rule = sourceOf(rule)
	} else {
		v.Rule = sourceOf(rule)
		v.Assumptions = append(v.Assumptions, fmt.Sprintf("this is the first call of the session; %d may be attempted", *rule.MaxCalls))
	}
	v.fill(outcome, log)
	return v
}

// fill takes the verdict from what would have been logged.
func (v *Verdict) fill(o *judge.Outcome, log *memoryLog) {
	const most = 50
	v.Verdict, v.Contract, v.Reason = o.Decision.Verdict.String(), visible(o.Decision.Contract), visible(o.Decision.Reason)
	if len(log.entries) == 0 {
		return
	}
	e := log.entries[0]
	v.Origin = visible(e.Origin)
	for i, ev := range e.Evidence {
		if i == most {
			v.Omitted = len(e.Evidence) - most
			break
		}
		v.Evidence = append(v.Evidence, Evidence{Contract: visible(ev.Contract), Param: name(ev.Param), Destination: visible(ev.Destination),
			Kind: visible(ev.Kind), Origin: visible(ev.Origin), SeenServer: name(ev.Server), SeenTool: name(ev.Tool), SeenField: visible(ev.Field),
			Snippet: snippet(ev.Snippet), Match: visible(ev.Match), Reason: visible(ev.Reason)})
	}
}

func sourceOf(r policy.Rule) RuleSource {
	out := RuleSource{Layer: string(r.Layer), Pack: r.Pack, Why: visible(r.Why)}
	if r.At.Line > 0 {
		out.Position = visible(r.At.String())
	}
	return out
}

// memoryLog is the log of a trial. It is written by one goroutine and forgotten with the trial.
type memoryLog struct{ entries []audit.Entry }

func (l *memoryLog) Append(e audit.Entry) error {
	l.entries = append(l.entries, e)
	return nil
}
