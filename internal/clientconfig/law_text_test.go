package clientconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is written into TOML and YAML, to the byte.
func TestWrapGoldenText(t *testing.T) {
	const own = `"run", "--name", "a", "--", `
	const joined = `"run", "--name=a", "--", `
	tests := []struct{ name, file, in, want string }{
		{"toml table", "c.toml", "[mcp_servers.a]\ncommand = 'x' # c\nargs = [\"y\"]\n",
			"[mcp_servers.a]\ncommand = \"/opt/bouncer dir/bouncer\" # c\nargs = [" + own + "'x', \"y\"]\n"},
		{"toml without args, CRLF, a table inside", "c.toml", "[mcp_servers.a]\r\n  command = \"x\" # c\r\n[mcp_servers.a.env]\r\nK = \"v\"\r\n",
			"[mcp_servers.a]\r\n  command = \"/opt/bouncer dir/bouncer\" # c\r\n  args = [" + joined + "\"x\"]\r\n[mcp_servers.a.env]\r\nK = \"v\"\r\n"},
		{"toml without args and line end", "c.toml", "[mcp_servers.a]\ncommand = \"x\"",
			"[mcp_servers.a]\ncommand = \"/opt/bouncer dir/bouncer\"\nargs = [" + joined + "\"x\"]"},
		{"toml in braces", "c.toml", "[mcp_servers]\na = { command = \"x\", env = { K = \"v\" } }\n",
			"[mcp_servers]\na = { command = \"/opt/bouncer dir/bouncer\", args = [" + joined + "\"x\"], env = { K = \"v\" } }\n"},
		{"toml behind dots", "c.toml", "mcp_servers.a.command = \"x\"\n",
			"mcp_servers.a.command = \"/opt/bouncer dir/bouncer\"\nmcp_servers.a.args = [" + joined + "\"x\"]\n"},
		{"toml list of tables", "c.toml", "[[mcp_servers]]\nname = \"a\"\ncommand = \"x\"\nargs = []\n",
			"[[mcp_servers]]\nname = \"a\"\ncommand = \"/opt/bouncer dir/bouncer\"\nargs = [" + own + "\"x\"]\n"},
		{"toml command in a list", "c.toml", "[[mcp_servers]]\nname = \"a\"\ncommand = [\"x\", \"y\"]\n",
			"[[mcp_servers]]\nname = \"a\"\ncommand = [\"/opt/bouncer dir/bouncer\", " + own + "\"x\", \"y\"]\n"},
		{"toml list over lines", "c.toml", "[mcp_servers.a]\ncommand = \"x\"\nargs = [\n  \"y\", # c\n]\n",
			"[mcp_servers.a]\ncommand = \"/opt/bouncer dir/bouncer\"\nargs = [\n  " + own + "\"x\", \"y\", # c\n]\n"},
		{"yaml list", "c.yaml", "mcpServers:\n  - name: a\n    command: x  # c\n    args: [y]\n",
			"mcpServers:\n  - name: a\n    command: \"/opt/bouncer dir/bouncer\"  # c\n    args: [" + own + "x, y]\n"},
		{"yaml lines", "c.yaml", "extensions:\n  a:\n    cmd: 'x'\n    args:\n    - -y\n    - z\n",
			"extensions:\n  a:\n    cmd: \"/opt/bouncer dir/bouncer\"\n    args:\n    - \"run\"\n    - \"--name\"\n    - \"a\"\n    - \"--\"\n    - 'x'\n    - -y\n    - z\n"},
		{"yaml without args, first in its item", "c.yml", "mcpServers:\n- command: x\n  name: a\n",
			"mcpServers:\n- command: \"/opt/bouncer dir/bouncer\"\n  args: [" + joined + "x]\n  name: a\n"},
		{"yaml in braces", "c.yaml", "extensions: {a: {type: stdio, cmd: x}}\n",
			"extensions: {a: {type: stdio, cmd: \"/opt/bouncer dir/bouncer\", args: [" + joined + "x]}}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := planAs(tt.file, []byte(tt.in), testOptions())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(c.result())); diff != "" {
				t.Error(diff)
			}
			lawOf(t, tt.file, []byte(tt.in))
		})
	}
}

// D25, for TOML and YAML: what the user changes in a wrapped entry survives the unwrapping.
func TestEditsSurviveUndoOfText(t *testing.T) {
	const table = "[mcp_servers.a]\ncommand = \"x\"\nargs = [\"y\"]\n"
	const lines = "extensions:\n  a:\n    cmd: x\n    args:\n      - y\n"
	tests := []struct{ name, file, in, from, to, want string }{
		{"argument at the end", "c.toml", table, `"y"]`, `"y", "new"]`, strings.Replace(table, `"y"]`, `"y", "new"]`, 1)},
		{"argument where there were none", "c.toml", "[mcp_servers.a]\ncommand = \"x\"\n", `"x"]`, `"x", "new"]`, "[mcp_servers.a]\ncommand = \"x\"\nargs = [\"new\"]\n"},
		{"other command", "c.toml", table, `"--", "x"`, `"--", '/bin/x'`, strings.Replace(table, `"x"`, `'/bin/x'`, 1)},
		{"all arguments removed", "c.toml", table, `, "y"]`, `]`, strings.Replace(table, `["y"]`, `[]`, 1)},
		{"member added", "c.toml", table, "args", "cwd = \"/w\"\nargs", strings.Replace(table, "args", "cwd = \"/w\"\nargs", 1)},
		{"bouncer's own flags", "c.toml", table, `"--name"`, `"--policy", "p.yaml", "--name"`, table},
		{"list broken over lines", "c.toml", table, `"--", `, "\"--\",\n  ", table},
		{"yaml argument at the end", "c.yaml", lines, "- y\n", "- y\n      - new\n", lines + "      - new\n"},
		{"yaml other command", "c.yaml", lines, "- x\n", "- '/bin/x'\n", strings.Replace(lines, "cmd: x", "cmd: '/bin/x'", 1)},
		{"yaml comment between", "c.yaml", lines, "      - y\n", "      # mine\n      - y\n", strings.Replace(lines, "      - y", "      # mine\n      - y", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := planAs(tt.file, []byte(tt.in), testOptions())
			if err != nil {
				t.Fatal(err)
			}
			wrapped := string(c.result())
			edited := strings.Replace(wrapped, tt.from, tt.to, 1)
			if edited == wrapped {
				t.Fatalf("%q is not in\n%s", tt.from, wrapped)
			}
			undo, err := planAs(tt.file, []byte(edited), undoOptions())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(undo.result())); diff != "" {
				t.Errorf("%v: %s", undo.Entries[0].Reason, diff)
			}
		})
	}
}

func TestStatesOfText(t *testing.T) {
	const head = "extensions:\n  a:\n    "
	tests := []struct {
		name, file, text string
		want             State
		reason           string
	}{
		{"toml remote", "c.toml", "[mcp_servers.a]\nurl = \"https://x.example\"\n", Remote, ""},
		{"toml empty", "c.toml", "[mcp_servers.a]\n", Skipped, "command is not"},
		{"toml no table", "c.toml", "mcp_servers.a = 1\n", Skipped, "not an object"},
		{"toml command over lines", "c.toml", "[mcp_servers.a]\ncommand = '''\nx'''\n", Skipped, "several lines"},
		{"toml args numbers", "c.toml", "[mcp_servers.a]\ncommand = \"x\"\nargs = [1]\n", Skipped, "args[0]"},
		{"toml brackets", "c.toml", "mcp_servers = [{name = \"a\", command = \"x\"}]\n", Skipped, "between brackets"},
		{"toml already", "c.toml", "[mcp_servers.a]\ncommand = \"/opt/bouncer dir/bouncer\"\nargs = [\"run\", \"--name\", \"a\", \"--\", \"x\"]\n", Already, ""},
		{"goose builtin", "c.yaml", head + "type: builtin\n", Skipped, "part of the client"},
		{"goose remote", "c.yaml", head + "type: streamable_http\n    uri: https://x.example\n", Remote, ""},
		{"hub block", "c.yaml", "mcpServers:\n  - uses: o/block\n", Skipped, "from a hub"},
		{"yaml alias", "c.yaml", "x: &x {cmd: y}\nextensions:\n  a: *x\n", Skipped, "stands in part elsewhere"},
		{"yaml merge", "c.yaml", "x: &x {args: [y]}\n" + head + "<<: *x\n    cmd: z\n", Skipped, "stands in part elsewhere"},
		{"yaml tag", "c.yaml", head + "cmd: !!str x\n", Skipped, "stands in part elsewhere"},
		{"yaml folded", "c.yaml", head + "cmd: >-\n      x\n", Skipped, "several lines"},
		{"yaml plain over lines", "c.yaml", head + "cmd: x\n      y\n", Skipped, "several lines"},
		{"yaml null args", "c.yaml", head + "cmd: x\n    args:\n", Skipped, "args is null"},
		{"yaml number", "c.yaml", head + "cmd: 1\n", Skipped, "command is not"},
		{"yaml scalar", "c.yaml", "extensions:\n  a: x\n", Skipped, "not an object"},
		{"yaml comma in a plain word", "c.yaml", head + "cmd: a,b\n    args: [c]\n", Skipped, "do it by hand"},
		{"yaml spaces", "c.yaml", head + "cmd: /a b/c d\n", Wrapped, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := planAs(tt.file, []byte(tt.text), testOptions())
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Entries) != 1 {
				t.Fatalf("%d entries", len(c.Entries))
			}
			e := c.Entries[0]
			if e.State != tt.want || !strings.Contains(e.Reason, tt.reason) || tt.reason == "" && e.Reason != "" {
				t.Errorf("%s (%s), want %s (%s)", e.State, e.Reason, tt.want, tt.reason)
			}
			lawOf(t, tt.file, []byte(tt.text))
		})
	}
}

func TestRefusedTOMLAndYAML(t *testing.T) {
	tests := []struct{ name, file, text, why, at string }{
		{"toml broken", "c.toml", "a = 1\nb = \n", "not valid TOML", "2:5"},
		{"toml key twice", "c.toml", "[mcp_servers.a]\ncommand = \"x\"\ncommand = \"y\"\n", "not valid TOML", ""},
		{"toml table twice", "c.toml", "[mcp_servers.a]\n[mcp_servers.a]\n", "not valid TOML", ""},
		{"toml list name twice", "c.toml", "[[mcp_servers]]\nname = \"a\"\n[[mcp_servers]]\nname = \"a\"\n", "second time", "3:3"},
		{"toml deep", "c.toml", "a = " + strings.Repeat("[", maxText-10), "not valid TOML", ""},
		{"toml huge", "c.toml", strings.Repeat("#", maxText+1), "more than", ""},
		{"yaml broken", "c.yaml", "a: [\n", "not valid YAML", ""},
		{"yaml server twice", "c.yaml", "extensions:\n  a: {cmd: x}\n  a: {cmd: y}\n", "second time", "3:3"},
		{"yaml member twice", "c.yaml", "extensions:\n  a: {cmd: x, cmd: y}\n", "second time", "2:15"},
		{"yaml both spellings", "c.yaml", "extensions:\n  a: {cmd: x, command: y}\n", "second time", ""},
		{"yaml block twice", "c.yaml", "extensions: {}\nextensions: {}\n", "second time", "2:1"},
		{"yaml two documents", "c.yaml", "a: 1\n---\nb: 2\n", "second document", ""},
		{"yaml list", "c.yaml", "- a\n", "not a YAML mapping", "1:1"},
		{"yaml servers a word", "c.yaml", "extensions: x\n", "neither a list", "1:13"},
		{"yaml bare carriage return", "c.yaml", "a: 1\rb: 2\n", "line ends here", "1:5"},
		{"yaml separator", "c.yaml", "a: 1 #\u2028b: 2\n", "line ends here", "1:7"},
		{"yaml deep", "c.yaml", strings.Repeat("[", maxText-10), "not valid YAML", ""},
		{"yaml UTF-16", "c.yaml", "\xff\xfea\x00", "UTF-16", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, o := range []Options{testOptions(), undoOptions()} {
				_, err := planAs(tt.file, []byte(tt.text), o)
				if r := wantRefused(t, err); !strings.Contains(r.Why, tt.why) || tt.at != "" && !strings.HasPrefix(r.Error(), "/cfg/"+tt.file+":"+tt.at+": ") {
					t.Errorf("refused with %q", r)
				}
			}
		})
	}
}

// A refusal and a diff show no secret.
func TestTextShowsNoSecret(t *testing.T) {
	for _, tt := range []struct{ file, text string }{
		{"c.toml", "[mcp_servers.a]\ncommand = \"x\"\nenv = { TOKEN = \"SECRET\" }\nargs = [\"--api-key\", \"SECRET\", \"--token=SECRET\", \"plain\"]\n"},
		{"c.toml", "mcp_servers.a = { command = \"x\", env = { TOKEN = 'SECRET' }, args = [\"-e\", \"K=SECRET\", \"plain\"] }\n"},
		{"c.yaml", "extensions:\n  a: {cmd: x, envs: {TOKEN: SECRET}, args: [--api-key, SECRET, plain]}\n"},
		{"c.yaml", "extensions:\n  a:\n    cmd: x\n    envs:\n      TOKEN: SECRET\n    args:\n      - --token=SECRET\n      - plain\n"},
	} {
		c, err := planAs(tt.file, []byte(tt.text), testOptions())
		if err != nil {
			t.Fatal(err)
		}
		if diff := c.Diff(); strings.Contains(diff, "SECRET") || !strings.Contains(diff, testBouncer) || !strings.Contains(diff, "@@ a\n") {
			t.Errorf("the diff is\n%s", diff)
		}
	}
	for _, tt := range []struct{ file, text string }{
		{"c.toml", "token = SECRET\n"}, {"c.toml", "token = \"SECRET\n"}, {"c.yaml", "token: \"SECRET\n"}, {"c.yaml", "a: {SECRET: [\n"}, {"c.yaml", "a: @SECRET\n"},
	} {
		_, err := planAs(tt.file, []byte(tt.text), testOptions())
		if r := wantRefused(t, err); strings.Contains(r.Error(), "SECRET") {
			t.Errorf("the refusal says %q", r)
		}
	}
}

// Every format, in random spellings: wrap then undo is the identity, wrap twice is wrap once.
func TestGeneratedText(t *testing.T) {
	for _, kind := range []struct {
		file string
		make func(*generator) string
	}{{"c.toml", (*generator).toml}, {"c.yaml", (*generator).yaml}} {
		wrapped, entries := 0, 0
		for seed := range uint64(600) {
			text := []byte(kind.make(newGenerator(seed)))
			t.Run(fmt.Sprint(kind.file, seed), func(t *testing.T) {
				c, err := planAs(kind.file, text, testOptions())
				if err != nil {
					t.Fatalf("generated config is refused: %v\n%s", err, text)
				}
				wrapped, entries = wrapped+c.Edits(), entries+len(c.Entries)
				for _, e := range c.Entries {
					if e.State == Skipped && !strings.Contains(e.Reason, "mixed") && !strings.Contains(e.Reason, "several lines") && !strings.Contains(e.Reason, "args is null") {
						t.Errorf("skipped: %s", e.Reason)
					}
				}
				lawOf(t, kind.file, text)
				if t.Failed() {
					t.Logf("%s", text)
				}
			})
		}
		if t.Logf("%s: %d of %d entries wrapped", kind.file, wrapped, entries); wrapped < entries*3/4 || wrapped < 500 {
			t.Errorf("%s: the generator made only %d entries of %d that are wrapped", kind.file, wrapped, entries)
		}
	}
}

func FuzzWrapTOML(f *testing.F) {
	for seed := range uint64(20) {
		f.Add([]byte(newGenerator(seed).toml()))
	}
	f.Add([]byte("[mcp_servers]\na = {command = \"x\",\n# c\nargs = [ # d\n] }"))
	f.Fuzz(func(t *testing.T, data []byte) { lawOf(t, "c.toml", data) })
}

func FuzzWrapYAML(f *testing.F) {
	for seed := range uint64(20) {
		f.Add([]byte(newGenerator(seed).yaml()))
	}
	f.Add([]byte("mcpServers:\n  - ? command\n    : x\nextensions: {a: {cmd: x, args: [ # c\n y]}}"))
	f.Fuzz(func(t *testing.T, data []byte) { lawOf(t, "c.yaml", data) })
}
