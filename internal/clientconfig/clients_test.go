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
		{"linux", "nobody", nil, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, paths(Targets(testEnv(tt.goos, tt.vars), tt.client))); diff != "" {
			t.Errorf("%s on %s: %s", tt.client, tt.goos, diff)
		}
	}
	all := Targets(testEnv("linux", nil), "")
	for _, name := range Clients() {
		if !slices.ContainsFunc(all, func(t Target) bool { return t.Client == name && t.Title != "" }) {
			t.Errorf("%s has no file", name)
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
