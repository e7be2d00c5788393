package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	uriBuiltin   = "bouncer://policies/builtin"
	uriEffective = "bouncer://policies/effective"
	uriSummary   = "bouncer://audit/summary"
	uriEntry     = "bouncer://audit/{id}"
	uriEntryBase = "bouncer://audit/"
	mimeJSON     = "application/json"
)

func (s *Server) addResources() {
	s.mcp.AddResource(&mcp.Resource{URI: uriBuiltin, Name: "builtin-policies", Title: "Built-in policies", MIMEType: mimeJSON,
		Description: "The built-in packs with a rule for each tool that they know, and the schema of a rule."},
		resource(func(context.Context, string) (any, error) { return s.builtin() }))
	s.mcp.AddResource(&mcp.Resource{URI: uriEffective, Name: "effective-policy", Title: "Effective policy", MIMEType: mimeJSON,
		Description: "The profile, the user's own rules with their places, and the packs that stand below them."},
		resource(func(context.Context, string) (any, error) { return s.effective() }))
	s.mcp.AddResource(&mcp.Resource{URI: uriSummary, Name: "audit-summary", Title: "Audit summary", MIMEType: mimeJSON,
		Description: "Counts of the verdicts in the audit log, and the latest of them."},
		resource(func(ctx context.Context, _ string) (any, error) { return s.summary(ctx, defaultRecent) }))
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: uriEntry, Name: "audit-entry", Title: "Audit entry", MIMEType: mimeJSON,
		Description: "Every line of the audit log about one call, with its evidence and without its arguments."},
		resource(s.entryResource))
}

// resource answers a read with what get returns, as JSON.
func resource(get func(ctx context.Context, uri string) (any, error)) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		value, err := get(ctx, req.Params.URI)
		if err != nil {
			return nil, err
		}
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: mimeJSON, Text: string(text)}}}, nil
	}
}

// Builtin is the resource bouncer://policies/builtin.
type Builtin struct {
	Packs      []PackView      `json:"packs"`
	RuleSchema json.RawMessage `json:"rule_schema"`
}

func (s *Server) builtin() (Builtin, error) {
	set, _, err := s.cfg.Policy()
	if err != nil {
		return Builtin{}, err
	}
	out := Builtin{Packs: []PackView{}, RuleSchema: json.RawMessage(ruleSchema)}
	for _, p := range set.Packs {
		out.Packs = append(out.Packs, packView(p))
	}
	return out, nil
}

// Effective is the resource bouncer://policies/effective.
type Effective struct {
	Profile string   `json:"profile"`
	User    UserView `json:"user"`
	Packs   []string `json:"packs"`
	Layers  []string `json:"layers"`
}

func (s *Server) effective() (Effective, error) {
	set, profile, err := s.cfg.Policy()
	if err != nil {
		return Effective{}, err
	}
	out := Effective{Profile: string(profile), User: userView(set), Packs: []string{}, Layers: []string{
		"user: a rule for this server, then a rule for every server; it replaces the others",
		"pack: by the package in the client's config, with what heuristics find in arguments that the pack does not know",
		"heuristic: from the tool's name and schema, tightened by packs that know a tool of this name"}}
	for _, p := range set.Packs {
		out.Packs = append(out.Packs, p.Name)
	}
	return out, nil
}

var entryID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (s *Server) entryResource(ctx context.Context, uri string) (any, error) {
	id := strings.TrimPrefix(uri, uriEntryBase)
	if !entryID.MatchString(id) {
		return nil, mcp.ResourceNotFoundError(visible(uri))
	}
	entry, err := s.entry(ctx, id)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entry.Lines) == 0 {
		return nil, mcp.ResourceNotFoundError(visible(uri))
	}
	return entry, err
}

// ruleSchema describes one tool's rule in a policy file, as JSON Schema.
const ruleSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "The rule for one tool",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "exfiltrating": {"type": "boolean", "description": "the tool carries values out of the machine: its destinations are judged"},
    "sink_params": {"type": "array", "items": {"type": "string"}, "description": "arguments that name destinations: to, message.to, attendees[].email; without any, every argument is one"},
    "trusted_destinations": {"type": "array", "items": {"type": "string"}, "description": "an exact value, @domain, or a URL prefix"},
    "write_params": {"type": "array", "items": {"type": "string"}, "description": "path arguments that allowed_path_prefixes confines"},
    "allowed_path_prefixes": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "directories that those paths must stay in, links followed"},
    "arg_patterns": {"type": "object", "additionalProperties": {"type": "string"}, "description": "a regular expression (RE2) that the whole argument must match"},
    "arg_values": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": ["string", "number", "boolean"]}, "minItems": 1}, "description": "the values that an argument may have"},
    "max_calls": {"type": "integer", "minimum": 0, "description": "calls that a session may attempt, denied ones too"}
  }
}`
