package clientconfig

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is written, to the byte.
func TestWrapGolden(t *testing.T) {
	const own = `"run", "--config", "/cfg/mcp.json", "--upstream-name", "a", "--", `
	tests := []struct{ name, in, want string }{
		{"inline",
			`{"mcpServers": { "a": { "command": "x", "args": ["y", "z"] } }}`,
			`{"mcpServers": { "a": { "command": "/opt/bouncer dir/bouncer", "args": [` + own + `"x", "y", "z"], "x-bouncer-upstream": { "command": "x", "args": ["y", "z"] } } }}`},
		{"minified",
			`{"mcpServers":{"a":{"command":"x","args":["y"]}}}`,
			`{"mcpServers":{"a":{"command":"/opt/bouncer dir/bouncer","args":[` + strings.ReplaceAll(own, " ", "") + `"x","y"],"x-bouncer-upstream":{"command":"x","args":["y"]}}}}`},
		{"lines, no args, CRLF, comment",
			"{\"mcpServers\": {\r\n\t\"a\": {\r\n\t\t\"command\": \"x\" // why\r\n\t}\r\n}}",
			"{\"mcpServers\": {\r\n\t\"a\": {\r\n\t\t\"command\": \"/opt/bouncer dir/bouncer\",\r\n\t\t\"args\": [" + own + "\"x\"],\r\n\t\t\"x-bouncer-upstream\": {\r\n\t\t\"command\": \"x\" // why\r\n\t} // why\r\n\t}\r\n}}"},
		{"list over lines",
			"{\"mcpServers\": {\"a\": {\"args\": [\n  \"y\"\n], \"command\": \"\\u0078\"}}}",
			"{\"mcpServers\": {\"a\": {\"args\": [\n  " + strings.ReplaceAll(own, ", ", ",\n  ") + "\"\\u0078\",\n  \"y\"\n], \"command\": \"/opt/bouncer dir/bouncer\", \"x-bouncer-upstream\": {\"args\": [\n  \"y\"\n], \"command\": \"\\u0078\"}}}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, wrapText(t, tt.in)); diff != "" {
				t.Error(diff)
			}
			law(t, []byte(tt.in))
		})
	}
}

// D25: what the user changes in a wrapped entry survives the unwrapping.
func TestEditsSurviveUndo(t *testing.T) {
	const plain = `{"mcpServers": {"a": {"command": "npx", "args": ["-y", "pkg"], "env": {"K": "v"}}}}`
	const bare = `{"mcpServers": {"a": {"command": "npx"}}}`
	tests := []struct{ name, in, from, to, want string }{
		{"argument at the end", plain, `"pkg"], "env": {"K": "v"}, "x-`, `"pkg", "new"], "env": {"K": "v"}, "x-`,
			`{"mcpServers": {"a": {"command": "npx", "args": ["-y", "pkg", "new"], "env": {"K": "v"}}}}`},
		{"argument where there were none", bare, `"npx"], "x-`, `"npx", "new"], "x-`,
			`{"mcpServers": {"a": {"command": "npx", "args": ["new"]}}}`},
		{"all arguments removed", plain, `"npx", "-y", "pkg"], "env": {"K": "v"}, "x-`, `"npx",], "env": {"K": "v"}, "x-`,
			`{"mcpServers": {"a": {"command": "npx", "args": [], "env": {"K": "v"}}}}`},
		{"other command", plain, `"--", "npx"`, `"--", "/usr/bin/npx"`,
			`{"mcpServers": {"a": {"command": "/usr/bin/npx", "args": ["-y", "pkg"], "env": {"K": "v"}}}}`},
		{"variable added", plain, `{"K": "v"}, "x-`, `{"K": "v", "L": "w"}, "x-`,
			`{"mcpServers": {"a": {"command": "npx", "args": ["-y", "pkg"], "env": {"K": "v", "L": "w"}}}}`},
		{"variable changed", plain, `{"K": "v"}, "x-`, `{"K": "w"}, "x-`,
			`{"mcpServers": {"a": {"command": "npx", "args": ["-y", "pkg"], "env": {"K": "w"}}}}`},
		{"member behind the stash", bare, `{"command": "npx"}}`, `{"command": "npx"}, "timeout": 5}`,
			`{"mcpServers": {"a": {"command": "npx", "timeout": 5}}}`},
		{"bouncer's own flags", plain, `"--upstream-name"`, `"--policy", "p.yaml", "--upstream-name"`, plain},
		{"no command after --", plain, `, "--", "npx", "-y", "pkg"]`, `]`, plain},
		{"comment before the first argument", plain, `"npx", "-y"`, `"npx", /* mine */ "-y"`,
			`{"mcpServers": {"a": {"command": "npx", "args": [ /* mine */ "-y", "pkg"], "env": {"K": "v"}}}}`},
		{"comment before the stash", bare, `, "x-`, `/* mine */, "x-`, `{"mcpServers": {"a": {"command": "npx"/* mine */ }}}`},
		{"renamed server", plain, `"a": {"command": "/opt`, `"b": {"command": "/opt`, strings.Replace(plain, `"a"`, `"b"`, 1)},
		{"taken out by hand, stash left", bare, `"/opt/bouncer dir/bouncer", "args": ["run", "--config", "/cfg/mcp.json", "--upstream-name", "a", "--", "npx"]`, `"npx", "args": ["q"]`,
			`{"mcpServers": {"a": {"command": "npx", "args": ["q"]}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wrapped := wrapText(t, tt.in)
			edited := strings.Replace(wrapped, tt.from, tt.to, 1)
			if edited == wrapped {
				t.Fatalf("%s is not in %s", tt.from, wrapped)
			}
			if diff := cmp.Diff(tt.want, undoText(t, edited)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Clients write the file anew in their own order and style.
func TestUndoAfterTheClientRewrote(t *testing.T) {
	rewritten := `{"mcpServers":{"a":{"args":["run","--config","/c","--upstream-name","a","--","npx"],"x-bouncer-upstream":{"command":"npx"},"command":"/opt/bouncer dir/bouncer"}}}`
	if diff := cmp.Diff(`{"mcpServers":{"a":{"command":"npx"}}}`, undoText(t, rewritten)); diff != "" {
		t.Error(diff)
	}
	alone := `{"mcpServers":{"a":{"x-bouncer-upstream":{"command":"npx"},"command":"npx"}}}`
	if diff := cmp.Diff(`{"mcpServers":{"a":{"command":"npx"}}}`, undoText(t, alone)); diff != "" {
		t.Error(diff)
	}
}

func TestUndoWithoutStash(t *testing.T) {
	lost := `{"mcpServers":{"a":{"command":"/opt/bouncer dir/bouncer","args":["run","--name","--","--","npx","-y"]}}}`
	c := mustPlan(t, lost, undoOptions())
	if c.Entries[0].State != Skipped || c.Edits() != 0 {
		t.Errorf("not named, but %s", c.Entries[0].State)
	}
	o := undoOptions()
	o.Servers = []string{"a"}
	if diff := cmp.Diff(`{"mcpServers":{"a":{"command":"npx","args":["-y"]}}}`, string(mustPlan(t, lost, o).result())); diff != "" {
		t.Error(diff)
	}
}

func TestStates(t *testing.T) {
	const stash = `"x-bouncer-upstream": {"command": "x"}`
	tests := []struct {
		name, entry string
		want        State
		reason      string
	}{
		{"plain", `{"command": "x"}`, Wrapped, ""},
		{"type stdio", `{"type": "stdio", "command": "x"}`, Wrapped, ""},
		{"disabled", `{"command": "x", "disabled": true}`, Wrapped, ""},
		{"named like bouncer", `{"command": "/x/bouncer-mcp", "args": ["run"]}`, Wrapped, ""},
		{"bouncer, but not its proxy", `{"command": "bouncer", "args": ["serve"]}`, Wrapped, ""},
		{"this bouncer", `{"command": "/opt/bouncer dir/bouncer", "args": ["run", "--name", "a", "--", "x"], ` + stash + `}`, Already, ""},
		{"from the stash", `{"command": "bouncer", "args": ["run", "--config", "c", "--upstream-name", "a"], ` + stash + `}`, Already, "by another bouncer"},
		{"cannot start", `{"command": "/opt/bouncer dir/bouncer", "args": ["run", "--name", "a"]}`, Already, "cannot start"},
		{"looser policy", `{"command": "/opt/bouncer dir/bouncer", "args": ["run", "--policy=p.yaml", "--name", "a", "--", "x"]}`, Already, "with --policy=p.yaml"},
		{"a switch", `{"command": "/opt/bouncer dir/bouncer", "args": ["run", "--name", "a", "--no-args", "--", "x"]}`, Already, "with --no-args"},
		{"a switch hides no flag", `{"command": "/opt/bouncer dir/bouncer", "args": ["run", "--no-args", "--intent", "--name", "--policy", "p.yaml", "--name", "a", "--", "x"]}`, Already, "with --no-args --intent --name --policy p.yaml"},
		{"moved", `{"command": "C:\\old\\Bouncer.exe", "args": ["run", "--", "x"]}`, Already, "by another bouncer"},
		{"twice", `{"command": "/a/bouncer", "args": ["run", "--", "/b/bouncer", "run", "--", "x"]}`, Already, "wrapped twice"},
		{"the project's own bouncer", `{"command": "./tools/bouncer", "args": ["run", "--", "x"]}`, Skipped, "inside the project"},
		{"planted stash", `{"command": "evil", ` + stash + `}`, Skipped, "not bouncer"},
		{"planted stash and run", `{"command": "evil", "args": ["run", "--", "x"], ` + stash + `}`, Skipped, "not bouncer"},
		{"url", `{"url": "https://x"}`, Remote, ""},
		{"httpUrl", `{"httpUrl": "https://x"}`, Remote, ""},
		{"serverUrl", `{"serverUrl": "https://x"}`, Remote, ""},
		{"type http", `{"type": "http"}`, Remote, ""},
		{"both", `{"command": "x", "url": "https://x"}`, Skipped, "both"},
		{"http with a command", `{"type": "sse", "command": "x"}`, Skipped, "has a command"},
		{"unknown type", `{"type": "carrier-pigeon", "command": "x"}`, Skipped, "not known"},
		{"null args", `{"command": "x", "args": null}`, Wrapped, ""},
		{"null url", `{"command": "x", "url": null}`, Wrapped, ""},
		{"null", `null`, Skipped, "not an object"},
		{"list", `["x"]`, Skipped, "not an object"},
		{"nothing", `{}`, Skipped, "command is not"},
		{"command list", `{"command": ["x"]}`, Skipped, "command is not"},
		{"empty command", `{"command": ""}`, Skipped, "command is not"},
		{"NUL command", `{"command": "x\u0000"}`, Skipped, "NUL"},
		{"args text", `{"command": "x", "args": "-y"}`, Skipped, "not a list"},
		{"args number", `{"command": "x", "args": ["-p", 8080]}`, Skipped, "args[1]"},
		{"NUL argument", `{"command": "x", "args": ["\u0000"]}`, Skipped, "NUL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mustPlan(t, `{"mcpServers": {"a": `+tt.entry+`}}`, testOptions())
			e := c.Entries[0]
			if e.State != tt.want || !strings.Contains(e.Reason, tt.reason) || tt.reason == "" && e.Reason != "" {
				t.Errorf("%s (%s), want %s (%s)", e.State, e.Reason, tt.want, tt.reason)
			}
			if (e.State == Wrapped) != (c.Edits() == 1) {
				t.Errorf("%s with %d edits", e.State, c.Edits())
			}
		})
	}
}

func TestRefusedText(t *testing.T) {
	deep := strings.Repeat("[", 10_000_000)
	tests := []struct{ name, text, why, at string }{
		{"broken", `{"mcpServers": {`, "not valid JSON", "1:17"},
		{"server twice", "{\"mcpServers\": {\"a\": {\"command\": \"x\"},\n \"\\u0061\": {\"command\": \"y\"}}}", "second time", "2:2"},
		{"member twice", `{"mcpServers": {"a": {"command": "x", "command": "y"}}}`, "second time", "1:39"},
		{"block twice", `{"mcpServers": {}, "mcpServers": {}}`, "second time", "1:20"},
		{"block twice, spelled otherwise", `{"mcpServers": {}, "mcp\u0053ervers": {}}`, "second time", "1:20"},
		{"projects twice", `{"projects": {}, "projects": {}}`, "second time", "1:18"},
		{"project twice", `{"projects": {"/p": {}, "/p": {}}}`, "second time", "1:25"},
		{"block of a project twice", `{"projects": {"/p": {"mcpServers": {}, "mcpServers": {}}}}`, "second time", "1:40"},
		{"block is a list", `{"mcpServers": [{"command": "x"}]}`, "not an object", "1:16"},
		{"root is a list", `[]`, "not a JSON object", "1:1"},
		{"UTF-16 BE", "\xfe\xff\x00{", "UTF-16", ""},
		{"UTF-16 without a mark", "{\x00}\x00", "UTF-16", ""},
		{"not UTF-8", "{\n\"\xff\"", "not UTF-8", "2:2"},
		{"overlong", "{\"mcpServers\": {\"a\xc0\xaf\": 1}}", "not UTF-8", "1:19"},
		{"two documents", `{} {}`, "not valid JSON", "1:4"},
		{"NUL at the end", "{}\x00", "not valid JSON", "1:3"},
		{"two marks", "\xef\xbb\xbf\xef\xbb\xbf{}", "not valid JSON", "1:1"},
		{"open comment", "{} /* ", "not closed", "1:4"},
		{"hidden behind a carriage return", "{// \r\"mcpServers\": {}\n}", "carriage return", "1:5"},
		{"deep", deep, "nested", "1:513"},
		{"deep behind a comment", `{"a": /* " */ ` + deep, "nested", ""},
		{"many", "[" + strings.Repeat("1,", maxValues+1), "values", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, o := range []Options{testOptions(), undoOptions()} {
				_, err := planText([]byte(tt.text), o)
				if r := wantRefused(t, err); !strings.Contains(r.Why, tt.why) || tt.at != "" && !strings.HasPrefix(r.Error(), "/cfg/mcp.json:"+tt.at+": ") {
					t.Errorf("refused with %q", r)
				}
			}
		})
	}
}

func TestARefusalRepeatsNoSecret(t *testing.T) {
	for _, text := range []string{
		"{\"mcpServers\": {\"a\": {\"env\": {\"K\": \"sk-\nsecret\"}}}}", `{"a": sk-secret}`,
	} {
		_, err := planText([]byte(text), testOptions())
		if r := wantRefused(t, err); strings.Contains(r.Error(), "secret") {
			t.Errorf("the refusal says %q", r)
		}
	}
}

// Nothing that is secret, and nothing that a terminal acts on, is in a diff.
func TestDiffShowsNoSecret(t *testing.T) {
	c := mustPlan(t, "{\"mcpServers\": {\"\u202ea\": {\"command\": \"npx\", \"args\": [\"--api-key\", \"SECRET\", \"--token=SECRET\", \"-e\", \"K=SECRET\","+
		" \"Authorization: Bearer SECRET\", \"postgres://u:SECRET@db/x\", \"ghp_SECRETSECRET\", \"plain\"],"+
		" /* \x1b[2J */ \"env\": {\"K\": \"SECRET\"}, \"apiKey\": \"SECRET\", \"headers\": {\"X\": [\"SECRET\"]}}}}", testOptions())
	diff := c.Diff()
	for _, bad := range []string{"SECRET", "\x1b", "\u202e"} {
		if strings.Contains(diff, bad) {
			t.Errorf("%q is in\n%s", bad, diff)
		}
	}
	for _, want := range []string{`"plain"`, testBouncer, "--api-key", "--upstream-name"} {
		if !strings.Contains(diff, want) {
			t.Errorf("%q is not in\n%s", want, diff)
		}
	}
}

func TestDiff(t *testing.T) {
	c := mustPlan(t, "{\"mcpServers\": {\n  \"a\": {\n    \"command\": \"x\",\n    \"env\": {\"K\": \"v\"}\n  },\n  \"b\": {\"command\": \"y\"}\n}}\n", testOptions())
	want := `--- /cfg/mcp.json
+++ /cfg/mcp.json
@@ -3,2 +3,4 @@
-    "command": "x",
-    "env": {"K": "***"}
+    "command": "/opt/bouncer dir/bouncer",
+    "args": ["run", "--config", "/cfg/mcp.json", "--upstream-name", "a", "--", "x"],
+    "env": {"K": "***"},
+    "x-bouncer-upstream": { ...the entry as it was... }
@@ -6 +8 @@
-  "b": {"command": "y"}
+  "b": {"command": "/opt/bouncer dir/bouncer", "args": ["run", "--config", "/cfg/mcp.json", "--upstream-name", "b", "--", "y"], "x-bouncer-upstream": { ...the entry as it was... }}
`
	if diff := cmp.Diff(want, c.Diff()); diff != "" {
		t.Error(diff)
	}
}

func TestUnpinned(t *testing.T) {
	tests := []struct {
		line, want string
	}{
		{"npx -y pkg", "pkg"}, {"npx pkg@latest", "pkg@latest"}, {"npx -y @s/pkg", "@s/pkg"}, {"npx @s/pkg@^1.2.3", "@s/pkg@^1.2.3"},
		{"npx @s/pkg@1.2.3", ""}, {"npx -y pkg@1.2.3-rc.1", ""}, {"npx --package=pkg bin", "pkg"}, {"npx -p pkg@1.0.0 bin", ""},
		{`C:\nodejs\npx.cmd -y pkg`, "pkg"}, {"cmd /c npx -y pkg", "pkg"}, {"npx ./local", ""}, {"npx", ""},
		{"uvx srv", "srv"}, {"uvx srv==1.2", ""}, {"uvx srv@1.2", ""}, {"uvx srv>=1", "srv>=1"}, {"uvx --from git+https://h/x.git srv", "git+https://h/x.git"},
		{"uvx --from git+https://h/x.git@v1 srv", ""}, {"node s.js", ""}, {"bunx pkg", "pkg"},
	}
	for _, tt := range tests {
		words := strings.Fields(tt.line)
		if got := unpinned(words[0], words[1:]); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestServersSelects(t *testing.T) {
	o := testOptions()
	o.Servers = []string{"b"}
	c := mustPlan(t, `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`, o)
	if len(c.Entries) != 1 || c.Entries[0].Name != "b" || strings.Count(string(c.result()), Sentinel) != 1 {
		t.Errorf("selected %v", c.Entries)
	}
}

// Servers that the client of a file does not read from there are left alone, and said to be there.
func TestForeignServersBeside(t *testing.T) {
	for _, text := range []string{
		`{"mcpServers": {"a": {"command": "x"}}, "servers": {"b": {"command": "y"}}}`,
		`{"mcpServers": {}, "context_servers": {"b": {"url": "y"}}}`,
	} {
		o := testOptions()
		o.Client = "claude-code"
		c := mustPlan(t, text, o)
		if !strings.Contains(strings.Join(c.Notes, "\n"), "are not protected") || strings.Contains(string(c.result()), `"y", `) {
			t.Errorf("%s: notes are %q", text, c.Notes)
		}
	}
	if c := mustPlan(t, `{"mcpServers": {}, "mcp": {"allowed": ["a"]}}`, testOptions()); len(c.Notes) != 1 {
		t.Errorf("notes are %q", c.Notes)
	}
}

// Where it is not known whose file it is, whatever holds servers is wrapped: some client reads it.
func TestEveryLayoutOfAnUnknownFile(t *testing.T) {
	c := mustPlan(t, `{"servers": {"b": {"command": "y"}}, "mcpServers": {"b": {"command": "x"}}, "mcp": {"c": {"command": ["z"]}}}`, testOptions())
	if c.Edits() != 3 {
		t.Errorf("%d edits of %v", c.Edits(), c.Entries)
	}
	law(t, []byte(`{"servers": {"b": {"command": "y"}}, "mcpServers": {"b": {"command": "x"}}, "mcp": {"c": {"command": ["z"]}}}`))
}
