package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// maxServers bounds a draft.
const maxServers = 20

func (s *Server) generate(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	args, err := argumentsOf(req, "server_name", "risk_level")
	if err != nil {
		return nil, err
	}
	level, err := policy.ParseProfile(args["risk_level"])
	if err != nil {
		return nil, invalid("risk_level must be standard, strict or paranoid")
	}
	set, _, err := s.cfg.Policy()
	if err != nil {
		return nil, fmt.Errorf("the active policy cannot be loaded: %w", err)
	}
	names, err := serversIn(args["server_name"])
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Write a Bouncer policy for %s at the risk level %s. Start from this draft, which Bouncer made from what it knows; "+
		"it is valid as it stands.\n\n```yaml\n%s```\n\n", quotedList(names), level, draft(set, names, level))
	for _, n := range names {
		if _, pack := named(set, n); pack == nil {
			fmt.Fprintf(&b, "- No pack knows %s. Ask for its tools/list, look at it with the prompt %s, and add a rule for every tool that sends, writes or deletes.\n", quoted(n), promptReview)
		}
	}
	b.WriteString(generateSteps[level])
	b.WriteString(generateRules)
	return prompt(fmt.Sprintf("Policy draft for %s (%s)", quotedList(names), level), b.String()), nil
}

var generateSteps = map[policy.Profile]string{
	policy.Standard: "- standard: what is tainted is denied, what is unproven is asked about. Add the destinations that the user sends to every day.\n",
	policy.Strict:   "- strict: as standard, and nothing is believed but the policy and the user's answers. Add few destinations, whole addresses rather than domains, and a budget for every tool that sends.\n",
	policy.Paranoid: "- paranoid: every call that sends is asked about, trusted or not. Add a budget of a few calls for every tool that sends or deletes, and confine every path.\n",
}

const generateRules = `
Ask the user, one question at a time, for what only they know:

1. Which addresses, domains, channels, repositories or sites may receive data without a question? They go into trusted_destinations as exact values, @domain, or a URL prefix. No wildcards.
2. Which directories may be written? They go into allowed_path_prefixes, as absolute paths.
3. Which tools should never run (max_calls: 0), or only so many times in a session?

Rules of the format: an entry replaces the pack's entry for its tool, so keep exfiltrating and every name in sink_params;
arg_patterns match the whole value and are RE2; it also stops Bouncer from judging arguments of a newer version that the
pack does not know, so compare it with the server's tools/list; unknown keys are errors. When done, call bouncer_verify_policy and mend
whatever it reports under errors or loosens, then try one call that must pass and one that must not with
bouncer_check_verdict. Show the file to the user: only they can put it in force, with bouncer run --policy FILE or as
policy.yaml in the Bouncer home.
`

func serversIn(text string) ([]string, error) {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	switch {
	case len(out) == 0:
		return nil, invalid("server_name names no server")
	case len(out) > maxServers:
		return nil, invalid("server_name names more than %d servers", maxServers)
	}
	return out, nil
}

// draft is a policy for the named servers: for each that a pack knows, what that pack says of the tools that send,
// write or delete, ready to be narrowed. It can be loaded as it is, and loosens nothing.
func draft(set *policy.Set, names []string, level policy.Profile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nprofile: %s\nservers:\n", level)
	scopes := 0
	for _, n := range names {
		server, pack := named(set, n)
		if pack == nil {
			continue
		}
		scope := n
		if n == pack.Name { // the scope has to be what the client's config says: the package, not our name for it
			scope = pack.Packages[0]
		} else if len(server.Identity) > 0 {
			scope = server.Identity[0]
		}
		if strings.Contains(b.String(), "\n  "+yamlName(scope)+":\n") {
			continue
		}
		scopes++
		fmt.Fprintf(&b, "  %s:\n    tools:\n", yamlName(scope))
		draftTools(&b, pack, level)
	}
	if scopes == 0 {
		return fmt.Sprintf("version: 1\nprofile: %s\nservers: {}\n", level)
	}
	return b.String()
}

func draftTools(b *strings.Builder, pack *policy.PackRules, level policy.Profile) {
	written := 0
	for _, tool := range slices.Sorted(maps.Keys(pack.Tools)) {
		r := pack.Tools[tool]
		if r.Exfiltrating && len(r.SinkParams) == 0 {
			fmt.Fprintf(b, "      # %s: sends, and names no destination. The pack's own rule stands: it asks each time.\n", yamlName(tool))
			continue
		}
		if !r.Exfiltrating && len(r.WriteParams) == 0 && r.MaxCalls == nil {
			continue
		}
		written++
		fmt.Fprintf(b, "      %s:\n", yamlName(tool))
		draftRule(b, r, level)
	}
	if written == 0 {
		b.WriteString("      {}\n")
	}
}

func draftRule(b *strings.Builder, r policy.Rule, level policy.Profile) {
	if r.Exfiltrating {
		fmt.Fprintf(b, "        exfiltrating: true\n        sink_params: %s\n", yamlList(r.SinkParams))
		b.WriteString("        # trusted_destinations: [\"@your-company.example\"]\n")
	}
	if len(r.WriteParams) > 0 {
		fmt.Fprintf(b, "        write_params: %s\n        # allowed_path_prefixes: [\"/absolute/directory\"]\n", yamlList(r.WriteParams))
	}
	if calls := budgetFor(r, level); calls > 0 {
		fmt.Fprintf(b, "        max_calls: %d\n", calls)
	}
}

// budgetFor is a pack's own budget, or what the level adds to a tool that sends; 0 is none.
func budgetFor(r policy.Rule, level policy.Profile) int {
	added := map[policy.Profile]int{policy.Strict: 20, policy.Paranoid: 5}[level]
	switch {
	case r.MaxCalls != nil && level == policy.Paranoid:
		return min(*r.MaxCalls, 1)
	case r.MaxCalls != nil:
		return *r.MaxCalls
	case r.Exfiltrating:
		return added
	}
	return 0
}

// plainYAML is a name that no YAML reader takes for anything but text.
var plainYAML = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

var yamlWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

func yamlName(s string) string {
	if plainYAML.MatchString(s) && !slices.Contains(yamlWords, strings.ToLower(s)) {
		return s
	}
	return string(jsonrpc.Quote(s))
}

func yamlList(params []policy.Param) string {
	var out []string
	for _, p := range params {
		out = append(out, yamlName(p.String()))
	}
	return "[" + strings.Join(out, ", ") + "]"
}
