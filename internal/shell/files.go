package shell

import (
	"regexp"
	"strings"
)

// copies is cp, mv, ln, install: the last operand is where to, or -t says so.
func copies(c *invocation) content {
	opts, rest := grammarOf("tSgmo", "target-directory suffix group mode owner strip-program").parse(c.args, false)
	if c.name == "mv" || c.name == "cp" || c.name == "ln" {
		opts, rest = grammarOf("tS", "target-directory suffix").parse(c.args, false)
	}
	tree := c.name == "mv"
	var target word
	have := false
	for _, o := range opts {
		switch o.name {
		case "-t", "--target-directory":
			target, have = o.value, true
		case "-r", "-R", "-a", "--recursive", "--archive":
			tree = true
		}
	}
	if !have {
		if len(rest) < 2 {
			if c.name == "ln" && len(rest) == 1 {
				c.into(word{text: "."}, rest[0], false)
			} else if loose(c.args) {
				c.doubt("where it writes is known only when it runs")
			}
			return content{kind: stream}
		}
		target, rest = rest[len(rest)-1], rest[:len(rest)-1]
	}
	for _, source := range rest {
		c.into(target, source, tree)
		c.moved(source, target)
		if c.name == "mv" { // what is moved is gone from where it was
			c.writes(source.text, c.sc, c.text, true)
		}
	}
	return content{kind: stream}
}

// moved keeps under their new names the programs and scripts that are copied, linked or moved.
func (c *invocation) moved(source, target word) {
	if !target.fixed() {
		return
	}
	from, to := baseName(source.text), baseName(target.text)
	if programs[from] != nil && programs[to] == nil && !strings.HasSuffix(target.text, "/") {
		c.sc.renamed[to] = from
	}
	if strings.IndexByte(source.text, hole) >= 0 { // cp $(which curl) x
		c.sc.files[c.sc.place(target.text)] = content{kind: stream}
		return
	}
	if got, ok := c.sc.files[c.sc.place(source.text)]; ok {
		c.sc.files[c.sc.place(target.text)] = got
		c.sc.files[c.sc.place(strings.TrimRight(target.text, "/")+"/"+from)] = got
	}
}

// names is for programs that write, make or take away every file that they name: tee, touch, rm, truncate.
func names(g grammar) program {
	return func(c *invocation) content {
		_, rest := g.parse(c.args, false)
		tree := c.name == "rm" || c.name == "rmdir" || c.name == "shred" || c.name == "unlink" || c.name == "trash"
		if c.name == "chmod" || c.name == "chown" || c.name == "chattr" {
			rest = rest[min(1, len(rest)):]
			tree = false
		}
		for _, w := range rest {
			if c.name == "tee" && c.socket(w.text) {
				continue
			}
			if tree {
				text := w.text
				if w.many {
					text = "\x00" + text
				}
				c.writes(text, c.sc, c.text, true)
				continue
			}
			if c.name == "tee" {
				c.writeWord(w)
				if !w.many && c.in.kind == known {
					c.sc.files[c.sc.place(w.text)] = c.in
				}
				continue
			}
			if c.name == "chmod" || c.name == "chown" || c.name == "touch" || c.name == "chattr" {
				if fixed(w.text) { // neither changes what is in a file
					c.write(w.text, c.sc, c.text)
				}
				continue
			}
			c.writeWord(w)
		}
		if c.name == "tee" {
			return c.in
		}
		return content{kind: stream}
	}
}

// dd: if=FILE of=FILE.
func dd(c *invocation) content {
	for _, a := range c.args {
		if v, ok := strings.CutPrefix(a.text, "of="); ok {
			if !c.socket(v) {
				c.writeWord(word{v, a.many})
			}
		}
		if !fixed(a.text) && !strings.Contains(a.text, "=") {
			c.doubt("some of its words are known only when it runs")
		}
	}
	return content{kind: stream}
}

var tarRuns = regexp.MustCompile(`^--(to-command|use-compress-program|checkpoint-action|rsh-command|info-script|new-volume-script|rmt-command)(=|$)`)

// tar runs what some of its options name, and reads host:file as an archive on another machine.
func tar(c *invocation) content {
	dir, extracts := "", false
	for i, a := range c.args {
		t := a.text
		next := word{}
		if i+1 < len(c.args) {
			next = c.args[i+1]
		}
		switch {
		case tarRuns.MatchString(t):
			_, v, ok := strings.Cut(t, "=")
			if !ok {
				v = next.text
			}
			v = strings.TrimPrefix(strings.TrimPrefix(v, "exec="), "dot")
			if fields := strings.Fields(v); len(fields) == 0 || !harmless[baseName(fields[0])] {
				c.doubt("tar runs a command")
			}
			c.inner(word{text: v})
		case t == "-I" || t == "-F":
			if fields := strings.Fields(next.text); len(fields) == 0 || !harmless[baseName(fields[0])] {
				c.doubt("tar runs a command")
			}
		case t == "-C" || t == "--directory":
			dir = next.text
		case strings.HasPrefix(t, "--directory="):
			dir = t[len("--directory="):]
		case strings.HasPrefix(t, "--file=") || i > 0 && strings.HasPrefix(c.args[i-1].text, "-") && strings.HasSuffix(c.args[i-1].text, "f") || i == 1 && strings.HasSuffix(c.args[0].text, "f"):
			f := word{strings.TrimPrefix(t, "--file="), a.many}
			if strings.Contains(f.text, ":") && !hasFlag(c.args, "--force-local") {
				c.remote(Send, f)
			} else if f.text != "-" && strings.Contains(c.args[0].text, "c") && !strings.HasPrefix(c.args[0].text, "--") {
				c.write(f.text, c.sc, c.text)
			}
		case t == "--extract" || t == "-x" || i == 0 && strings.Contains(t, "x"):
			extracts = true
		case a.many && t == "\x00":
			c.doubt("some of its words are known only when it runs, and it can run commands")
		}
	}
	if extracts && dir != "" {
		c.fills(dir)
	}
	return content{kind: stream}
}

// runsOption is for local programs of which a few options run a command: sort --compress-program, rg --pre.
func runsOption(options ...string) program {
	return func(c *invocation) content {
		for i, a := range c.args {
			name, v, has := strings.Cut(a.text, "=")
			if !contains(options, name) {
				continue
			}
			if !has && i+1 < len(c.args) {
				v = c.args[i+1].text
			}
			if !fixed(v) {
				c.doubt("it runs a command that is known only then")
				continue
			}
			c.inner(word{text: v})
			c.name = ""
		}
		return content{kind: stream}
	}
}

// makes runs what a makefile says. One that comes from a pipe, or was written a moment ago, is not the user's.
func makes(c *invocation) content {
	opts, rest := grammarOf("fCIjloW", "file makefile directory include-dir eval old-file what-if").parse(c.args, false)
	for _, o := range opts {
		switch o.name {
		case "-f", "--file", "--makefile":
			if o.value.text == "-" || strings.HasPrefix(o.value.text, "/dev/") || o.value.many {
				if c.in.kind == known {
					c.makefile(c.in.text)
				} else {
					c.doubt("its rules come from a pipe")
				}
			} else if got, ok := c.sc.files[c.sc.place(o.value.text)]; ok {
				if got.kind == known {
					c.makefile(got.text)
				} else {
					c.doubt("it runs a file that the same command writes")
				}
			}
		case "--eval":
			c.makefile(o.value.text)
		}
	}
	for _, name := range []string{"Makefile", "makefile", "GNUmakefile", "Justfile", "justfile", "Taskfile.yml", "package.json"} {
		if got, ok := c.sc.files[c.sc.place(name)]; ok {
			if got.kind == known {
				c.makefile(got.text)
			} else {
				c.doubt("it runs a file that the same command writes")
			}
		}
	}
	for _, w := range rest {
		if name, v, ok := strings.Cut(w.text, "="); ok && (name == "SHELL" || strings.Contains(v, "$(shell") || strings.Contains(v, "`")) {
			c.makefile(v)
			c.doubt("a variable of make's runs a command")
		}
		c.shape(w)
	}
	return content{kind: stream}
}

// makefile reads the recipe lines of a makefile as commands, and asks about what make itself would run.
func (c *invocation) makefile(text string) {
	if strings.Contains(text, "$(shell") || strings.Contains(text, "!=") || strings.Contains(text, "${shell") {
		c.doubt("make runs a command while it reads its rules")
	}
	for _, line := range strings.Split(text, "\n") {
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			c.script(strings.ReplaceAll(strings.TrimLeft(recipe, "@-+ "), "$$", "$"), c.sc.branch(), content{kind: stream})
		} else if _, recipe, ok := strings.Cut(line, ";"); ok {
			c.script(strings.ReplaceAll(recipe, "$$", "$"), c.sc.branch(), content{kind: stream})
		}
	}
}
