package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const claudeCode = "@anthropic-ai/claude-code"

// claude returns the program of the real Claude Code, which comes as one npm package a platform.
func claude(t *testing.T) string {
	t.Helper()
	needNode(t)
	dir := filepath.Join(repoRoot(), "e2e")
	err := checkInstall(dir)
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	path := filepath.Join(dir, "node_modules", filepath.FromSlash(claudeCode)+"-"+runtime.GOOS+"-"+arch, exe("claude"))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		absent(t, currentMode(t).needNode, fmt.Errorf("%w (make e2e-deps installs it)", err))
	}
	return path
}

// runIn runs a program to its end and returns what it printed.
func runIn(t *testing.T, s sandbox, argv ...string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.work, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// TestClaudeConnectsToWrappedServers: the real Claude Code starts what init wrote, and finds the server behind it.
func TestClaudeConnectsToWrappedServers(t *testing.T) {
	client, server := claude(t), needPackage(t, filesystemServer)
	s := newSandbox(t)
	s = s.with("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	config := filepath.Join(s.home, ".claude.json")
	files := map[string]any{"type": "stdio", "command": server[0], "args": append(server[1:], s.work), "env": map[string]string{}}
	writeJSON(t, config, map[string]any{
		"hasCompletedOnboarding": true, "mcpServers": map[string]any{"files": files},
		"projects": map[string]any{s.work: map[string]any{"mcpServers": map[string]any{"mine": files}}},
	})

	bouncer := bouncerBinary(t)
	runIn(t, s, bouncer, "init", "--config", config, "--yes")
	list := runIn(t, s, client, "mcp", "list")
	if strings.Count(list, bouncer) < 2 || strings.Count(list, "Connected") != 2 || strings.Contains(list, "Failed") {
		t.Errorf("claude mcp list says:\n%s", list)
	}
	// Claude Code has rewritten its file meanwhile, in its own style. What it held of the entry is back all the same.
	runIn(t, s, bouncer, "init", "--config", config, "--undo", "--yes")
	after, err := os.ReadFile(config)
	if err != nil || strings.Contains(string(after), "bouncer") {
		t.Errorf("after undo the config holds (%v)\n%s", err, after)
	}
	if list := runIn(t, s, client, "mcp", "list"); strings.Contains(list, bouncer) || strings.Count(list, "Connected") != 2 {
		t.Errorf("after undo claude mcp list says:\n%s", list)
	}
}
