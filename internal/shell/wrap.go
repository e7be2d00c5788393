package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrapper is a program that runs the command that stands in its arguments.
type wrapper struct {
	grammar
	skip   int    // operands before the command: timeout 5 CMD
	script string // options whose value is a text of commands: su -c
}

var wrappers = map[string]wrapper{
	"sudo":  {grammar: grammarOf("ugpCTrtUDRh", "user group prompt close-from command-timeout role type other-user chdir chroot host")},
	"doas":  {grammar: grammarOf("uC", "")},
	"nohup": {}, "setsid": {}, "unbuffer": {}, "dbus-run-session": {}, "xvfb-run": {grammar: grammarOf("enpsfw", "server-args server-num auth-file")},
	"time":     {grammar: grammarOf("fo", "format output")},
	"timeout":  {grammar: grammarOf("ks", "kill-after signal"), skip: 1},
	"gtimeout": {grammar: grammarOf("ks", "kill-after signal"), skip: 1},
	"nice":     {grammar: grammarOf("n", "adjustment")},
	"ionice":   {grammar: grammarOf("cnpPu", "class classdata pid")},
	"chrt":     {grammar: grammarOf("pTPD", ""), skip: 1},
	"taskset":  {skip: 1},
	"stdbuf":   {grammar: grammarOf("ioe", "input output error")},
	"builtin":  {}, "exec": {grammar: grammarOf("a", "")}, "noglob": {}, "nocorrect": {}, "coproc": {}, "then": {}, "do": {}, "busybox": {}, "toybox": {}, "-": {},
	"caffeinate": {grammar: grammarOf("tw", "")},
	"strace":     {grammar: grammarOf("oeapsuESPIObX", "output trace expr")},
	"ltrace":     {grammar: grammarOf("oenapsulAFDx", "output")},
	"valgrind":   {}, "fakeroot": {}, "pkexec": {grammar: grammarOf("", "user")}, "rlwrap": {}, "torsocks": {}, "torify": {}, "proxychains": {grammar: grammarOf("f", "")}, "proxychains4": {grammar: grammarOf("f", "")},
	"flock":   {grammar: grammarOf("wE", "timeout wait conflict-exit-code"), skip: 1, script: "-c --command"},
	"chroot":  {grammar: grammarOf("", "userspec groups"), skip: 1},
	"unshare": {}, "nsenter": {grammar: grammarOf("tSG", "target")}, "setpriv": {}, "firejail": {}, "bwrap": {},
	"wsl": {grammar: grammarOf("deu", "distribution exec user")}, "faketime": {skip: 1}, "direnv": {skip: 2},
	"watch": {grammar: grammarOf("nqs", "interval")},
	"entr":  {}, "ts": {}, "chronic": {}, "ifne": {}, "daemonize": {}, "start-stop-daemon": {}, "systemd-run": {grammar: grammarOf("puEtHMdG", "unit property uid gid setenv slice on-calendar on-active on-boot host machine description working-directory")},
	"systemd-inhibit": {}, "cross-env": {}, "dotenv": {}, "dotenvx": {skip: 1}, "arch": {}, "linux32": {}, "linux64": {}, "setarch": {skip: 1},
	"poetry": {skip: 1}, "pipenv": {skip: 1}, "pdm": {skip: 1}, "hatch": {skip: 1}, "bundle": {skip: 1}, "rbenv": {skip: 1}, "pyenv": {skip: 1}, "nodenv": {skip: 1},
	"asdf": {skip: 1}, "mise": {skip: 1}, "op": {skip: 1}, "doppler": {skip: 1}, "infisical": {skip: 1}, "aws-vault": {skip: 2}, "conda": {grammar: grammarOf("np", "name prefix"), skip: 1}, "mamba": {grammar: grammarOf("np", "name prefix"), skip: 1},
}

// wrap reads the command that a wrapper runs.
func wrap(c *invocation) content {
	w := wrappers[c.name]
	opts, rest := w.parse(c.args, true)
	for _, o := range opts {
		if w.script != "" && slices.Contains(strings.Fields(w.script), o.name) {
			return c.inner(o.value)
		}
		switch o.name {
		case "-o", "--output":
			if cmd := strings.TrimLeft(o.value.text, "|!"); cmd != o.value.text { // strace -o '|command'
				c.inner(word{cmd, o.value.many})
			} else if c.name != "stdbuf" {
				c.write(o.value.text, c.sc, c.text)
			}
		case "-s", "-i", "--shell", "--login":
			if c.name == "sudo" && len(rest) == 0 {
				return c.standardInput()
			}
		}
	}
	if w.skip > 0 && w.skip <= len(rest) {
		rest = rest[w.skip:]
		for len(rest) > 0 && rest[0].text == "--" {
			rest = rest[1:]
		}
	} else if w.skip > 0 {
		rest = nil
	}
	if c.name == "flock" && len(rest) > 1 && rest[0].text == "-c" {
		return c.inner(rest[1])
	}
	if c.name == "watch" && len(rest) > 0 { // runs its words, joined, by a shell
		return c.inner(word{text: joined(rest), many: loose(rest)})
	}
	return c.behind(rest)
}

// behind runs what follows a wrapper's own words. Not all options of wrappers are known: where the word that is taken for the
// program is a stranger, the programs that are known are looked for among the words after it (see stranger).
func (c *invocation) behind(rest []word) content {
	sc := c.sc
	for len(rest) > 0 {
		name, v, is := strings.Cut(rest[0].text, "=")
		if !is || !isName(name) {
			break
		}
		sc = sc.branch()
		sc.vars[name] = value{text: v}
		c.environment(name, v, sc)
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return content{kind: stream}
	}
	return c.run(rest, sc, c.in)
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// inner reads a text of commands in an argument: sh -c TEXT, eval TEXT.
func (c *invocation) inner(w word) content {
	if w.many {
		c.doubt("the commands are known only when it runs")
		return content{kind: stream}
	}
	return c.script(w.text, c.sc.branch(), c.in)
}

// standardInput reads the commands that a shell gets from a pipe or a here-document.
func (c *invocation) standardInput() content {
	switch c.in.kind {
	case known:
		return c.script(c.in.text, c.sc.branch(), content{kind: stream})
	case stream:
		c.doubt("it runs what it reads from a pipe")
	}
	return content{kind: stream}
}

func env(c *invocation) content {
	opts, rest := grammarOf("uCS", "unset chdir split-string").parse(c.args, true)
	for _, o := range opts {
		switch o.name {
		case "-S", "--split-string":
			text := o.value.text
			for _, a := range rest {
				text += " " + quote(a.text)
			}
			return c.inner(word{text: "env " + text, many: o.value.many || loose(rest)})
		case "-C", "--chdir":
			sc := *c.sc.branch()
			sc.dir = sc.place(o.value.text)
			c.sc = &sc
		}
	}
	return c.behind(rest)
}

// command runs its words, and with -v only looks for them.
func command(c *invocation) content {
	opts, rest := grammarOf("", "").parse(c.args, true)
	for _, o := range opts {
		if o.name == "-v" || o.name == "-V" {
			return content{kind: stream}
		}
	}
	return c.pastFunctions(rest)
}

// pastFunctions runs a command that no function or alias of its name stands before.
func (c *invocation) pastFunctions(rest []word) content {
	if len(rest) == 0 {
		return content{}
	}
	sc := *c.sc
	sc.funcs, sc.called, sc.aliases = map[string]*syntax.Stmt{}, map[string]bool{}, map[string]string{}
	return c.run(rest, &sc, c.in)
}

func sh(c *invocation) content {
	opts, rest := grammarOf("oO", "rcfile init-file").parse(c.args, true)
	for _, o := range opts {
		switch o.name {
		case "--rcfile", "--init-file":
			c.ranFile(o.value)
		case "-c", "--command":
			if len(rest) == 0 {
				c.doubt("the commands are known only when it runs")
				return content{kind: stream}
			}
			sc := c.sc.branch()
			sc.args = nil
			if len(rest) > 1 {
				sc.args = rest[2:]
			} else {
				sc.args = []word{}
			}
			if rest[0].many {
				c.doubt("the commands are known only when it runs")
				return content{kind: stream}
			}
			return c.script(rest[0].text, sc, c.in)
		case "-s":
			return c.standardInput()
		}
	}
	if len(rest) == 0 || rest[0].text == "-" || strings.HasPrefix(rest[0].text, "/dev/stdin") {
		return c.standardInput()
	}
	return c.file(rest)
}

// file reads a shell's script file: one that this command wrote is read like its text, any other is what the user has.
func (c *invocation) file(rest []word) content {
	if !c.ranFile(rest[0]) {
		return content{kind: stream}
	}
	c.args = rest[1:]
	c.shapes()
	return content{kind: stream}
}

// ranFile reads a file that is run as a script. It reports false where that cannot be read.
func (c *invocation) ranFile(w word) bool {
	switch {
	case w.many, strings.HasPrefix(w.text, "/dev/"), strings.HasPrefix(w.text, "/proc/"), strings.Contains(w.text, "://"):
		c.doubt("the script that it runs is known only when it runs")
		return false
	}
	return c.writtenBefore(w.text)
}

// writtenBefore reads a file that was written earlier in the command and is run now.
func (c *invocation) writtenBefore(text string) bool {
	got, ok := c.sc.files[c.sc.place(text)]
	if !ok {
		return true
	}
	if got.kind == known {
		if shebang, _, _ := strings.Cut(got.text, "\n"); strings.HasPrefix(shebang, "#!") && !strings.Contains(shebang, "sh") {
			c.code(got.text)
			return true
		}
		c.script(got.text, c.sc.branch(), content{kind: stream})
		return true
	}
	if got.kind == stream {
		c.doubt("it runs a file that the same command writes")
		return false
	}
	return true
}

func eval(c *invocation) content {
	args := c.args
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if loose(args) {
		c.doubt("the commands are known only when it runs")
		return content{kind: stream}
	}
	return c.script(joined(args), c.sc, c.in)
}

func source(c *invocation) content {
	if len(c.args) == 0 {
		return content{}
	}
	if strings.HasPrefix(c.args[0].text, "/dev/stdin") {
		return c.standardInput()
	}
	return c.file(c.args)
}

// xargs adds what it reads to the words of its command.
func xargs(c *invocation) content {
	opts, rest := grammarOf("aEIdLnPsJR", "arg-file delimiter max-args max-chars max-lines max-procs replace process-slot-var").parse(c.args, true)
	extra, places := []word{anything}, ""
	if c.in.kind == known {
		extra = nil
		for _, f := range strings.Fields(c.in.text) {
			extra = append(extra, word{text: strings.Trim(f, `'"`)})
		}
	}
	for _, o := range opts {
		switch o.name {
		case "-a", "--arg-file", "-d", "--delimiter":
			extra = []word{anything}
		case "-0", "--null":
			if c.in.kind == known && extra != nil {
				extra = []word{{text: c.in.text}}
			}
		case "-I", "-J", "--replace", "-i":
			if places = o.value.text; places == "" {
				places = "{}"
			}
		}
	}
	if places != "" && c.in.kind == known && !loose(extra) { // a line is one word
		extra = nil
		for _, line := range strings.Split(strings.TrimSpace(c.in.text), "\n") {
			extra = append(extra, word{text: strings.TrimSpace(line)})
		}
	}
	if len(extra) > 200 || c.in.kind == known && strings.ContainsAny(c.in.text, "\\\"'") {
		extra = []word{anything}
	}
	if len(rest) == 0 {
		return content{kind: stream}
	}
	c.in = content{kind: stream}
	if places == "" {
		return c.run(append(slices.Clip(rest), extra...), c.sc, c.in)
	}
	for _, e := range extra {
		words := make([]word, len(rest))
		for i, w := range rest {
			words[i] = word{text: strings.ReplaceAll(w.text, places, e.text), many: w.many}
		}
		c.run(words, c.sc, c.in)
	}
	return content{kind: stream}
}

// parallel is GNU parallel: its words are a text for a shell, {} in it what it reads or what stands after :::.
func parallel(c *invocation) content {
	_, rest := grammarOf("jaSINnLXC", "jobs arg-file sshlogin colsep delay timeout joblog results tmpdir retries max-args").parse(c.args, true)
	for _, a := range c.args {
		if a.text == "-S" || strings.HasPrefix(a.text, "--sshlogin") {
			c.doubt("it runs on other machines")
		}
	}
	var inputs []word
	for i, w := range rest {
		if strings.HasPrefix(w.text, ":::") {
			inputs, rest = rest[i+1:], rest[:i]
			break
		}
	}
	if len(rest) == 0 { // the lines it reads are the commands
		for _, w := range inputs {
			c.inner(w)
		}
		if len(inputs) == 0 {
			c.standardInput()
		}
		return content{kind: stream}
	}
	if inputs == nil {
		inputs = []word{anything}
		if c.in.kind == known {
			inputs = nil
			for _, l := range strings.Split(strings.TrimSpace(c.in.text), "\n") {
				inputs = append(inputs, word{text: l})
			}
		}
	}
	for _, in := range inputs {
		text := joined(rest)
		if strings.Contains(text, "{") {
			for _, form := range []string{"{}", "{.}", "{/}", "{//}", "{/.}", "{1}"} {
				text = strings.ReplaceAll(text, form, in.text)
			}
			c.run(fieldsOf(text), c.sc, content{kind: stream})
			continue
		}
		c.run(append(slices.Clip(rest), in), c.sc, content{kind: stream})
	}
	return content{kind: stream}
}

func fieldsOf(text string) []word {
	var out []word
	for _, f := range strings.Fields(text) {
		out = append(out, word{text: f, many: !fixed(f)})
	}
	return out
}

// find runs commands for the files that it finds. Their names end as its -name says, and lie below where it starts.
func find(c *invocation) content {
	start, name := ".", "\x00"
	for i, a := range c.args {
		if i == 0 && !strings.HasPrefix(a.text, "-") {
			start = a.text
		}
		if (a.text == "-name" || a.text == "-iname") && i+1 < len(c.args) {
			name = strings.NewReplacer("*", "\x00", "?", "\x00", "[", "\x00").Replace(c.args[i+1].text)
		}
	}
	found := start + "/\x00/" + name
	for i := 0; i < len(c.args); i++ {
		switch c.args[i].text {
		case "-exec", "-execdir", "-ok", "-okdir":
			var words []word
			for i++; i < len(c.args) && c.args[i].text != ";" && !(c.args[i].text == "+" && len(words) > 0 && words[len(words)-1].text == found); i++ {
				w := c.args[i]
				w.text = strings.ReplaceAll(w.text, "{}", found)
				words = append(words, w)
			}
			c.run(words, c.sc, content{})
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(c.args) {
				c.write(c.args[i+1].text, c.sc, c.text)
			}
		case "-delete":
			c.writes(found, c.sc, c.text, false)
		}
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs, and it can run commands")
	}
	return content{kind: stream}
}
