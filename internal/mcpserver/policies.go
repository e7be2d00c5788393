package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// Rule is one tool's rule, for reading. Its keys are those of a policy file, with where the rule comes from.
type Rule struct {
	Tool                string              `json:"tool"`
	Exfiltrating        bool                `json:"exfiltrating" jsonschema:"the tool carries values out, so its destinations are judged"`
	SinkParams          []string            `json:"sink_params,omitempty" jsonschema:"arguments that name destinations; an exfiltrating tool without any: every argument but content"`
	TrustedDestinations []string            `json:"trusted_destinations,omitempty"`
	WriteParams         []string            `json:"write_params,omitempty" jsonschema:"path arguments that allowed_path_prefixes confines"`
	AllowedPathPrefixes []string            `json:"allowed_path_prefixes,omitempty"`
	ArgPatterns         map[string]string   `json:"arg_patterns,omitempty"`
	ArgValues           map[string][]string `json:"arg_values,omitempty"`
	MaxCalls            *int                `json:"max_calls,omitempty" jsonschema:"calls that a session may attempt"`
	Content             []string            `json:"content,omitempty" jsonschema:"arguments that were looked at and are no destinations"`
	Sinks               []SinkView          `json:"sinks,omitempty" jsonschema:"what is special about some destinations"`
	Intent              []string            `json:"intent,omitempty" jsonschema:"words of the user's that ask for this act"`
	Consequence         *ConsequenceView    `json:"consequence,omitempty" jsonschema:"the tool changes things without a destination"`
	Fetch               bool                `json:"fetch,omitempty" jsonschema:"it sends nothing but the destination itself"`
	Verbatim            string              `json:"verbatim,omitempty" jsonschema:"what becomes of a fetch whose URL stands verbatim in untrusted text"`
	OnTainted           string              `json:"on_tainted,omitempty" jsonschema:"in place of the profile's verdict about an untrusted destination"`
	OnUnproven          string              `json:"on_unproven,omitempty" jsonschema:"and about an unproven one"`
	Deny                []string            `json:"deny,omitempty" jsonschema:"destinations that are refused before any trust"`
	RequireApproval     bool                `json:"require_approval,omitempty" jsonschema:"a person is asked about every call"`
	Extends             bool                `json:"extends,omitempty" jsonschema:"it adds to the rule that it stands over, and does not replace it"`
	Reads               *ObjectView         `json:"reads,omitempty" jsonschema:"the tool reads what strangers may not"`
	Public              *ObjectView         `json:"public,omitempty" jsonschema:"strangers can read what it writes"`
	Results             []ResultView        `json:"results,omitempty" jsonschema:"labelled fields of the tool's answer"`
	Why                 string              `json:"why"`
	Position            string              `json:"position,omitempty"`
}

// SinkView is what a rule says of one destination.
type SinkView struct {
	Args     []string `json:"args" jsonschema:"several are parts of one destination"`
	Kind     string   `json:"kind,omitempty"`
	Optional bool     `json:"optional,omitempty" jsonschema:"a call without it sends nothing"`
	Absent   string   `json:"absent,omitempty" jsonschema:"where a call without it goes"`
}

// ConsequenceView says what a consequential tool may act on.
type ConsequenceView struct {
	Named []string `json:"named,omitempty" jsonschema:"arguments that the user must have named"`
	Own   []string `json:"own,omitempty" jsonschema:"arguments that nobody else may dictate"`
}

// ObjectView is what a call reads or writes into.
type ObjectView struct {
	Object []string            `json:"object" jsonschema:"arguments that name it together; empty when it cannot be told"`
	Unless map[string][]string `json:"unless,omitempty" jsonschema:"arguments that keep a write from strangers"`
}

// ResultView is a labelled field of an answer.
type ResultView struct {
	Path  string `json:"path"`
	Label string `json:"label"`
	Kind  string `json:"kind,omitempty"`
}

// PackView is a built-in pack, for reading.
type PackView struct {
	Name     string   `json:"name"`
	Packages []string `json:"packages" jsonschema:"packages and images that it is for, as they stand in a client's config"`
	Reports  []string `json:"reports,omitempty" jsonschema:"what these servers call themselves; may only tighten"`
	Tools    []Rule   `json:"tools"`
}

// UserView is the user's own policy, for reading.
type UserView struct {
	File         string      `json:"file,omitempty" jsonschema:"absent when there is no user policy"`
	CleanContext bool        `json:"clean_context,omitempty" jsonschema:"an unproven destination passes while nothing was read"`
	FirstUse     bool        `json:"first_use,omitempty" jsonschema:"an unproven destination passes if the agent named it before any server did"`
	Tools        []Rule      `json:"tools" jsonschema:"rules for every server"`
	Servers      []ScopeView `json:"servers" jsonschema:"rules for one server; they stand before those for every server"`
}

// ScopeView is the user's rules for one server.
type ScopeView struct {
	Server string `json:"server"`
	Tools  []Rule `json:"tools"`
}

// Policies is what bouncer_get_active_policies answers.
type Policies struct {
	Profile string     `json:"profile"`
	User    UserView   `json:"user"`
	Packs   []PackView `json:"packs"`
}

type policiesInput struct {
	PackName string `json:"pack_name,omitempty" jsonschema:"only this pack"`
}

func (s *Server) activePolicies(_ context.Context, _ *mcp.CallToolRequest, in policiesInput) (*mcp.CallToolResult, Policies, error) {
	set, profile, err := s.cfg.Policy()
	if err != nil {
		return nil, Policies{}, fmt.Errorf("the active policy cannot be loaded: %w", err)
	}
	out := Policies{Profile: string(profile), User: userView(set), Packs: []PackView{}}
	var names []string
	for _, p := range set.Packs {
		names = append(names, p.Name)
		if in.PackName == "" || in.PackName == p.Name || slices.Contains(p.Packages, in.PackName) {
			out.Packs = append(out.Packs, packView(p))
		}
	}
	if len(out.Packs) == 0 && in.PackName != "" {
		message := "no pack is called " + quoted(in.PackName)
		if near, ok := policy.Nearest(in.PackName, names); ok {
			message += fmt.Sprintf(" (did you mean %q?)", near)
		}
		return nil, Policies{}, errors.New(message)
	}
	return nil, out, nil
}

func packView(p policy.PackRules) PackView {
	return PackView{Name: p.Name, Packages: slices.Clone(p.Packages), Reports: p.Reports, Tools: ruleViews(p.Tools)}
}

func userView(set *policy.Set) UserView {
	out := UserView{File: visible(set.File), CleanContext: set.CleanContext, FirstUse: set.FirstUse, Tools: ruleViews(set.Tools), Servers: []ScopeView{}}
	for _, scope := range set.Scopes {
		out.Servers = append(out.Servers, ScopeView{Server: name(scope.Server), Tools: ruleViews(scope.Tools)})
	}
	return out
}

func ruleViews(rules map[string]policy.Rule) []Rule {
	out := []Rule{}
	for _, tool := range slices.Sorted(maps.Keys(rules)) {
		out = append(out, View(rules[tool]))
	}
	return out
}

// View shows a rule as it is written. Paths, patterns and values are the user's own text and stay whole.
func View(r policy.Rule) Rule {
	source := sourceOf(r)
	out := Rule{Tool: name(r.Tool), Exfiltrating: r.Exfiltrating, SinkParams: texts(r.SinkParams), TrustedDestinations: r.TrustedDestinations,
		WriteParams: texts(r.WriteParams), AllowedPathPrefixes: r.AllowedPathPrefixes, MaxCalls: r.MaxCalls, Content: texts(r.Content),
		Intent: r.Intent, Fetch: r.Fetch, Verbatim: string(r.Verbatim), OnTainted: string(r.OnTainted), OnUnproven: string(r.OnUnproven),
		Deny: r.Deny, RequireApproval: r.RequireApproval, Extends: r.Extends, Why: source.Why, Position: source.Position}
	for _, s := range r.Sinks {
		out.Sinks = append(out.Sinks, SinkView{Args: texts(s.Args), Kind: string(s.Kind), Optional: s.Optional, Absent: visible(s.Absent)})
	}
	for _, f := range r.Results {
		out.Results = append(out.Results, ResultView{Path: f.Path.String(), Label: string(f.Label), Kind: string(f.Kind)})
	}
	out.Reads, out.Public = objectView(r.Reads), objectView(r.Public)
	if c := r.Consequence; c != nil {
		out.Consequence = &ConsequenceView{Named: texts(c.Named), Own: texts(c.Own)}
	}
	for _, p := range r.ArgPatterns {
		if out.ArgPatterns == nil {
			out.ArgPatterns = map[string]string{}
		}
		out.ArgPatterns[p.Param.String()] = p.Source
	}
	for _, v := range r.ArgValues {
		if out.ArgValues == nil {
			out.ArgValues = map[string][]string{}
		}
		out.ArgValues[v.Param.String()] = v.Values
	}
	return out
}

func objectView(o *policy.Object) *ObjectView {
	if o == nil {
		return nil
	}
	out := &ObjectView{Object: texts(o.Args)}
	for _, v := range o.Unless {
		if out.Unless == nil {
			out.Unless = map[string][]string{}
		}
		out.Unless[v.Param.String()] = v.Values
	}
	return out
}
