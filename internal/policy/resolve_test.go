package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/policy/policytest"
)

const testPack = `
pack: mail
packages: ["@x/mail", mail-image]
reports: [Mail]
tools:
  send_email: {exfiltrating: true, sink_params: [to, cc], content: [subject, replyUrl]}
  reply: {exfiltrating: true, content: [id, text]}
  read_email: {content: [url]}
  wipe: {max_calls: 1, content: [folder]}
  save: {write_params: [path]}
  delete_file: {exfiltrating: true, sink_params: [owner, repo], content: [path]}
`

func setOf(t *testing.T, user string) *policy.Set {
	t.Helper()
	s, err := load.Bytes("p.yaml", []byte(user))
	if err != nil {
		t.Fatal(err)
	}
	p, err := load.PackBytes("mail.yaml", []byte(testPack))
	if err != nil {
		t.Fatal(err)
	}
	return s.WithPacks([]policy.PackRules{p})
}

var (
	known    = policy.Server{Name: "gmail", Identity: []string{"@x/mail"}}
	reported = policy.Server{Name: "gmail", Identity: []string{"node"}, Reported: "Mail"}
	unknown  = policy.Server{Name: "gmail", Identity: []string{"other"}}
)

func TestLayers(t *testing.T) {
	cases := []struct {
		name   string
		user   string
		server policy.Server
		tool   string
		args   []string
		layer  policy.Layer
		sinks  string
	}{
		{"pack by identity", "", known, "send_email", []string{"to", "cc", "subject"}, policy.Pack, "to cc"},
		{"pack by image", "", policy.Server{Identity: []string{"mail-image"}}, "send_email", []string{"to"}, policy.Pack, "to cc"},
		{"pack knows a tool to be nothing", "", known, "read_email", []string{"url"}, policy.Pack, "-"},
		{"pack has no such tool", "", known, "post", []string{"channel"}, policy.Heuristic, "channel"},
		{"a new version has a recipient more", "", known, "send_email", []string{"to", "bcc", "replyUrl"}, policy.Pack, "to cc bcc"},
		{"a new version of a reader fetches", "", known, "read_email", []string{"url", "avatar_url"}, policy.Pack, "avatar_url"},
		{"serverInfo cannot loosen", "", reported, "read_email", []string{"url"}, policy.Heuristic, "url"},
		{"serverInfo can tighten", "", reported, "reply", []string{"id", "text"}, policy.Heuristic, "?"},
		{"serverInfo adds sinks", "", reported, "send_email", []string{"cc", "bcc"}, policy.Heuristic, "cc bcc"},
		{"a name alone is no match", "", unknown, "wipe", []string{"other"}, policy.Heuristic, "-"},
		{"another server's tool of this name", "", unknown, "delete_file", []string{"path"}, policy.Heuristic, "-"},
		{"name and arguments tighten", "", unknown, "delete_file", []string{"path", "repo"}, policy.Heuristic, "repo"},
		{"user replaces the pack", "send_email: {exfiltrating: true, sink_params: [bcc]}", known, "send_email", []string{"to", "bcc"}, policy.User, "bcc"},
		{"user can switch off", "send_email: {}", known, "send_email", []string{"to"}, policy.User, "-"},
		{"scope by name", "version: 1\nservers: {gmail: {tools: {send_email: {exfiltrating: true, sink_params: [x]}}}}\ntools: {send_email: {}}", known, "send_email", []string{"to"}, policy.User, "x"},
		{"scope by package", "version: 1\nservers: {'@x/mail': {tools: {send_email: {exfiltrating: true, sink_params: [x]}}}}\ntools: {send_email: {}}", known, "send_email", []string{"to"}, policy.User, "x"},
		{"name before package", "version: 1\nservers: {'@x/mail': {tools: {send_email: {}}}, gmail: {tools: {send_email: {exfiltrating: true, sink_params: [x]}}}}", known, "send_email", []string{"to"}, policy.User, "x"},
		{"another server's scope", "version: 1\nservers: {slack: {tools: {send_email: {}}}}", known, "send_email", []string{"to"}, policy.Pack, "to cc"},
		{"a scope is not matched by serverInfo", "version: 1\nservers: {Mail: {tools: {send_email: {}}}}", reported, "send_email", []string{"to"}, policy.Heuristic, "to"},
		{"names are exact", "Send_Email: {}", known, "send_email", []string{"to"}, policy.Pack, "to cc"},
	}
	for _, c := range cases {
		r := setOf(t, c.user).Rule(c.server, policytest.Tool(t, c.tool, schemaOf(c.args...)))
		if r.Layer != c.layer || sinkString(r) != c.sinks {
			t.Errorf("%s: layer %s, sinks %s; want %s, %s (%s)", c.name, r.Layer, sinkString(r), c.layer, c.sinks, r.Why)
		}
	}
}

func TestBudgetsTighten(t *testing.T) {
	s := setOf(t, "")
	budget := func(server policy.Server, tool string, args ...string) int {
		if m := s.Rule(server, policytest.Tool(t, tool, schemaOf(args...))).MaxCalls; m != nil {
			return *m
		}
		return -1
	}
	if got := budget(known, "wipe", "folder"); got != 1 {
		t.Errorf("by identity: %d", got)
	}
	if got := budget(reported, "wipe", "folder"); got != 1 {
		t.Errorf("by serverInfo, stricter than the heuristics' 2: %d", got)
	}
	if got := budget(unknown, "wipe", "x"); got != 2 {
		t.Errorf("heuristics alone: %d", got)
	}
}

func TestUnreadableSchemaBeatsThePack(t *testing.T) {
	r := setOf(t, "").Rule(known, policy.Tool{Name: "read_email"})
	if sinkString(r) != "?" || len(r.Content) > 0 {
		t.Errorf("%+v", r)
	}
}

// Resolving must not write into the rules that all servers share.
func TestResolvingLeavesTheSetAlone(t *testing.T) {
	s := setOf(t, "")
	tool := policytest.Tool(t, "send_email", schemaOf("to", "bcc"))
	s.Rule(known, tool)
	s.Rule(reported, tool)
	if got := paramString(s.Packs[0].Tools["send_email"].SinkParams); got != "to cc" {
		t.Errorf("the pack now says %s", got)
	}
}

// Prefixes that name no argument confine what looks like a path, and everything when nothing does.
func TestPrefixesAlwaysConfine(t *testing.T) {
	user := "save: {allowed_path_prefixes: [./out]}\nload: {allowed_path_prefixes: [./in], write_params: [x]}\n"
	cases := []struct {
		tool, schema, want string
	}{
		{"save", schemaOf("path", "content", "outputFile"), "path outputFile"},
		{"save", schemaOf("content"), "*"},
		{"save", "", "*"},
		{"load", schemaOf("path", "x"), "x"},
	}
	for _, c := range cases {
		r := setOf(t, user).Rule(unknown, policytest.Tool(t, c.tool, c.schema))
		if got := paramString(r.WriteParams); got != c.want {
			t.Errorf("%s %s: confines %s, want %s", c.tool, c.schema, got, c.want)
		}
	}
	all := policy.EveryArgument.Select(policytest.Value(t, `{"a":"x","b":{"c":["y"]}}`))
	var paths []string
	for _, s := range all {
		paths = append(paths, s.Path())
	}
	if want := []string{"a name in a", "a", "a name in b", "a name in b.c", "b.c[0]"}; !slices.Equal(paths, want) {
		t.Errorf("every argument is %q, want %q", paths, want)
	}
}

func TestZeroSetJudgesByHeuristics(t *testing.T) {
	r := (&policy.Set{}).Rule(policy.Server{}, policytest.Tool(t, "send", schemaOf("to")))
	if r.Layer != policy.Heuristic || sinkString(r) != "to" {
		t.Errorf("%+v", r)
	}
}

func TestWarnings(t *testing.T) {
	tools := []policy.Tool{
		policytest.Tool(t, "send_email", schemaOf("to", "cc", "subject")),
		policytest.Tool(t, "post_note", schemaOf("channel", "text")),
		policytest.Tool(t, "wipe", schemaOf("folder")),
		policytest.Tool(t, "save", schemaOf("path", "content")),
		policytest.Tool(t, "lost", `{}`),
	}
	cases := []struct{ name, user, want string }{
		{"nothing to say", "send_email: {exfiltrating: true, sink_params: [to, cc]}", ""},
		{"a gate is lost", "send_email: {trusted_destinations: [a@b.example]}",
			"p.yaml:1:1: tool \"send_email\": this entry switches the sink gate off: without it, \"to\", \"cc\" would be judged (pack mail). to keep that, add `exfiltrating: true` and `sink_params: [to, cc]`"},
		{"a heuristic gate is lost", "post_note: {max_calls: 3}",
			"p.yaml:1:1: tool \"post_note\": this entry switches the sink gate off: without it, \"channel\" would be judged (heuristics). to keep that, add `exfiltrating: true` and `sink_params: [channel]`"},
		{"one sink is lost", "send_email: {exfiltrating: true, sink_params: [to]}",
			`p.yaml:1:1: tool "send_email": this entry does not judge "cc", which pack mail would. to keep it, add it to sink_params`},
		{"every argument is more than the pack's", "send_email: {exfiltrating: true}", ""},
		{"sinks without the switch", "save: {sink_params: [path]}",
			`p.yaml:1:1: tool "save": sink_params and trusted_destinations judge nothing without exfiltrating: true`},
		{"a budget is lost", "wipe: {arg_values: {folder: [tmp]}}",
			`p.yaml:1:1: tool "wipe": this entry takes away the call budget of pack mail. to keep it, add max_calls: 1`},
		{"an argument that is not there", "send_email: {exfiltrating: true, sink_params: [to, cc, recipent], arg_values: {subjct: [x]}}",
			"p.yaml:1:1: tool \"send_email\": it has no argument \"recipent\"\np.yaml:1:1: tool \"send_email\": it has no argument \"subjct\" (did you mean \"subject\"?)"},
		{"prefixes alone", "save: {allowed_path_prefixes: [./out]}",
			`p.yaml:1:1: tool "save": allowed_path_prefixes without write_params confines "path"`},
		{"a tool that is not there, with one like it", "sendEmail: {}",
			`p.yaml:1:1: server "gmail" lists no tool "sendEmail", so this entry does nothing here (did you mean "send_email"?)`},
		{"tools of other servers", "one_thing: {}\nquite_another: {}",
			`p.yaml:1:1: server "gmail" lists no tool "one_thing", "quite_another": fine when the entries are for another server`},
		{"a host that strangers share", "send_email: {exfiltrating: true, sink_params: [to, cc], trusted_destinations: [\"https://github.com/\", \"https://github.com/acme/\"]}",
			"p.yaml:1:1: tool \"send_email\": trusted_destinations: \"https://github.com/\" is a host that many strangers share, so it covers nothing below it. name a path: \"https://github.com/your-name/\""},
		{"what lets pass", "version: 1\nfirst_use: allow\nclean_context: allow\ntools:\n  send_email: {exfiltrating: true, sink_params: [to, cc], on_unproven: allow, on_tainted: allow, verbatim: allow}",
			"p.yaml:1:1: clean_context: allow lets destinations that nobody vouched for pass unasked until the first answer of a server\n" +
				"p.yaml:1:1: first_use: allow lets destinations pass unasked that the agent named before any server did\n" +
				"p.yaml:5:3: tool \"send_email\": on_tainted: allow lets destinations that came from untrusted data pass unasked\n" +
				"p.yaml:5:3: tool \"send_email\": on_unproven: allow lets destinations that nobody vouched for pass unasked\n" +
				"p.yaml:5:3: tool \"send_email\": verbatim: allow lets links that stand in untrusted data pass unasked"},
		{"a scoped tool that is not there", "version: 1\nservers:\n  '@x/mail':\n    tools:\n      one_thing: {}\n",
			`p.yaml:5:7: server "gmail" lists no tool "one_thing", so this entry does nothing`},
		{"another server's scope", "version: 1\nservers: {slack: {tools: {one_thing: {}}}}", ""},
		{"a schema that says nothing", "lost: {exfiltrating: true, sink_params: [zzz]}",
			`p.yaml:1:1: tool "lost": its input schema names no arguments and allows any, so argument names cannot be checked`},
		{"in file order", "save: {sink_params: [path]}\npost_note: {}\n",
			"p.yaml:1:1: tool \"save\": sink_params and trusted_destinations judge nothing without exfiltrating: true\n" +
				"p.yaml:2:1: tool \"post_note\": this entry switches the sink gate off: without it, \"channel\" would be judged (heuristics). to keep that, add `exfiltrating: true` and `sink_params: [channel]`"},
	}
	for _, c := range cases {
		if got := strings.Join(setOf(t, c.user).Warnings(known, tools), "\n"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestWarningsQuoteWhatServersChose(t *testing.T) {
	tool := policytest.Tool(t, "x", schemaOf("to\x1b[2J"))
	for _, line := range setOf(t, "x: {max_calls: 1}").Warnings(unknown, []policy.Tool{tool}) {
		if strings.Contains(line, "\x1b") {
			t.Errorf("%q", line)
		}
	}
}
