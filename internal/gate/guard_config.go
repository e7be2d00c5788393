package gate

import (
	"slices"
	"strings"
)

// clientFiles decide which servers and hooks a client runs, with or without Bouncer before them. Whoever writes one takes the firewall
// away at the next start (CVE-2025-54135, A76). Each is the end of a path, in lower case; a directory ends in a slash.
var clientFiles = []string{
	"/.mcp.json", "/.claude.json", "/.claude/settings.json", "/.claude/settings.local.json", "/.claude/hooks/", "/claude_desktop_config.json",
	"/.cursor/mcp.json", "/.cursor/hooks.json", "/.vscode/mcp.json", "/code/user/mcp.json", "/code/user/settings.json", "/.vscode/settings.json",
	"/mcp_config.json", "/.codex/config.toml", "/.gemini/settings.json", "/cline_mcp_settings.json", "/mcp_settings.json", "/.roo/mcp.json",
	"/.copilot/mcp-config.json", "/.config/zed/settings.json", "/.zed/settings.json", "/goose/config.yaml", "/.continue/config.yaml",
	"/.continue/mcpservers/", "/opencode.json", "/opencode.jsonc", "/.lmstudio/mcp.json", "/.junie/mcp/mcp.json", "/.amazonq/mcp.json",
	"/.aws/amazonq/mcp.json", "/.kiro/settings/mcp.json", "/.crush.json", "/crush.json", "/.git/hooks/", "/.bouncer.yaml",
}

// startFiles are run by shells, logins and the git of a checkout: a line in one is a command that runs without a tool call.
var startFiles = []string{
	"/.bashrc", "/.bash_profile", "/.bash_login", "/.bash_logout", "/.profile", "/.zshrc", "/.zprofile", "/.zshenv", "/.zlogin",
	"/.config/fish/config.fish", "/.ssh/authorized_keys", "/.ssh/rc", "/etc/profile", "/etc/bash.bashrc",
}

func startsShell(path Path) bool {
	return slices.ContainsFunc(path.Readings, func(r Reading) bool { return isStartFile(r.Lexical) || isStartFile(r.Resolved) })
}

func isStartFile(path string) bool {
	p := strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	return slices.ContainsFunc(startFiles, func(file string) bool { return strings.HasSuffix(p, file) })
}

// guardsClient reports a path with a reading that is one of these files, or a directory that holds one and is moved or taken away.
func guardsClient(path Path, moves bool) bool {
	return slices.ContainsFunc(path.Readings, func(r Reading) bool {
		return isClientFile(r.Lexical, moves) || isClientFile(r.Resolved, moves)
	})
}

func isClientFile(path string, moves bool) bool {
	p := strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	return slices.ContainsFunc(clientFiles, func(file string) bool {
		if dir, isDir := strings.CutSuffix(file, "/"); isDir {
			return strings.Contains(p+"/", file) && (moves || !strings.HasSuffix(p, dir))
		}
		if strings.HasSuffix(p, file) {
			return true
		}
		dir := file[:strings.LastIndexByte(file, '/')]
		return moves && dir != "" && strings.HasPrefix(dir, "/.") && strings.HasSuffix(p, dir)
	})
}

// writesClientFile reports a command line that names one of these files together with a sign that it writes.
func writesClientFile(text string) bool {
	low := strings.ToLower(strings.ReplaceAll(text, `\`, "/"))
	named := slices.ContainsFunc(clientFiles, func(file string) bool {
		return strings.Contains(low, strings.Trim(file, "/"))
	})
	return named && slices.ContainsFunc([]string{">", "tee", "sed -i", "mv ", "cp ", "rm ", "ln ", "install ", "dd ", "write", "truncate", "patch", "git checkout", "git apply"}, func(sign string) bool {
		return strings.Contains(low, sign)
	})
}
