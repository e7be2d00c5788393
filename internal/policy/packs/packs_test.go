package packs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
	"github.com/mcp-bouncer/bouncer/internal/policy/policytest"
)

// captured says which package each captured tool list is of, for the lists that a pack is for.
var captured = map[string]string{
	"filesystem":         "@modelcontextprotocol/server-filesystem",
	"gmail-gongrzhe":     "@gongrzhe/server-gmail-autoauth-mcp",
	"gmail-shinzo":       "@shinzolabs/gmail-mcp",
	"email-codefuturist": "@codefuturist/email-mcp",
	"mail-server":        "mcp-mail-server",
	"email-send":         "@skanda-yutori/mcp-send-email",
	"resend":             "resend-mcp",
	"slack-official":     "@modelcontextprotocol/server-slack",
	"zencoder-slack":     "@zencoderai/slack-mcp-server",
	"github-old":         "@modelcontextprotocol/server-github",
	"github-official-go": "ghcr.io/github/github-mcp-server",
	"gdrive-official":    "@modelcontextprotocol/server-gdrive",
	"gdrive-isaacphi":    "@isaacphi/mcp-gdrive",
	"google-docs":        "@a-bonus/google-docs-mcp",
	"fetch-zcaceres":     "fetch-mcp",
	"fetcher":            "fetcher-mcp",
}

// uncaptured are tools of servers that there is no tool list of: their arguments are not checked.
var uncaptured = map[string]bool{"bash": true, "http/fetch": true, "http/fetch_html": true, "http/fetch_markdown": true, "http/fetch_txt": true, "http/fetch_json": true}

func TestEveryPackLoads(t *testing.T) {
	var names []string
	owner := map[string]string{}
	for _, p := range packs.All() {
		names = append(names, p.Name)
		if text, ok := packs.Source(p.Name); !ok || !strings.Contains(text, "pack: "+p.Name) {
			t.Errorf("pack %s is not in a file of its name", p.Name)
		}
		for _, id := range p.Packages {
			if owner[id] != "" {
				t.Errorf("package %s is in packs %s and %s", id, owner[id], p.Name)
			}
			owner[id] = p.Name
		}
		for name, r := range p.Tools {
			if r.Layer != policy.Pack || r.Pack != p.Name || r.Tool != name || r.At.Line == 0 {
				t.Errorf("pack %s tool %s: layer %q, pack %q, tool %q at %v", p.Name, name, r.Layer, r.Pack, r.Tool, r.At)
			}
		}
	}
	for _, want := range []string{"bash", "filesystem", "gdrive", "github", "gmail", "http", "slack"} {
		if !slices.Contains(names, want) {
			t.Errorf("no pack %s in %v", want, names)
		}
	}
	if _, ok := packs.Source("nothing"); ok {
		t.Error("there is a pack called nothing")
	}
}

func packOf(t *testing.T, id string) policy.PackRules {
	t.Helper()
	for _, p := range packs.All() {
		if slices.Contains(p.Packages, id) {
			return p
		}
	}
	t.Fatalf("no pack for %s", id)
	return policy.PackRules{}
}

// A pack that does not know an argument of the server that it is for is a hole: the value there would be content.
func TestPacksKnowEveryArgument(t *testing.T) {
	checked := 0
	for _, s := range policytest.Servers(t) {
		id, ok := captured[s.File]
		if !ok {
			continue
		}
		pack := packOf(t, id)
		if !slices.Contains(pack.Reports, s.Reported) {
			t.Errorf("pack %s does not know that %s calls itself %q", pack.Name, s.File, s.Reported)
		}
		for _, tool := range s.Tools {
			rule, ok := pack.Tools[tool.Name]
			if !ok {
				t.Errorf("pack %s does not list %s of %s: write {} if it carries nothing out", pack.Name, tool.Name, s.File)
				continue
			}
			sinks, paths := policy.Shaped(tool)
			said := slices.Concat(rule.SinkParams, rule.Content, rule.WriteParams)
			for _, p := range slices.Concat(sinks, paths) {
				if !p.CoveredBy(said) {
					t.Errorf("pack %s, %s of %s: argument %s is neither declared nor content", pack.Name, tool.Name, s.File, p)
				}
				checked++
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d arguments were looked at", checked)
	}
}

// A pack that declares an argument which no server has judges nothing, and looks as if it did (D10).
func TestPacksDeclareOnlyWhatExists(t *testing.T) {
	lists := map[string][]policy.Tool{} // pack -> tools of every captured server that it is for
	for _, s := range policytest.Servers(t) {
		if id, ok := captured[s.File]; ok {
			name := packOf(t, id).Name
			lists[name] = append(lists[name], s.Tools...)
		}
	}
	for _, p := range packs.All() {
		for name, rule := range p.Tools {
			if uncaptured[p.Name] || uncaptured[p.Name+"/"+name] {
				continue
			}
			var has []policy.Tool
			for _, tool := range lists[p.Name] {
				if tool.Name == name {
					has = append(has, tool)
				}
			}
			if len(has) == 0 {
				t.Errorf("pack %s lists %s, which no captured server has", p.Name, name)
			}
			for _, param := range slices.Concat(rule.SinkParams, rule.Content, rule.WriteParams) {
				if !slices.ContainsFunc(has, func(tool policy.Tool) bool { return policy.HasArgument(tool, param) }) {
					t.Errorf("pack %s: %s has no argument %s on any captured server", p.Name, name, param)
				}
			}
		}
	}
}

// For the servers that they are for, packs decide alone: heuristics find nothing that they have not spoken of.
func TestHeuristicsAddNothingToPacks(t *testing.T) {
	set := (&policy.Set{}).WithPacks(packs.All())
	for _, s := range policytest.Servers(t) {
		id, ok := captured[s.File]
		if !ok {
			continue
		}
		for _, tool := range s.Tools {
			rule := set.Rule(policy.Server{Name: "x", Identity: []string{id}}, tool)
			own := packOf(t, id).Tools[tool.Name]
			if rule.Layer != policy.Pack || rule.Why != own.Why || rule.Exfiltrating != own.Exfiltrating || len(rule.SinkParams) != len(own.SinkParams) {
				t.Errorf("%s of %s: %+v is not what the pack says: %+v", tool.Name, s.File, rule, own)
			}
		}
	}
}

// Spot checks by hand, so that a change of a pack is a decision.
func TestPackDecisions(t *testing.T) {
	two := 2
	cases := []struct {
		pack, tool string
		exf        bool
		sinks      string
		writes     string
		budget     *int
	}{
		{"gmail", "send_email", true, "to cc bcc", "", nil},
		{"gmail", "send_message", true, "to cc bcc raw", "", nil},
		{"gmail", "create_filter", true, "action.forward", "", nil},
		{"gmail", "add_delegate", true, "delegateEmail", "", nil},
		{"gmail", "update_auto_forwarding", true, "emailAddress", "", nil},
		{"gmail", "read_email", false, "", "", nil},
		{"gmail", "delete_email", false, "", "", &two},
		{"gmail", "send_draft", true, "", "", nil},
		{"gmail", "download_attachment", false, "", "savePath filename", nil},
		{"slack", "slack_post_message", true, "channel_id", "", nil},
		{"slack", "slack_get_channel_history", false, "", "", nil},
		{"github", "create_issue", true, "owner repo", "", nil},
		{"github", "push_files", true, "owner repo", "", nil},
		{"github", "create_gist", true, "", "", nil},
		{"github", "get_file_contents", false, "", "", nil},
		{"github", "delete_repository", false, "", "", &two},
		{"gdrive", "setFilePermission", true, "emailAddress domain", "", nil},
		{"gdrive", "createEvent", true, "attendees[].email", "", nil},
		{"gdrive", "search", false, "", "", nil},
		{"filesystem", "write_file", false, "", "path", nil},
		{"filesystem", "move_file", false, "", "source destination", nil},
		{"filesystem", "read_file", false, "", "", nil},
		{"http", "fetch", true, "url", "", nil},
		{"http", "fetch_urls", true, "urls", "", nil},
		{"bash", "execute_command", true, "command cmd args", "", nil},
		{"email", "reply_email", true, "", "", nil},
		{"email", "configure_alerts", true, "webhook_url", "", nil},
		{"resend", "create-webhook", true, "endpoint", "", nil},
	}
	byName := map[string]policy.PackRules{}
	for _, p := range packs.All() {
		byName[p.Name] = p
	}
	for _, c := range cases {
		r, ok := byName[c.pack].Tools[c.tool]
		if !ok {
			t.Errorf("pack %s has no %s", c.pack, c.tool)
			continue
		}
		if r.Exfiltrating != c.exf || join(r.SinkParams) != c.sinks || join(r.WriteParams) != c.writes {
			t.Errorf("%s %s: exfiltrating %v, sinks %q, writes %q", c.pack, c.tool, r.Exfiltrating, join(r.SinkParams), join(r.WriteParams))
		}
		if (r.MaxCalls == nil) != (c.budget == nil) || r.MaxCalls != nil && *r.MaxCalls != *c.budget {
			t.Errorf("%s %s: budget %v", c.pack, c.tool, r.MaxCalls)
		}
	}
}

func join(params []policy.Param) string {
	var out []string
	for _, p := range params {
		out = append(out, p.String())
	}
	return strings.Join(out, " ")
}
