package clientconfig

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testEnv(goos string, vars map[string]string) Env {
	return Env{GOOS: goos, Home: "/home/u", Dir: "/work/p", Getenv: func(name string) string { return vars[name] }}
}

func paths(targets []Target) []string {
	var out []string
	for _, t := range targets {
		out = append(out, filepath.ToSlash(t.Path))
	}
	return out
}

func TestTargets(t *testing.T) {
	tests := []struct {
		goos, client string
		vars         map[string]string
		want         []string
	}{
		{"linux", "claude-code", nil, []string{"/home/u/.claude.json", "/work/p/.mcp.json"}},
		{"linux", "claude-code", map[string]string{"CLAUDE_CONFIG_DIR": "/c"}, []string{"/c/.claude.json", "/work/p/.mcp.json"}},
		{"linux", "claude-desktop", nil, []string{"/home/u/.config/Claude/claude_desktop_config.json"}},
		{"linux", "claude-desktop", map[string]string{"XDG_CONFIG_HOME": "/x"}, []string{"/x/Claude/claude_desktop_config.json"}},
		{"linux", "claude-desktop", map[string]string{"XDG_CONFIG_HOME": "relative"}, []string{"/home/u/.config/Claude/claude_desktop_config.json"}},
		{"darwin", "claude-desktop", map[string]string{"XDG_CONFIG_HOME": "/x"}, []string{"/home/u/Library/Application Support/Claude/claude_desktop_config.json"}},
		{"windows", "claude-desktop", map[string]string{"APPDATA": "/r"}, []string{"/r/Claude/claude_desktop_config.json"}},
		{"windows", "claude-desktop", nil, []string{"/home/u/AppData/Roaming/Claude/claude_desktop_config.json"}},
		{"linux", "cursor", nil, []string{"/home/u/.cursor/mcp.json", "/work/p/.cursor/mcp.json"}},
		{"linux", "windsurf", nil, []string{"/home/u/.codeium/windsurf/mcp_config.json", "/home/u/.codeium/mcp_config.json"}},
		{"linux", "lm-studio", nil, []string{"/home/u/.lmstudio/mcp.json", "/home/u/.cache/lm-studio/mcp.json"}},
		{"linux", "codex", nil, []string{"/home/u/.codex/config.toml", "/work/p/.codex/config.toml"}},
		{"linux", "codex", map[string]string{"CODEX_HOME": "/c"}, []string{"/c/config.toml", "/work/p/.codex/config.toml"}},
		{"linux", "zed", map[string]string{"XDG_CONFIG_HOME": "/x"}, []string{"/x/zed/settings.json", "/work/p/.zed/settings.json"}},
		{"darwin", "zed", nil, []string{"/home/u/.config/zed/settings.json", "/home/u/Library/Application Support/Zed/settings.json", "/work/p/.zed/settings.json"}},
		{"windows", "zed", map[string]string{"APPDATA": "/r"}, []string{"/r/Zed/settings.json", "/work/p/.zed/settings.json"}},
		{"linux", "goose", nil, []string{"/home/u/.config/goose/config.yaml"}},
		{"darwin", "goose", nil, []string{"/home/u/.config/goose/config.yaml"}},
		{"windows", "goose", map[string]string{"APPDATA": "/r"}, []string{"/r/Block/goose/config/config.yaml"}},
		{"windows", "crush", map[string]string{"LOCALAPPDATA": "/l"}, []string{"/l/crush/crush.json", "/work/p/crush.json", "/work/p/.crush.json"}},
		{"linux", "copilot-cli", map[string]string{"COPILOT_HOME": "/c"}, []string{"/c/mcp-config.json", "/work/p/.mcp.json"}},
		{"linux", "gemini-cli", nil, []string{"/home/u/.gemini/settings.json", "/work/p/.gemini/settings.json"}},
		{"linux", "lobehub", nil, nil},
		{"linux", "nobody", nil, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, paths(Targets(testEnv(tt.goos, tt.vars), tt.client))); diff != "" {
			t.Errorf("%s on %s: %s", tt.client, tt.goos, diff)
		}
	}
	all := Targets(testEnv("linux", nil), "")
	for _, name := range Clients() {
		has := slices.ContainsFunc(all, func(t Target) bool { return t.Client == name && t.Title != "" })
		if snippet, _ := Snippet(name, testBouncer); has == (snippet != "") {
			t.Errorf("%s has a file: %v, and a snippet: %q", name, has, snippet)
		}
	}
}

func TestExisting(t *testing.T) {
	dir := t.TempDir()
	there, link, dangling := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	writeFile(t, there, "{}")
	for from, to := range map[string]string{link: there, dangling: filepath.Join(dir, "none")} {
		if err := os.Symlink(to, from); err != nil {
			t.Skip(err)
		}
	}
	got := Existing([]Target{{Path: there}, {Path: link}, {Path: dangling}, {Path: filepath.Join(dir, "d")}})
	if diff := cmp.Diff([]string{filepath.ToSlash(there), filepath.ToSlash(dangling)}, paths(got)); diff != "" {
		t.Error(diff)
	}
}

// C20: which clients lose a file that has a comment in it.
func TestStrictClients(t *testing.T) {
	tests := []struct {
		client, path string
		want         bool
	}{
		{"claude-code", "/x/any.json", true}, {"cursor", "/x/.mcp.json", false}, {"", "/x/.mcp.json", true},
		{"", "/x/.claude.json", true}, {"", "/x/claude_desktop_config.json", true}, {"", "/x/mcp.json", false},
	}
	for _, tt := range tests {
		if got := clientOf(tt.client, tt.path).strict; got != tt.want {
			t.Errorf("%q %s: strict %v", tt.client, tt.path, got)
		}
	}
}

// A * in a path stands for every name: the profiles of an editor, the files of a directory.
func TestExistingPatterns(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"profiles/a/mcp.json", "profiles/b/other.json", "profiles/c/mcp.json", "servers/x.yaml", "servers/y.json"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, "{}")
	}
	tests := []struct {
		pattern string
		want    []string
	}{
		{"profiles/*/mcp.json", []string{"profiles/a/mcp.json", "profiles/c/mcp.json"}},
		{"servers/*.yaml", []string{"servers/x.yaml"}},
		{"none/*/mcp.json", nil},
	}
	for _, tt := range tests {
		var want []string
		for _, name := range tt.want {
			want = append(want, filepath.ToSlash(filepath.Join(dir, name)))
		}
		got := Existing([]Target{{Path: filepath.Join(dir, filepath.FromSlash(tt.pattern))}})
		if diff := cmp.Diff(want, paths(got)); diff != "" {
			t.Errorf("%s: %s", tt.pattern, diff)
		}
	}
}

// A file that is named by its path alone is still known for whose it is, if it lies where that client keeps it.
func TestClientOfAPath(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/home/u/.gemini/settings.json", "gemini-cli"}, {"/p/.vscode/mcp.json", "vscode"}, {"/p/.codex/config.toml", "codex"},
		{"/p/opencode.json", "opencode"}, {"/x/Code/User/profiles/1a/mcp.json", "vscode"}, {"/p/.mcp.json", "claude-code"},
		{"/p/.kiro/agents/mine.json", "kiro"}, {"/p/settings.json", ""}, {"/p/config.toml", ""}, {"/p/x.json", ""}, {"/p/mcp.json", ""},
	}
	for _, tt := range tests {
		if got := clientOf("", tt.path).name; got != tt.want {
			t.Errorf("%s is of %q, want %q", tt.path, got, tt.want)
		}
	}
}

// What is to be pasted is what init would write.
func TestSnippet(t *testing.T) {
	snippet, why := Snippet("lobehub", `C:\Program Files\bouncer.exe`)
	c, err := planText([]byte(snippet), Options{Bouncer: `C:\Program Files\bouncer.exe`})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Entries) != 1 || c.Entries[0].State != Already || c.Entries[0].Reason != "" || why == "" {
		t.Errorf("%v, %q", c.Entries, why)
	}
}
