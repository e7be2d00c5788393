package shell

import (
	"strings"
)

var gitGrammar = grammarOf("cC", "git-dir work-tree exec-path namespace config-env super-prefix attr-source")

// git reads the options before git's verb, then the verb.
func git(c *invocation) content {
	opts, rest := gitGrammar.parse(c.args, true)
	sc := *c.sc.branch()
	c.sc = &sc
	for _, o := range opts {
		switch o.name {
		case "-c":
			name, v, _ := strings.Cut(o.value.text, "=")
			c.setting(name, word{v, o.value.many})
		case "--config-env": // NAME=VARIABLE
			name, _, _ := strings.Cut(o.value.text, "=")
			c.setting(name, anything)
		case "-C":
			c.sc.dir = c.sc.place(o.value.text)
		case "--exec-path":
			if o.value.text != "" {
				c.doubt("git runs its commands from another place")
			}
		}
	}
	if len(rest) == 0 {
		if loose(c.args) {
			c.doubt("what git does is known only when it runs")
		}
		return content{kind: stream}
	}
	verb := rest[0]
	if !verb.fixed() {
		c.doubt("what git does is known only when it runs")
		return content{kind: stream}
	}
	c.args = rest[1:]
	if v := gitVerbs[strings.ToLower(verb.text)]; v != nil {
		v(c)
	} else if !gitLocal[verb.text] {
		c.args = rest
		c.shapes() // an alias, or a program of its own: git-x
	}
	return content{kind: stream}
}

var gitLocal = setOf(`add am annotate apply bisect blame branch bundle cat-file check-attr check-ignore cherry cherry-pick clean commit commit-tree
	count-objects describe diff diff-files diff-index diff-tree difftool fast-export fast-import for-each-ref format-patch fsck gc get-tar-commit-id
	grep hash-object help init init-db log ls-files ls-tree merge merge-base merge-file mergetool mktag mktree mv name-rev notes pack-objects
	pack-refs prune range-diff read-tree reflog replace rerere reset restore rev-list rev-parse revert rm shortlog show show-branch
	show-ref sparse-checkout stash status stripspace switch symbolic-ref tag unpack-objects update-index update-ref var verify-commit version
	whatchanged worktree write-tree maintenance`)

var gitVerbs map[string]func(*invocation)

func init() {
	gitVerbs = map[string]func(*invocation){
		"push": gitPush, "fetch": gitFetch, "pull": gitFetch, "clone": gitClone, "remote": gitRemote, "config": gitConfig, "ls-remote": gitFetch,
		"submodule": gitSubmodule, "archive": gitArchive, "send-email": func(c *invocation) { gitMail(c) }, "imap-send": func(c *invocation) { c.implied(Send, "git's imap settings say where") },
		"daemon": gitServe, "instaweb": gitServe, "http-backend": gitServe, "http-push": gitPush, "send-pack": gitPush, "fetch-pack": gitFetch, "remote-http": gitFetch, "remote-https": gitFetch,
		"svn": gitBrowse, "p4": gitBrowse, "lfs": gitLfs, "request-pull": gitBrowse, "subtree": gitBrowse, "credential": gitCredential, "credential-store": gitCredential, "annex": gitBrowse,
		"rebase": gitExec, "bisect": gitBisect, "filter-branch": gitExec, "difftool": gitExec, "mergetool": gitExec, "log": gitOutput, "diff": gitOutput, "show": gitOutput, "format-patch": gitOutput, "shortlog": gitOutput,
		"grep": gitGrep, "for-each-repo": gitExec, "checkout": gitCheckout, "restore": gitCheckout, "gui": gitOutput, "web--browse": gitBrowse, "update-server-info": gitOutput, "hook": gitExec,
	}
}

// gitRepo notes a repository among git's words: a link, host:path, a helper like ext::sh -c, a path, or a remote's name,
// which stands for what the repository's config says (A25).
func (c *invocation) gitRepo(kind Kind, w word) {
	t := w.text
	switch {
	case strings.Contains(t, "::"):
		c.doubt("a helper of git's is named, which can run commands")
		_, rest, _ := strings.Cut(t, "::")
		c.shape(word{rest, w.many})
	case !fixed(t) && !strings.Contains(t, "://") && !strings.Contains(t, ":"):
		c.doubt("the repository is known only when it runs")
	case c.remote(kind, w):
	case strings.HasPrefix(t, "/"), strings.HasPrefix(t, "."), strings.HasPrefix(t, "~"):
	case t == "":
		c.implied(kind, "the branch's remote says where")
	default:
		c.implied(kind, "the remote "+t+" of the repository says where")
	}
}

var gitPushGrammar = grammarOf("o", "repo receive-pack exec push-option upload-pack depth deepen shallow-since shallow-exclude refmap negotiation-tip server-option jobs recurse-submodules-default branch")

func gitPush(c *invocation) { c.gitTransfer(Send, gitPushGrammar) }

// gitFetch: -o is an option with a value for ls-remote and fetch, -j for fetch.
func gitFetch(c *invocation) {
	c.gitTransfer(Fetch, grammarOf("ojsX", "upload-pack exec depth deepen shallow-since shallow-exclude refmap negotiation-tip server-option jobs strategy strategy-option sort cleanup"))
}

func (c *invocation) gitTransfer(kind Kind, g grammar) {
	opts, rest := g.parse(c.args, false)
	several := false
	for _, o := range opts {
		switch o.name {
		case "--receive-pack", "--exec", "--upload-pack":
			c.doubt("the other end, or this machine, is told which program to run")
		case "--repo":
			c.gitRepo(kind, o.value)
		case "--all", "--multiple":
			several = kind == Fetch
		}
	}
	if several {
		c.implied(kind, "the remotes of the repository say where")
	}
	if len(rest) == 0 {
		c.gitRepo(kind, word{})
		return
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	}
	c.gitRepo(kind, rest[0])
	for _, other := range rest[1:] {
		if strings.Contains(other.text, "://") {
			c.reach(kind, other)
		}
	}
}

func gitClone(c *invocation) {
	opts, rest := grammarOf("bcojuS", "branch config depth origin upload-pack template reference reference-if-able separate-git-dir jobs server-option shallow-since shallow-exclude filter recurse-submodules bundle-uri").parse(c.args, false)
	for _, o := range opts {
		switch o.name {
		case "-u", "--upload-pack":
			c.doubt("the other end, or this machine, is told which program to run")
		case "-c", "--config":
			name, v, _ := strings.Cut(o.value.text, "=")
			c.setting(name, word{v, o.value.many})
		case "--template":
			c.doubt("a template can hold hooks")
		case "--bundle-uri":
			c.reach(Fetch, o.value)
		}
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	}
	if len(rest) > 0 {
		c.gitRepo(Fetch, rest[0])
	}
	if len(rest) > 1 {
		if strings.Contains(rest[1].text, "://") {
			c.reach(Fetch, rest[1])
		} else {
			c.fills(rest[1].text)
		}
	}
}

// gitRemote: where a remote points is where later pushes go.
func gitRemote(c *invocation) {
	_, rest := grammarOf("tm", "").parse(c.args, false)
	if len(rest) == 0 {
		return
	}
	switch rest[0].text {
	case "add", "set-url":
		for _, w := range rest[min(2, len(rest)):] {
			c.gitRepo(Send, w)
		}
		if loose(c.args) {
			c.doubt("some of its words are known only when it runs")
		}
	case "update", "show", "prune":
		c.implied(Fetch, "the remotes of the repository say where")
	case "rename", "remove", "rm", "get-url", "set-head", "set-branches", "-v":
	default:
		if !rest[0].fixed() {
			c.doubt("what git does is known only when it runs")
		}
	}
}

// gitConfig reads git config NAME VALUE in its old and new spellings.
func gitConfig(c *invocation) {
	opts, rest := grammarOf("ft", "file blob type default comment value url").parse(c.args, false)
	for _, o := range opts {
		switch o.name {
		case "-f", "--file":
			if len(rest) > 1 {
				c.write(o.value.text, c.sc, c.text)
			}
		case "-e", "--edit", "--get", "--get-all", "--list", "-l", "--unset", "--get-regexp":
			return
		}
	}
	if len(rest) > 0 && (rest[0].text == "set" || rest[0].text == "get" || rest[0].text == "list" || rest[0].text == "unset") {
		if rest[0].text != "set" {
			return
		}
		rest = rest[1:]
	}
	switch {
	case loose(c.args):
		c.doubt("which setting it makes is known only when it runs")
	case len(rest) >= 2:
		c.setting(rest[0].text, rest[1])
	}
}

// setting reads a setting of git's: many of them name a command or a place.
func (c *invocation) setting(name string, v word) {
	low := strings.ToLower(name)
	switch {
	case !fixed(name):
		c.doubt("which setting of git it makes is known only when it runs")
	case strings.HasPrefix(low, "alias."):
		if text := v.text; strings.HasPrefix(text, "!") {
			c.script(text[1:], c.sc.branch(), content{kind: stream})
		} else if fixed(text) {
			c.script("git "+text, c.sc.branch(), content{})
		} else {
			c.doubt("an alias of git's is known only when it runs")
		}
	case strings.HasPrefix(low, "url.") && (strings.HasSuffix(low, ".insteadof") || strings.HasSuffix(low, ".pushinsteadof")):
		c.gitRepo(Send, word{text: name[len("url."):strings.LastIndexByte(name, '.')]})
	case strings.HasPrefix(low, "remote.") && (strings.HasSuffix(low, "url") || strings.HasSuffix(low, ".proxy")),
		strings.HasPrefix(low, "submodule.") && strings.HasSuffix(low, ".url"), low == "lfs.url", low == "lfs.pushurl", strings.HasSuffix(low, ".lfsurl"):
		c.gitRepo(Send, v)
	case strings.HasPrefix(low, "http.") && strings.HasSuffix(low, "proxy"), low == "sendemail.smtpserver", low == "imap.host":
		c.endpoint(Send, v)
	case strings.HasPrefix(low, "branch.") && (strings.HasSuffix(low, ".remote") || strings.HasSuffix(low, ".pushremote")), low == "remote.pushdefault":
		c.gitRepo(Send, v)
	case strings.HasPrefix(low, "include.") || strings.HasPrefix(low, "includeif."), low == "core.hookspath", low == "init.templatedir", low == "core.attributesfile", low == "core.worktree", low == "core.gitproxy", low == "protocol.ext.allow", low == "protocol.allow":
		c.doubt("a setting of git's that decides which commands run")
	case strings.HasSuffix(low, ".extraheader"), strings.HasSuffix(low, ".useragent"):
		if !v.fixed() {
			c.doubt("git sends this setting, which is known only then")
		}
	case gitCommandSetting(low):
		text := strings.TrimPrefix(v.text, "!")
		switch {
		case text == "" || text == "true" || text == "false" || text == "cat":
		case !fixed(text) || v.many:
			c.doubt("git runs this setting, which is known only then")
		case low == "credential.helper" && gitHelpers[text]:
		default:
			c.script(text, c.sc.branch(), content{kind: stream})
			if strings.Contains(text, "/") || low == "core.sshcommand" || low == "core.fsmonitor" || strings.HasPrefix(low, "credential") {
				c.doubt("git runs this setting as a command")
			}
		}
	}
}

var gitHelpers = setOf("cache store osxkeychain manager manager-core libsecret wincred")

func gitCommandSetting(low string) bool {
	switch low {
	case "core.sshcommand", "core.editor", "core.pager", "core.askpass", "core.fsmonitor", "core.alternaterefscommand", "sequence.editor", "diff.external", "gpg.program",
		"web.browser", "uploadpack.packobjectshook", "trailer.command", "log.showsignature", "interactive.difffilter", "sendemail.sendmailcmd", "sendemail.tocmd", "sendemail.cccmd", "ssh.variant", "man.viewer", "instaweb.httpd":
		return true
	}
	for _, end := range []string{".helper", ".clean", ".smudge", ".process", ".textconv", ".command", ".cmd", ".driver", ".program", ".path", ".receivepack", ".uploadpack", ".vcs", ".update"} {
		if strings.HasSuffix(low, end) {
			return true
		}
	}
	return strings.HasPrefix(low, "pager.")
}

func gitSubmodule(c *invocation) {
	_, rest := grammarOf("bj", "branch name reference depth jobs").parse(c.args, false)
	if len(rest) == 0 {
		return
	}
	switch rest[0].text {
	case "add":
		if len(rest) > 1 {
			c.gitRepo(Fetch, rest[1])
		}
	case "set-url":
		c.gitRepo(Fetch, rest[len(rest)-1])
	case "update", "sync", "init":
		c.implied(Fetch, "the repository's submodules say where")
	case "foreach":
		c.inner(word{text: joined(rest[1:]), many: loose(rest)})
	}
}

func gitArchive(c *invocation) {
	opts, _ := grammarOf("o", "remote output exec format prefix").parse(c.args, false)
	for _, o := range opts {
		switch o.name {
		case "--remote":
			c.gitRepo(Fetch, o.value)
		case "--exec":
			c.doubt("the other end is told which program to run")
		case "-o", "--output":
			c.write(o.value.text, c.sc, c.text)
		}
	}
}

func gitMail(c *invocation) {
	for _, a := range c.args {
		_, v, ok := strings.Cut(a.text, "=")
		if ok && strings.HasPrefix(a.text, "--smtp-server=") {
			c.endpoint(Send, word{text: v})
		}
		if strings.HasSuffix(strings.SplitN(a.text, "=", 2)[0], "-cmd") {
			c.doubt("git runs a command to find out to whom it sends")
		}
	}
	if !c.addresses() {
		c.implied(Send, "the patches or git's settings say to whom")
	}
}

func gitServe(c *invocation) { c.implied(Send, "it serves the repository to whoever asks") }

func gitBrowse(c *invocation) { c.shapes() }

func gitLfs(c *invocation) {
	if len(c.args) > 0 {
		switch c.args[0].text {
		case "push":
			gitPushTail(c)
		case "fetch", "pull", "clone":
			c.implied(Fetch, "the repository's remote says where")
		}
	}
}

func gitPushTail(c *invocation) {
	c.args = c.args[1:]
	gitPush(c)
}

func gitCredential(c *invocation) {
	if c.in.kind == known {
		return
	}
	c.doubt("it hands out or keeps passwords")
}

// gitExec: rebase --exec, filter-branch --tree-filter, difftool -x.
func gitExec(c *invocation) {
	opts, _ := grammarOf("x", "exec extcmd tree-filter index-filter msg-filter commit-filter parent-filter tag-name-filter env-filter setup").parse(c.args, false)
	for _, o := range opts {
		switch {
		case o.name == "-x" || o.name == "--exec" || o.name == "--extcmd" || strings.HasSuffix(o.name, "-filter") || o.name == "--setup":
			c.inner(o.value)
		}
	}
}

func gitBisect(c *invocation) {
	if len(c.args) > 1 && c.args[0].text == "run" {
		c.run(c.args[1:], c.sc, content{})
	}
}

// gitOutput: --output=FILE writes a file that the option names (A79).
func gitOutput(c *invocation) {
	opts, _ := grammarOf("o", "output output-directory").parse(c.args, false)
	for _, o := range opts {
		switch o.name {
		case "--output", "-o", "--output-directory":
			c.write(o.value.text, c.sc, c.text)
		}
	}
}

func gitGrep(c *invocation) {
	for _, a := range c.args {
		if strings.HasPrefix(a.text, "--open-files-in-pager=") || strings.HasPrefix(a.text, "-O") && len(a.text) > 2 {
			_, v, ok := strings.Cut(a.text, "=")
			if !ok {
				v = a.text[2:]
			}
			c.inner(word{text: v})
		}
	}
}

// gitCheckout writes the files that it names.
func gitCheckout(c *invocation) {
	after := false
	for _, a := range c.args {
		if after || strings.Contains(a.text, ".json") || strings.Contains(a.text, ".toml") || strings.Contains(a.text, "/.") || strings.HasPrefix(a.text, ".") && len(a.text) > 2 {
			if fixed(a.text) && a.text != "--" {
				c.write(a.text, c.sc, c.text)
			}
		}
		after = after || a.text == "--"
	}
}
