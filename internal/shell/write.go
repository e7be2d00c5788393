package shell

import (
	"path"
	"slices"
	"strings"
)

// write notes that a file is written, and returns where it lies. A path that is not known is asked about where it could be a file
// that decides which servers, hooks or start-up commands run (A76): for every other file there is nothing to ask.
func (r *reader) write(text string, sc *scope, command string) string {
	return r.writes(text, sc, command, false)
}

func (r *reader) writes(text string, sc *scope, command string, tree bool) string {
	p := sc.place(text)
	first := strings.IndexAny(p, marks)
	switch {
	case p == "", sinkhole[p], strings.HasPrefix(p, "/dev/fd/"):
		return p
	case first < 0 && slices.ContainsFunc(obeyed, func(tail string) bool { return strings.HasSuffix(strings.ToLower(p), tail) }):
		r.unknown(command, "a file that tells programs where to go to or what to run")
	case first >= 0 && tree && holdsGuarded(p[strings.LastIndexAny(p, marks)+1:]):
	case first >= 0 && !r.couldBeGuarded(p):
		return p // whichever file it turns out to be, it is none of these
	case first >= 0:
		r.unknown(command, "which file it writes is known only when it runs")
		if !strings.Contains(p[:first], "/.") && !isGuarded(p[strings.LastIndexAny(p, marks)+1:]) {
			return p
		}
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
	/.bashrc /.bash_profile /.bash_login /.bash_logout /.profile /.zshrc /.zprofile /.zshenv /.zlogin /fish/config.fish /.inputrc
	/.ssh/authorized_keys /.ssh/config /.ssh/rc /etc/profile /etc/bash.bashrc /etc/crontab /etc/hosts`)

// isGuarded reports whether a path that is known is one of these.
func isGuarded(p string) bool {
	p = strings.ToLower(p)
	for _, tail := range guarded {
		if strings.HasSuffix(p, tail) && strings.Count(tail, "/") > 1 || tail[1] == '.' && (strings.HasSuffix(p, tail) || strings.HasSuffix(tail, "/") && strings.Contains(p, tail)) {
			return true
		}
	}
	return false
}

// holdsGuarded reports whether a directory is the one in which one of these lies, by its own name: .claude, .git/hooks.
func holdsGuarded(p string) bool {
	p = strings.ToLower(p)
	return slices.ContainsFunc(guarded, func(tail string) bool {
		dir := tail[:strings.LastIndexByte(tail, '/')]
		return strings.HasPrefix(dir, "/.") && strings.HasSuffix(p, dir)
	})
}

// obeyed are files in which programs find out where to go to, and what to run on the way.
var obeyed = strings.Fields(`/.git/config /.gitconfig /.gitmodules /.config/git/config /.ssh/config /.ssh/known_hosts /.curlrc /.wgetrc /.netrc /.npmrc /.yarnrc /.yarnrc.yml /.pypirc
	/pip.conf /.pip/pip.conf /.cargo/config.toml /.docker/config.json /.kube/config /.aws/config /.aws/credentials /.m2/settings.xml /.gemrc /.bundle/config
	/etc/hosts /etc/resolv.conf /.vimrc /.inputrc /.envrc /.direnvrc /.pythonrc /.irbrc /.pdbrc /.gdbinit /.mailrc /.muttrc /.screenrc /.tmux.conf`)

// couldBeGuarded reports whether a path with holes could turn out to be one of these.
func (r *reader) couldBeGuarded(p string) bool {
	if p = strings.ToLower(p); len(p) > 4096 {
		return true
	}
	p = strings.NewReplacer("\x02", "\x01", "\x03", "\x01").Replace(p)
	for strings.Contains(p, "\x01\x01") {
		p = strings.ReplaceAll(p, "\x01\x01", "\x01")
	}
	pattern := fixed(p)
	for _, tail := range guarded {
		if pattern && tail[1] != '.' && strings.Count(tail, "/") < 2 {
			continue // rm build/*: a bare name in a directory that is known
		}
		if strings.HasSuffix(tail, "/") {
			if strings.Contains(p, tail) || pattern && r.ends(p, strings.TrimSuffix(tail, "/")) {
				return true
			}
			continue
		}
		if r.ends(p, tail) {
			return true
		}
	}
	return false
}

// ends reports whether p, whose marks may stand for any text, can end in tail.
func (r *reader) ends(p, tail string) bool {
	i, j := len(p), len(tail)
	for i > 0 && j > 0 {
		switch p[i-1] {
		case hole:
			return true
		case glob: // any text without a slash
			from := strings.LastIndexByte(tail[:j], '/') + 1
			if from < j && tail[from] == '.' && i > 1 && p[i-2] == '/' && !r.dots {
				from = j // a pattern does not match a dot at the start of a name
			}
			for k := from; k <= j; k++ {
				if r.ends(p[:i-1], tail[:k]) {
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

// fills notes a directory that is written into. What else lies in it stays, so it counts as a whole only where a file with
// settings may come to lie at its top.
func (c *invocation) fills(text string) {
	name := path.Base(strings.TrimRight(text, "/"))
	c.writes(text, c.sc, c.text, strings.HasPrefix(name, ".") && strings.Trim(name, ".") != "" || name == "hooks")
}

// into is where a copy ends up: the target itself, or a file of the source's name in it.
func (c *invocation) into(target, source word, tree bool) {
	if target.many {
		c.doubt("where it writes is known only when it runs")
		return
	}
	c.fills(target.text)
	if base := path.Base(strings.TrimRight(source.text, "/")); base != "." && base != "/" && base != ".." {
		c.writes(strings.TrimRight(target.text, "/")+"/"+base, c.sc, c.text, tree)
	}
}
