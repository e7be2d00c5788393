package clientconfig

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadUpstream(t *testing.T) {
	const head = `{"mcpServers": {"a": {"command": "bouncer", "x-bouncer-upstream": `
	tests := []struct {
		name, text string
		want       Upstream
		wrong      string
	}{
		{"whole", head + `{"command": "npx", "args": ["-y", ""], "env": {"K": "v"}, "cwd": "/srv"}}}}`,
			Upstream{"npx", []string{"-y", ""}, []string{"K=v"}, "/srv"}, ""},
		{"comments, mark, no last newline", "\xef\xbb\xbf" + head + `{"command": "x",},},},} // end`, Upstream{Command: "x"}, ""},
		{"relative cwd is the client's", head + `{"command": "x", "cwd": "srv"}}}}`, Upstream{Command: "x"}, ""},
		{"not wrapped", `{"mcpServers": {"a": {"command": "x"}}}`, Upstream{}, "is not wrapped"},
		{"another name", `{"mcpServers": {"aa": {}}}`, Upstream{}, `no server "a"`},
		{"twice", `{"mcpServers": {"a": {}, "a": {}}}`, Upstream{}, "mcp.json"},
		{"no command", head + `{}}}}`, Upstream{}, "command is not"},
		{"odd args", head + `{"command": "x", "args": [1]}}}}`, Upstream{}, "no string"},
		{"odd env", head + `{"command": "x", "env": {"A=B": "c"}}}}}`, Upstream{}, "A=B"},
		{"deep", strings.Repeat("[", 5_000_000), Upstream{}, "nested"},
		{"empty", "", Upstream{}, "mcp.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mcp.json")
			writeFile(t, path, tt.text)
			got, err := ReadUpstream(path, "a")
			if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
				t.Fatalf("error is %v, want %q", err, tt.wrong)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWrappedEntryCanBeStartedFromItsStash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	writeFile(t, path, `{"mcpServers": {"a": {"command": "np\u0078", "args": ["-y"], /* c */ "env": {"K": "v"},}}}`)
	applied(t, path, t.TempDir(), testOptions())
	got, err := ReadUpstream(path, "a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Upstream{Command: "npx", Args: []string{"-y"}, Env: []string{"K=v"}}, got); diff != "" {
		t.Error(diff)
	}
}
