package shell

import (
	"strings"
)

// echo prints its words: what a pipe or a substitution gets from it is known.
func echo(c *invocation) content {
	args, escapes, end := c.args, false, "\n"
	for len(args) > 0 && len(args[0].text) > 1 && args[0].text[0] == '-' && strings.Trim(args[0].text[1:], "neE") == "" {
		escapes = escapes || strings.Contains(args[0].text, "e")
		if strings.Contains(args[0].text, "n") {
			end = ""
		}
		args = args[1:]
	}
	for _, a := range args {
		if !a.fixed() {
			return content{kind: stream}
		}
	}
	text := joined(args)
	if escapes || strings.Contains(text, `\`) { // some shells' echo decodes without being asked
		decoded := ansi(text)
		if !escapes && decoded != text {
			return content{kind: stream}
		}
		text = decoded
	}
	if !fixed(text) {
		return content{kind: stream}
	}
	return content{known, text + end}
}

// printf prints its format with %s, %b, %c and %d filled in; any other form is not known.
func printf(c *invocation) content {
	args := c.args
	if len(args) > 1 && args[0].text == "-v" {
		c.sc.vars[args[1].text] = unset
		return content{}
	}
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 || loose(args) {
		return content{kind: stream}
	}
	for _, a := range args {
		if !a.fixed() {
			return content{kind: stream}
		}
	}
	format, rest := args[0].text, args[1:]
	var b strings.Builder
	for turn := 0; turn == 0 || len(rest) > 0; turn++ {
		used := len(rest)
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			v := ""
			if format[i] != '%' && len(rest) > 0 {
				v, rest = rest[0].text, rest[1:]
			}
			switch format[i] {
			case '%':
				b.WriteByte('%')
			case 's', 'd', 'i':
				b.WriteString(strings.ReplaceAll(v, `\`, `\\`))
			case 'b':
				b.WriteString(v)
			case 'c':
				b.WriteString(v[:min(1, len(v))])
			default:
				return content{kind: stream}
			}
		}
		if used == len(rest) {
			break
		}
	}
	text := ansi(b.String())
	if !fixed(text) {
		return content{kind: stream}
	}
	return content{known, text}
}

// cat without files passes on what it reads; with one that this command wrote, that.
func cat(c *invocation) content {
	var files []word
	for _, a := range c.args {
		if a.text == "-" || !strings.HasPrefix(a.text, "-") {
			files = append(files, a)
		}
	}
	for _, f := range files {
		if f.fixed() && f.text != "-" {
			c.read(c.sc.place(f.text), c.text)
		}
	}
	switch {
	case len(files) == 0 || len(files) == 1 && files[0].text == "-":
		if len(c.args) == len(files) {
			return c.in
		}
	case len(files) == 1:
		if got, ok := c.sc.files[c.sc.place(files[0].text)]; ok {
			return got
		}
	}
	return content{kind: stream}
}

func cd(c *invocation) content {
	_, rest := grammarOf("", "").parse(c.args, true)
	switch {
	case c.name == "popd", len(rest) == 0 && c.name == "pushd":
		c.sc.dir = "\x00"
	case len(rest) == 0:
		c.sc.dir = orHole(c.sc.home(c.o))
	case rest[0].text == "-" || rest[0].many:
		c.sc.dir = "\x00"
	default:
		c.sc.dir = c.sc.place(rest[0].text)
	}
	return content{}
}

// reads is read, mapfile, getopts: the variables it names are not known after it.
func reads(c *invocation) content {
	_, rest := grammarOf("adinNptuOsCc", "").parse(c.args, false)
	for _, a := range append(rest, c.args...) {
		name, _, _ := strings.Cut(a.text, "[")
		if isName(name) {
			c.sc.vars[name] = unset
		}
		if !a.fixed() {
			c.doubt("which variable it sets is known only when it runs")
		}
	}
	c.sc.vars["REPLY"], c.sc.vars["MAPFILE"] = unset, unset
	if c.name == "mapfile" || c.name == "readarray" {
		for i, a := range c.args {
			if a.text == "-C" && i+1 < len(c.args) {
				c.inner(c.args[i+1])
			}
		}
	}
	return content{}
}

// trap runs its first word later.
func trap(c *invocation) content {
	_, rest := grammarOf("", "").parse(c.args, true)
	if len(rest) > 1 && rest[0].text != "-" && rest[0].text != "" {
		c.inner(rest[0])
	}
	return content{}
}

// alias keeps name=text.
func alias(c *invocation) content {
	for _, a := range c.args {
		name, text, ok := strings.Cut(a.text, "=")
		if ok && (hasFlag(c.args, "-g") || hasFlag(c.args, "-s")) { // stands for words anywhere
			c.script(strings.TrimLeft(text, "|&; "), c.sc.branch(), content{kind: stream})
		}
		switch {
		case !ok || strings.HasPrefix(name, "-"):
		case !a.fixed():
			c.doubt("what an alias stands for is known only when it runs")
		default:
			c.sc.aliases[name] = text
		}
	}
	return content{}
}

// set changes the positional parameters.
func set(c *invocation) content {
	for i, a := range c.args {
		if a.text == "--" {
			c.sc.args = append([]word{}, c.args[i+1:]...)
			return content{}
		}
		if !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") && (i == 0 || c.args[i-1].text != "-o" && c.args[i-1].text != "+o") {
			c.sc.args = append([]word{}, c.args[i:]...)
			return content{}
		}
	}
	return content{}
}

func shift(c *invocation) content {
	if len(c.args) == 0 && len(c.sc.args) > 0 && !c.sc.args[0].many {
		c.sc.args = c.sc.args[1:]
	} else {
		c.sc.args = nil
	}
	return content{}
}

// unsets forgets variables, functions and aliases.
func unsets(c *invocation) content {
	for _, a := range c.args {
		if isName(a.text) {
			c.sc.vars[a.text] = unset
		}
	}
	return content{}
}

// exports is export and declare as plain words, as behind command or in a variable.
func exports(c *invocation) content {
	for _, a := range c.args {
		if name, v, ok := strings.Cut(a.text, "="); ok && isName(name) {
			c.sc.vars[name] = value{text: v}
			c.environment(name, v, c.sc)
		} else if !a.fixed() {
			c.doubt("what it sets is known only when it runs")
		}
	}
	return content{}
}

// enable and hash bind a name to a file.
func binds(c *invocation) content {
	for _, a := range c.args {
		if a.text == "-f" || a.text == "-p" {
			c.doubt("it binds a name to another program")
		}
	}
	return content{}
}

// mktemp makes a file of a name that nobody else has, in the directory for such files: what it prints is as good as known.
func mktemp(c *invocation) content {
	for _, a := range c.args {
		if a.text != "-d" && a.text != "-q" && a.text != "-dq" {
			return content{kind: stream}
		}
	}
	if _, moved := c.sc.vars["TMPDIR"]; moved {
		return content{kind: stream}
	}
	return content{known, "/tmp/mktemp\n"}
}
