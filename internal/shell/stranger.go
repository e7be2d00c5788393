package shell

import (
	"strings"
)

// stranger is a program that nobody described here: ./deploy.sh, mytool. It is the user's own, and does by itself nothing
// that can be seen from here. It sends to whatever among its words has the shape of a destination; and it may be a
// wrapper, so a program that reaches other machines is read where its name stands among the words.
func (c *invocation) stranger() content {
	c.shapes()
	c.touched(false)
	for i, a := range c.args {
		if a.many || !fixed(a.text) {
			continue
		}
		if strings.ContainsAny(a.text, " \t\n;|&") {
			if namesReaching(a.text) {
				c.script(a.text, c.sc.branch(), content{kind: stream})
			}
			continue
		}
		if reaches[baseName(a.text)] && i+1 < len(c.args) {
			c.run(c.args[i:], c.sc, c.in)
			break
		}
	}
	return content{kind: stream}
}

// namesReaching holds for a text with the name of a program that reaches other machines among its words.
func namesReaching(text string) bool {
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()'\"`$", r) }) {
		if reaches[baseName(f)] {
			return true
		}
	}
	return strings.Contains(text, "/dev/tcp/") || strings.Contains(text, "/dev/udp/") || strings.Contains(text, "bouncer")
}

func harmlessly(c *invocation) content { return content{kind: stream} }

// bouncer is Bouncer's own binary: with a verb that adds trust it is for a person alone.
func bouncer(c *invocation) content {
	for _, a := range c.args {
		if a.many || !plain(a.text) || personal[strings.ToLower(a.text)] {
			c.add(Effect{Kind: Run, Command: c.text, Why: "a command of Bouncer's that only a person may run"})
			break
		}
	}
	return content{kind: stream}
}

var personal = setOf("approve approvals deny init intent pins hook ui run serve")

// channel is for programs that hand what they get to somebody, by a service of their own.
func channel(c *invocation) content {
	if !c.shapes() {
		c.implied(Send, c.name+" says itself where")
	}
	return content{kind: stream}
}

// service is for clients of databases, queues and directories: a host in their options, or the local one.
func service(c *invocation) content {
	for i, a := range c.args {
		name, v, has := strings.Cut(a.text, "=")
		if !has && i+1 < len(c.args) {
			v = c.args[i+1].text
		}
		switch name {
		case "-h", "--host", "-H", "--server", "-S", "-b", "--broker", "-s", "--url", "--uri", "-n", "--bootstrap-server", "-a", "-addr", "-address", "--endpoints", "--peer", "-t", "-d", "/v:":
			if w := (word{v, a.many}); v != "" && !strings.HasPrefix(v, "-") && (hostLike(w) || name == "--host" || name == "-h" || name == "--server" || name == "-H") {
				c.endpoint(Send, w)
			}
		}
		switch {
		case strings.HasPrefix(a.text, "-h") && len(a.text) > 3 && hostLike(word{text: a.text[2:]}), strings.HasPrefix(a.text, "host="):
			c.endpoint(Send, word{text: strings.TrimPrefix(strings.TrimPrefix(a.text, "-h"), "host=")})
		case strings.Contains(a.text, "host=") || strings.Contains(a.text, "hostaddr="):
			for _, f := range strings.Fields(a.text) {
				if k, v, _ := strings.Cut(f, "="); k == "host" || k == "hostaddr" {
					c.endpoint(Send, word{text: v})
				}
			}
		case c.name == "getent" && i > 0 || c.name == "dscacheutil" && i > 0 && !strings.HasPrefix(a.text, "-"):
			if hostLike(a) {
				c.endpoint(Send, a)
			}
		case strings.Contains(a.text, `\!`) || strings.HasPrefix(a.text, "system "):
			c.doubt("it is told to run a command")
		default:
			c.shape(a)
		}
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	}
	if c.in.kind == known && (strings.Contains(c.in.text, `\!`) || strings.Contains(c.in.text, "COPY") || strings.Contains(c.in.text, "system ")) || c.name == "nsupdate" {
		c.doubt("it is told what to do by what it reads")
	}
	return content{kind: stream}
}

// texts is for programs whose arguments may each be a text of commands: tmux, concurrently, hyperfine.
func texts(c *invocation) content {
	for i, a := range c.args {
		switch {
		case !fixed(a.text) || a.many:
			if a.many || strings.ContainsRune(a.text, ' ') {
				c.doubt("the commands that it runs are known only then")
			}
		case strings.ContainsAny(a.text, " \t\n;|&") && !strings.HasPrefix(a.text, "-"):
			c.script(strings.NewReplacer("C-m", "", "Enter", "").Replace(a.text), c.sc.branch(), content{kind: stream})
		case programs[baseName(a.text)] != nil && i > 0 || reaches[baseName(a.text)]:
			c.run(c.args[i:], c.sc, content{kind: stream})
			return content{kind: stream}
		}
	}
	c.shapes()
	return content{kind: stream}
}

// later is crontab and at: what they read runs at another time.
func later(c *invocation) content {
	switch {
	case c.in.kind == known && c.name != "crontab":
		return c.script(c.in.text, c.sc.branch(), content{})
	case c.name == "crontab" && (hasFlag(c.args, "-l") || hasFlag(c.args, "-r")):
	case c.name == "at" && len(c.args) == 1 && (c.args[0].text == "-l" || c.args[0].text == "now"):
	case c.name == "crontab" && c.in.kind == known:
		for _, line := range strings.Split(c.in.text, "\n") {
			if f := strings.Fields(line); len(f) > 5 && !strings.HasPrefix(f[0], "#") {
				c.script(strings.Join(f[5:], " "), c.sc.branch(), content{})
			}
		}
		c.doubt("it sets what runs at another time")
	default:
		c.doubt("what it makes run at another time is not known")
	}
	return content{kind: stream}
}

// su and script take a text of commands in -c, and else a shell's input.
func su(c *invocation) content {
	opts, rest := grammarOf("cgGsIOoEB", "command group supp-group shell session-command").parse(c.args, false)
	for _, o := range opts {
		if o.name == "-c" || o.name == "--command" || o.name == "--session-command" {
			return c.inner(o.value)
		}
		if o.name == "-s" || o.name == "--shell" {
			c.doubt("it runs another program as the shell")
		}
	}
	switch c.name {
	case "script": // script FILE CMD on some systems
		if len(rest) > 0 {
			c.write(rest[0].text, c.sc, c.text)
		}
		if len(rest) > 1 {
			return c.run(rest[1:], c.sc, c.in)
		}
	case "runuser":
		if len(rest) > 0 {
			return c.run(rest, c.sc, c.in)
		}
	}
	return c.standardInput()
}

func sshpass(c *invocation) content {
	_, rest := grammarOf("pfdP", "").parse(c.args, true)
	return c.behind(rest)
}

// compose is docker-compose, which is docker compose.
func compose(c *invocation) content {
	c.args = append([]word{{text: "compose"}}, c.args...)
	return docker(c)
}

// fd runs commands with -x and -X.
func fd(c *invocation) content {
	for i, a := range c.args {
		switch a.text {
		case "-x", "-X", "--exec", "--exec-batch":
			var words []word
			for _, w := range c.args[i+1:] {
				w.text = strings.NewReplacer("{}", "./\x00", "{/}", "\x00", "{.}", "\x00", "{//}", "\x00").Replace(w.text)
				words = append(words, w)
			}
			c.run(append(words, word{text: "./\x00"}), c.sc, content{})
			return content{kind: stream}
		}
	}
	return content{kind: stream}
}

// unpack is patch, unzip and cpio: they write files that are named inside of what they read.
func unpack(c *invocation) content {
	switch {
	case c.name == "patch" && c.in.kind == known:
		for _, line := range strings.Split(c.in.text, "\n") {
			if name, ok := strings.CutPrefix(line, "+++ "); ok {
				name, _, _ = strings.Cut(strings.TrimPrefix(name, "b/"), "\t")
				c.write(name, c.sc, c.text)
			}
		}
	case c.name == "patch":
		for _, a := range c.args {
			if !strings.HasPrefix(a.text, "-") && fixed(a.text) {
				c.write(a.text, c.sc, c.text)
			}
		}
	case c.name == "unzip" || c.name == "7z":
		for i, a := range c.args {
			if a.text == "-d" && i+1 < len(c.args) {
				c.fills(c.args[i+1].text)
			}
			if dir, ok := strings.CutPrefix(a.text, "-o"); ok && c.name == "7z" && dir != "" {
				c.fills(dir)
			}
		}
	}
	return content{kind: stream}
}

// gpg talks to key servers.
func gpg(c *invocation) content {
	for i, a := range c.args {
		name, v, has := strings.Cut(a.text, "=")
		if !has && i+1 < len(c.args) {
			v = c.args[i+1].text
		}
		switch strings.TrimLeft(name, "-") {
		case "keyserver":
			c.endpoint(Send, word{text: v})
		case "send-keys", "recv-keys", "receive-keys", "search-keys", "refresh-keys", "fetch-keys", "locate-keys", "locate-external-keys", "auto-key-locate":
			c.implied(Send, "gpg's key server")
			c.shape(word{text: v})
		case "o", "output":
			c.sc.files[c.write(v, c.sc, c.text)] = content{kind: stream}
		case "photo-viewer", "agent-program", "dirmngr-program", "keyserver-options":
			c.doubt("gpg runs another program")
		}
	}
	return content{kind: stream}
}

// bunVerb is bun with a verb of a package manager, or with a script.
func bunVerb(c *invocation) content {
	m := managers["bun"]
	if contains(strings.Fields(m.publish+" "+m.fetch+" "+m.remote+" "+m.run), c.args[0].text) {
		return manage(c)
	}
	c.shapes()
	return content{kind: stream}
}

// completes is complete and compgen, whose -C is a command.
func completes(c *invocation) content {
	for i, a := range c.args {
		if (a.text == "-C" || a.text == "-W" || a.text == "-F") && i+1 < len(c.args) && a.text != "-W" {
			c.inner(c.args[i+1])
		}
	}
	return content{kind: stream}
}

// asks is for what cannot be read at all.
func asks(c *invocation) content {
	c.doubt("what " + c.name + " runs is not in the command")
	return content{kind: stream}
}

// cmdExe is cmd /c COMMAND on Windows.
func cmdExe(c *invocation) content {
	for i, a := range c.args {
		if t := strings.ToLower(a.text); t == "/c" || t == "/k" {
			return c.inner(word{text: joined(c.args[i+1:]), many: loose(c.args)})
		}
	}
	return content{kind: stream}
}

// kills: whoever ends Bouncer has no firewall.
func kills(c *invocation) content {
	for _, a := range c.args {
		if strings.Contains(strings.ToLower(a.text), "bouncer") {
			c.add(Effect{Kind: Run, Command: c.text, Why: "it ends Bouncer"})
		}
	}
	return content{kind: stream}
}

// client is the command line of an agent: it can change which servers and hooks are used, and an agent that it starts may have none.
func client(c *invocation) content {
	for _, a := range c.args {
		switch {
		case a.text == "--version", a.text == "-v", a.text == "--help", a.text == "-h", a.text == "doctor":
			return content{kind: stream}
		}
	}
	c.doubt("another agent, or the settings of one")
	return content{kind: stream}
}

// touched notes the guarded files that a program is given which nobody described here, or that is told to write in place.
func (c *invocation) touched(known bool) {
	for _, a := range c.args {
		_, v, _ := strings.Cut(a.text, "=")
		for _, t := range []string{a.text, v} {
			switch p := c.sc.place(t); {
			case t == "" || !plain(t) || !isGuarded(p):
			case known:
				c.write(t, c.sc, c.text)
			default:
				c.doubt("a program that nobody knows is given a file that decides about tools")
			}
		}
	}
}

// inPlace are the options by which a program that reads writes.
var inPlace = setOf("-i -w -o --write --in-place --inplace --fix --output -inplace --out -O --overwrite")

func writesInPlace(args []word) bool {
	for _, a := range args {
		name, _, _ := strings.Cut(a.text, "=")
		if inPlace[name] {
			return true
		}
	}
	return false
}

// pager is less: +! runs a command.
func pager(c *invocation) content {
	for _, a := range c.args {
		if strings.HasPrefix(a.text, "+") && strings.ContainsAny(a.text, "!|\x00") {
			c.doubt("a pager is given commands, which can run others")
		}
	}
	return content{kind: stream}
}

// mount makes a directory of another machine's a directory here: host:/path, //host/path.
func mount(c *invocation) content {
	for _, a := range operands(c.args) {
		if rest, ok := strings.CutPrefix(a.text, "//"); ok {
			host, _, _ := strings.Cut(rest, "/")
			c.host(Send, word{host, a.many}, "")
			continue
		}
		c.remote(Send, a)
	}
	return content{kind: stream}
}
