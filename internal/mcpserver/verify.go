package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

type verifyInput struct {
	PolicyYAML string `json:"policy_yaml" jsonschema:"the text of a policy file"`
}

// Verification is what bouncer_verify_policy answers.
type Verification struct {
	Valid        bool          `json:"valid"`
	Rules        int           `json:"rules"`
	ToolsCovered []string      `json:"tools_covered" jsonschema:"tools that have a rule; server/tool where the rule is for one server"`
	Errors       []PolicyError `json:"errors"`
	Loosens      []Loosening   `json:"loosens" jsonschema:"where an entry judges less than the built-in pack whose entry it replaces"`
}

// PolicyError is one thing that is wrong with a policy.
type PolicyError struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// Loosening is one gate of a pack that a user's entry takes away.
type Loosening struct {
	Tool string `json:"tool"`
	What string `json:"what"`
}

func (s *Server) verifyPolicy(_ context.Context, _ *mcp.CallToolRequest, in verifyInput) (*mcp.CallToolResult, Verification, error) {
	active, _, err := s.cfg.Policy()
	if err != nil { // the packs come with it, and without them nothing is known to be loosened
		return nil, Verification{}, fmt.Errorf("the active policy cannot be loaded: %w", err)
	}
	out := Verification{ToolsCovered: []string{}, Errors: []PolicyError{}, Loosens: []Loosening{}}
	set, err := load.Bytes("policy_yaml", []byte(in.PolicyYAML))
	var bad *load.Errors
	if errors.As(err, &bad) {
		for _, e := range bad.List {
			out.Errors = append(out.Errors, PolicyError{Line: e.At.Line, Column: e.At.Column, Message: visible(e.What)})
		}
		return nil, out, nil
	}
	if err != nil {
		return nil, Verification{}, err
	}
	out.Valid = true
	out.cover("", set.Tools, active.Packs)
	for _, scope := range set.Scopes {
		out.cover(scope.Server, scope.Tools, packsFor(active, scope.Server))
	}
	return nil, out, nil
}

// packsFor returns the packs that a scope's rules replace: those for its package, or all where it is only a name.
func packsFor(set *policy.Set, server string) []policy.PackRules {
	var out []policy.PackRules
	for _, p := range set.Packs {
		if slices.Contains(p.Packages, server) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return set.Packs
	}
	return out
}

func (v *Verification) cover(server string, rules map[string]policy.Rule, packs []policy.PackRules) {
	for _, tool := range slices.Sorted(maps.Keys(rules)) {
		shown := name(tool)
		if server != "" {
			shown = name(server) + "/" + shown
		}
		v.Rules++
		v.ToolsCovered = append(v.ToolsCovered, shown)
		for _, p := range packs {
			if own, ok := p.Tools[tool]; ok {
				for _, what := range loosens(rules[tool], own) {
					v.Loosens = append(v.Loosens, Loosening{Tool: shown, What: "pack " + p.Name + ": " + what})
				}
			}
		}
	}
}

// loosens says what a pack's rule judges and the user's entry, which replaces it, does not.
func loosens(user, pack policy.Rule) []string {
	var out []string
	switch {
	case !pack.Exfiltrating || len(user.SinkParams) == 0 && user.Exfiltrating:
	case !user.Exfiltrating:
		out = append(out, "the entry switches the sink gate off; the pack judges "+sinks(pack))
	case len(pack.SinkParams) == 0:
		out = append(out, "the entry judges only "+list(user.SinkParams)+"; the pack judges "+sinks(pack))
	default:
		var lost []policy.Param
		for _, p := range pack.SinkParams {
			if !p.CoveredBy(user.SinkParams) {
				lost = append(lost, p)
			}
		}
		if len(lost) > 0 {
			out = append(out, "the entry does not judge "+list(lost))
		}
	}
	switch {
	case pack.MaxCalls == nil:
	case user.MaxCalls == nil:
		out = append(out, fmt.Sprintf("the entry takes away the call budget of %d", *pack.MaxCalls))
	case *user.MaxCalls > *pack.MaxCalls:
		out = append(out, fmt.Sprintf("the entry raises the call budget from %d to %d", *pack.MaxCalls, *user.MaxCalls))
	}
	return out
}

func sinks(r policy.Rule) string {
	if len(r.SinkParams) > 0 {
		return list(r.SinkParams)
	}
	if len(r.Content) > 0 {
		return "every argument but " + list(r.Content)
	}
	return "every argument"
}

func list(params []policy.Param) string {
	var out []string
	for _, p := range params {
		out = append(out, name(p.String()))
	}
	return strings.Join(out, ", ")
}
