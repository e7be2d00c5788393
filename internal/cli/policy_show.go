package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/mcpserver"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// showFlags say whose rules are shown.
type showFlags struct {
	runFlags
	lists []string // files with a captured tools/list
	tool  string
	json  bool
}

func newPolicyShow() *cobra.Command {
	f := showFlags{runFlags: runFlags{audit: "required", maxFrame: jsonrpc.DefaultLimit, askTimeout: time.Minute}}
	f.log.keep = 1
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the effective rules of a server, and where each comes from",
		Long: `Print, for each tool of a server, the rule that decides about it, where that rule stands, and what it makes of each
argument: a destination, text that goes along, a path, or nothing.

The server is started, asked for its tools, and stopped again; --tools takes a captured tools/list instead.`,
		Example: `  bouncer policy show --name files -- npx -y @modelcontextprotocol/server-filesystem /tmp
  bouncer policy show --config .mcp.json --upstream-name mail --policy mine.yaml
  bouncer policy show --tools tools.json --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.show(cmd.Context(), cmd.OutOrStdout(), cmd.ArgsLenAtDash(), args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "client config `FILE` that has the server")
	flags.StringVar(&f.upstreamName, "upstream-name", "", "`NAME` of the server in that file")
	flags.StringVar(&f.name, "name", "", "`NAME` of the server whose command line stands after --, or whose tools --tools has")
	flags.StringVar(&f.policy, "policy", "", "policy `FILE` (default: policy.yaml in the Bouncer home, if it is there)")
	flags.StringVar(&f.profile, "profile", "", "strict, standard or paranoid (default: what the policy says, else standard)")
	flags.StringArrayVar(&f.lists, "tools", nil, "`FILE` with a captured tools/list; may be repeated, each is a server named like its file")
	flags.StringVar(&f.tool, "tool", "", "only the tool of this `NAME`")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// shown is one server's effective rules.
type shown struct {
	Server   string         `json:"server"`
	Identity []string       `json:"identity"`
	Reported string         `json:"reported,omitempty"`
	Profile  policy.Profile `json:"profile"`
	Policy   string         `json:"policy,omitempty"`
	Tools    []shownTool    `json:"tools"`
	Warnings []string       `json:"warnings"`
}

type shownTool struct {
	Rule      mcpserver.Rule  `json:"rule"`
	Layer     policy.Layer    `json:"layer"`
	Arguments []shownArgument `json:"arguments"`
	Schema    string          `json:"schema,omitempty"` // why the schema does not say every argument
}

type shownArgument struct {
	Name string          `json:"name"`
	Use  policy.Use      `json:"use"`
	Kind policy.SinkKind `json:"kind,omitempty"`
	Why  string          `json:"why"`
}

func (f showFlags) show(ctx context.Context, out io.Writer, dash int, args []string) error {
	set, profile, err := f.rules()
	if err != nil {
		return err
	}
	servers, err := f.servers(ctx, dash, args)
	if err != nil {
		return err
	}
	var all []shown
	found := f.tool == ""
	for _, s := range servers {
		all = append(all, f.effective(set, profile, s))
		found = found || len(all[len(all)-1].Tools) > 0
	}
	if !found {
		return fail(exitFailed, fmt.Errorf("no tool is called %q", f.tool))
	}
	if f.json {
		return printJSON(out, map[string]any{"version": 1, "servers": all})
	}
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		s.print(out)
	}
	return nil
}

// listed is a server and what it lists.
type listed struct {
	policy.Server
	tools []policy.Tool
}

func (f showFlags) servers(ctx context.Context, dash int, args []string) ([]listed, error) {
	if len(f.lists) == 0 {
		server, spec, err := f.server(dash, args)
		if err != nil {
			return nil, err
		}
		return listTools(ctx, server, spec)
	}
	files := append(f.lists, args...) // a pattern that the shell expanded
	if dash >= 0 || f.config != "" || f.name != "" && len(files) > 1 {
		return nil, fail(exitUsage, errors.New("--tools has the tools already; give either it or a server"), "bouncer policy show --help has examples")
	}
	var out []listed
	for _, path := range files {
		s, err := readList(path)
		if err != nil {
			return nil, fail(exitInvalid, err)
		}
		if f.name != "" {
			s.Name = f.name
		}
		out = append(out, s)
	}
	return out, nil
}

// maxList is how large a captured tools/list may be.
const maxList = 64 << 20

// readList reads a captured tools/list: a result, a message that holds one, or the list of tools alone.
func readList(path string) (listed, error) {
	file, err := os.Open(path)
	if err != nil {
		return listed{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxList+1))
	if err != nil {
		return listed{}, fmt.Errorf("read %s: %w", path, err)
	}
	if len(data) > maxList {
		return listed{}, fmt.Errorf("%s is larger than %d MiB", path, maxList>>20)
	}
	doc, err := jsonrpc.Decode(data)
	if err != nil {
		return listed{}, fmt.Errorf("%s: %w", path, err)
	}
	if result, ok := doc.Get("result"); ok {
		doc = result
	}
	s := listed{Server: policy.Server{Name: strings.TrimSuffix(filepath.Base(path), ".json")}}
	if info, ok := doc.Get("serverInfo"); ok {
		name, _ := info.Get("name")
		s.Reported = name.Text
	}
	tools := doc
	if doc.Kind == jsonrpc.Object {
		tools, _ = doc.Get("tools")
	}
	if tools.Kind != jsonrpc.Array {
		return listed{}, fmt.Errorf("%s holds no list of tools", path)
	}
	s.tools = toolsOf(tools.Elems)
	return s, nil
}

func (f showFlags) effective(set *policy.Set, profile policy.Profile, s listed) shown {
	out := shown{Server: s.Name, Identity: s.Identity, Reported: s.Reported, Profile: profile, Policy: set.File, Tools: []shownTool{}, Warnings: set.Warnings(s.Server, s.tools)}
	if out.Identity == nil {
		out.Identity = []string{}
	}
	if out.Warnings == nil {
		out.Warnings = []string{}
	}
	for _, tool := range s.tools {
		if f.tool != "" && tool.Name != f.tool {
			continue
		}
		rule, args, unreadable := set.Arguments(s.Server, tool)
		t := shownTool{Rule: mcpserver.View(rule), Layer: rule.Layer, Schema: unreadable, Arguments: []shownArgument{}}
		for _, a := range args {
			t.Arguments = append(t.Arguments, shownArgument{destination.Visible(a.Param.String(), 120), a.Use, a.Kind, destination.Visible(a.Why, 400)})
		}
		out.Tools = append(out.Tools, t)
	}
	return out
}

func (s shown) print(out io.Writer) {
	fmt.Fprintf(out, "server %s, profile %s", destination.Visible(s.Server, 80), s.Profile)
	if len(s.Identity) > 0 {
		fmt.Fprintf(out, ", known as %s", destination.Visible(strings.Join(s.Identity, ", "), 200))
	}
	fmt.Fprintln(out)
	for _, w := range s.Warnings {
		fmt.Fprintf(out, "warning: %s\n", w)
	}
	for _, t := range s.Tools {
		t.print(out)
	}
}

func (t shownTool) print(out io.Writer) {
	r := t.Rule
	fmt.Fprintf(out, "\n%s: %s\n  rule: %s", r.Tool, t.acts(), t.Layer)
	if r.Position != "" {
		fmt.Fprintf(out, " at %s", r.Position)
	}
	fmt.Fprintf(out, "; %s\n", r.Why)
	if t.Schema != "" {
		fmt.Fprintf(out, "  schema: %s\n", t.Schema)
	}
	width := 0
	for _, a := range t.Arguments {
		width = min(40, max(width, len(a.Name)))
	}
	for _, a := range t.Arguments {
		use := string(a.Use)
		if a.Kind != "" {
			use += " (" + string(a.Kind) + ")"
		}
		fmt.Fprintf(out, "  %-*s  %-15s %s\n", width, a.Name, use, a.Why)
	}
	for _, line := range t.rest() {
		fmt.Fprintf(out, "  %s\n", line)
	}
}

// acts says in words what the rule takes the tool for.
func (t shownTool) acts() string {
	var out []string
	switch {
	case t.Rule.Fetch:
		out = append(out, "fetches")
	case t.Rule.Exfiltrating:
		out = append(out, "sends values out")
	}
	if t.Rule.Consequence != nil {
		out = append(out, "changes things")
	}
	if t.Rule.RequireApproval {
		out = append(out, "asked about every time")
	}
	if out == nil {
		return "not judged by destination"
	}
	return strings.Join(out, ", ")
}

// rest is what a rule says beside its arguments, one line each.
func (t shownTool) rest() (out []string) {
	r := t.Rule
	add := func(key string, values ...string) {
		if text := strings.Join(values, ", "); text != "" {
			out = append(out, key+": "+text)
		}
	}
	add("trusted_destinations", r.TrustedDestinations...)
	add("deny", r.Deny...)
	add("allowed_path_prefixes", r.AllowedPathPrefixes...)
	for _, name := range sortedKeys(r.ArgPatterns) {
		add("arg_patterns", name+" matches "+r.ArgPatterns[name])
	}
	for _, name := range sortedKeys(r.ArgValues) {
		add("arg_values", name+" is one of "+strings.Join(r.ArgValues[name], ", "))
	}
	if r.MaxCalls != nil {
		add("max_calls", fmt.Sprint(*r.MaxCalls))
	}
	for _, f := range r.Results {
		add("results", strings.TrimSpace(fmt.Sprintf("%s is %s %s", f.Path, f.Label, f.Kind)))
	}
	add("on_tainted", r.OnTainted)
	add("on_unproven", r.OnUnproven)
	add("verbatim", r.Verbatim)
	if r.Exfiltrating || r.Consequence != nil {
		add("asked for by", r.Intent...)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
