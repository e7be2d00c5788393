package shell

import (
	"path"
	"strings"
)

// write notes that a file is written, and returns where it lies. A path that is not known is asked about where it could be a file
// that decides which servers, hooks or start-up commands run (A76): for every other file there is nothing to ask.
func (r *reader) write(text string, sc *scope, command string) string {
	return r.writes(text, sc, command, false)
}

func (r *reader) writes(text string, sc *scope, command string, tree bool) string {
	p := sc.place(text)
	switch {
	case p == "", sinkhole[p], strings.HasPrefix(p, "/dev/fd/"):
		return p
	case strings.ContainsAny(p, "\x00\x01") && couldBeGuarded(p):
		r.unknown(command, "which file it writes is known only when it runs")
	}
	r.add(Effect{Kind: Write, Path: p, Tree: tree, Command: command})
	return p
}

var sinkhole = map[string]bool{"/dev/null": true, "/dev/stdout": true, "/dev/stderr": true, "/dev/tty": true, "/dev/zero": true}

// guarded are the ends of paths that a text with holes is compared with. The gate has the list of what no tool may write;
// this one is for names that are not known yet, and a test of the gate's holds the two together.
var guarded = strings.Fields(`
	/.mcp.json /.claude.json /.claude/settings.json /.claude/settings.local.json /.claude/hooks/ /claude_desktop_config.json
	/.cursor/mcp.json /.cursor/hooks.json /.vscode/mcp.json /.vscode/settings.json /code/user/mcp.json /code/user/settings.json
	/mcp_config.json /.codex/config.toml /.codex/hooks.json /.gemini/settings.json /cline_mcp_settings.json /mcp_settings.json
	/.roo/mcp.json /.copilot/mcp-config.json /.config/zed/settings.json /.zed/settings.json /goose/config.yaml /.continue/config.yaml
	/.continue/mcpservers/ /opencode.json /opencode.jsonc /.lmstudio/mcp.json /.junie/mcp/mcp.json /.amazonq/mcp.json
	/.aws/amazonq/mcp.json /.kiro/settings/mcp.json /.crush.json /crush.json /.bouncer.yaml /.git/config /.gitconfig /.git/hooks/
	/pre-commit /prepare-commit-msg /commit-msg /post-commit /pre-push /post-checkout /post-merge /pre-rebase /post-rewrite
	/.bouncer/ /policy.yaml /approvals.yaml /bouncer.db /audit.jsonl /audit.key
	/.bashrc /.bash_profile /.bash_login /.bash_logout /.profile /.zshrc /.zprofile /.zshenv /.zlogin /config.fish /.inputrc
	/.ssh/authorized_keys /.ssh/config /.ssh/rc /etc/profile /etc/bash.bashrc /etc/crontab /etc/hosts`)

// couldBeGuarded reports whether a path with holes could turn out to be one of these.
func couldBeGuarded(p string) bool {
	if p = strings.ToLower(p); len(p) > 4096 {
		return true
	}
	for strings.Contains(p, "\x01\x01") {
		p = strings.ReplaceAll(p, "\x01\x01", "\x01")
	}
	for _, tail := range guarded {
		if strings.HasSuffix(tail, "/") {
			if strings.Contains(p, tail) || ends(p, strings.TrimSuffix(tail, "/")) && fixed(p) {
				return true
			}
			continue
		}
		if ends(p, tail) {
			return true
		}
	}
	return false
}

// ends reports whether p, whose marks may stand for any text, can end in tail.
func ends(p, tail string) bool {
	i, j := len(p), len(tail)
	for i > 0 && j > 0 {
		switch p[i-1] {
		case hole:
			return true
		case glob: // any text without a slash
			from := strings.LastIndexByte(tail[:j], '/') + 1
			for k := from; k <= j; k++ {
				if ends(p[:i-1], tail[:k]) {
					return true
				}
			}
			return false
		case tail[j-1]:
			i, j = i-1, j-1
		default:
			return false
		}
	}
	return j == 0
}

// into is where a copy ends up: the target itself, or a file of the source's name in it.
func (c *invocation) into(target, source word, tree bool) {
	if target.many {
		c.doubt("where it writes is known only when it runs")
		return
	}
	c.writes(target.text, c.sc, c.text, tree)
	if base := path.Base(strings.TrimRight(source.text, "/")); base != "." && base != "/" && base != ".." {
		c.writes(strings.TrimRight(target.text, "/")+"/"+base, c.sc, c.text, tree)
	}
}
