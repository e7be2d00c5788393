package mcpserver

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// maxCompletions is what the protocol allows in one answer.
const maxCompletions = 100

var riskLevels = []string{string(policy.Standard), string(policy.Strict), string(policy.Paranoid)}

// complete suggests values for the arguments of the prompts and of the audit template. What it does not know it has no
// suggestions for; that is no error.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	if req.Params == nil || req.Params.Ref == nil {
		return nil, invalid("completion needs a ref")
	}
	argument, typed := req.Params.Argument.Name, req.Params.Argument.Value
	var candidates []string
	prefix := ""
	switch ref := req.Params.Ref; {
	case ref.Type == "ref/prompt" && argument == "server_name":
		if i := strings.LastIndexByte(typed, ','); i >= 0 && ref.Name == promptGenerate {
			prefix, typed = typed[:i+1], strings.TrimLeft(typed[i+1:], " ")
		}
		candidates = s.serverNames(ctx)
	case ref.Type == "ref/prompt" && argument == "risk_level":
		candidates = riskLevels
	case ref.Type == "ref/resource" && ref.URI == uriEntry && argument == "id":
		candidates = s.recentIDs(ctx)
	}
	values := []string{}
	for _, c := range candidates {
		if strings.HasPrefix(strings.ToLower(c), strings.ToLower(typed)) {
			values = append(values, prefix+c)
		}
	}
	total := len(values)
	values = values[:min(total, maxCompletions)]
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: total, HasMore: total > len(values)}}, nil
}

// serverNames returns packs, then their packages, then servers that the policy or the log knows.
func (s *Server) serverNames(ctx context.Context) []string {
	var packs, rest []string
	if set, _, err := s.cfg.Policy(); err == nil {
		for _, p := range set.Packs {
			packs = append(packs, p.Name)
			rest = append(rest, p.Packages...)
		}
		for _, scope := range set.Scopes {
			rest = append(rest, name(scope.Server))
		}
	}
	if t, err := s.log.read(ctx); err == nil {
		seen := map[string]bool{}
		for key := range t.counts {
			seen[key.server] = key.server != "" && key.server != others
		}
		for _, server := range slices.Sorted(maps.Keys(seen)) {
			if seen[server] && !strings.Contains(server, ",") {
				rest = append(rest, server)
			}
		}
	}
	out := packs
	for _, r := range rest {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// recentIDs returns the ids of the latest calls, latest first.
func (s *Server) recentIDs(ctx context.Context) []string {
	t, err := s.log.read(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for _, line := range slices.Backward(t.last) {
		if !slices.Contains(out, line.ID) && entryID.MatchString(line.ID) {
			out = append(out, line.ID)
		}
	}
	return out
}
