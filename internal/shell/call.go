package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// invocation is one simple command with its words expanded: what the programs' readers get.
type invocation struct {
	*reader
	sc   *scope
	name string // the program's base name, in lower case
	args []word
	in   content
	text string // the whole, for people
}

// call reads a simple command: its assignments, then the program.
func (r *reader) call(c *syntax.CallExpr, sc *scope, in content) content {
	args := r.words(c.Args, sc)
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			r.assign(a, sc)
		}
		return content{}
	}
	if len(c.Assigns) > 0 { // x=1 command: for this command alone
		sc = sc.branch()
		for _, a := range c.Assigns {
			r.assign(a, sc)
		}
	}
	return r.run(args, sc, in)
}

// assign keeps what a variable is set to, and reads what the variables mean that programs obey.
func (r *reader) assign(a *syntax.Assign, sc *scope) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	r.inside(a.Index, sc)
	switch {
	case a.Naked:
		return
	case a.Array != nil:
		var list []word
		indexed := a.Append || a.Index != nil
		for _, e := range a.Array.Elems {
			r.inside(e.Index, sc)
			indexed = indexed || e.Index != nil
			if e.Value != nil {
				list = append(list, r.fields(e.Value, sc)...)
			}
		}
		if indexed {
			list = []word{anything}
			if old, ok := sc.vars[name]; ok && old.array && a.Append && a.Index == nil {
				list = slices.Clip(old.list)
				for _, e := range a.Array.Elems {
					if e.Value != nil {
						list = append(list, r.fields(e.Value, sc)...)
					}
				}
			}
		}
		if len(list) > maxWords {
			list = []word{anything}
		}
		sc.vars[name] = value{array: true, list: list}
	case a.Index != nil:
		r.text(a.Value, sc)
		sc.vars[name] = unset
	default:
		text := r.text(a.Value, sc)
		if a.Append {
			old := sc.lookup(name, r.o)
			text = old.text + text
			if old.array {
				text = string(rune(hole))
			}
		}
		if len(text) > longest { // x=$x$x, again and again
			text = string(rune(hole))
		}
		sc.vars[name] = value{text: text}
		r.environment(name, text, sc)
	}
	if name == "IFS" {
		sc.split = true
	}
}

// declare reads export, declare, local and readonly.
func (r *reader) declare(c *syntax.DeclClause, sc *scope) content {
	for _, a := range c.Args {
		if a.Naked && a.Name == nil && a.Value != nil { // an option, or words that turn out to be assignments
			text := r.text(a.Value, sc)
			switch name, v, is := strings.Cut(text, "="); {
			case is:
				sc.vars[name] = value{text: v}
				r.environment(name, v, sc)
			case !fixed(text):
				r.unknown(c.Variant.Value+" "+text, "what it sets is known only when it runs")
			case strings.HasPrefix(text, "-") && strings.ContainsAny(text, "nil"): // another's name, a sum, capitals
				for _, b := range c.Args {
					if b.Name != nil {
						defer func(name string) { sc.vars[name] = unset }(b.Name.Value)
					}
				}
				r.arithmetic(sc)
			}
			continue
		}
		r.assign(a, sc)
	}
	return content{}
}

// run reads a program and its arguments.
func (r *reader) run(args []word, sc *scope, in content) content {
	if !r.enter() {
		return content{kind: stream}
	}
	defer r.leave()
	for len(args) > 0 && args[0].text == "" && !args[0].many {
		args = args[1:]
	}
	if len(args) == 0 {
		return content{}
	}
	c := &invocation{reader: r, sc: sc, args: args[1:], in: in, text: joined(args)}
	first := args[0]
	if !first.many {
		if alias, ok := sc.aliases[first.text]; ok && r.texts < maxTexts {
			return c.alias(first.text, alias)
		}
		if body, ok := sc.funcs[first.text]; ok {
			return c.function(first.text, body)
		}
	}
	base := baseName(first.text)
	if first.many || !plain(base) || strings.Contains(first.text, "\x00") && !strings.Contains(first.text, "/") {
		c.doubt("which program it is, is known only when it runs")
		c.shapes()
		return content{kind: stream}
	}
	if other, ok := sc.renamed[base]; ok {
		base = other
	}
	c.name = base
	if indexes[base] {
		for _, a := range args[1:] {
			if strings.Contains(a.text, "[$(") || strings.Contains(a.text, "[`") {
				c.doubt("an index that holds a command is reckoned with")
			}
		}
	}
	c.writtenBefore(first.text)
	return c.dispatch()
}

// indexes are the builtins that read a[...] in a plain word, and run what stands in the brackets.
var indexes = setOf("test [ printf read unset let declare typeset local export readonly wait mapfile readarray getopts")

// baseName is a program's name without its directory. The file systems of two platforms do not tell capitals apart.
func baseName(text string) string {
	if at := strings.LastIndexAny(text, `/\`); at >= 0 {
		text = text[at+1:]
	}
	text = strings.ToLower(strings.TrimPrefix(text, "="))
	for _, end := range []string{".exe", ".cmd", ".bat", ".com"} {
		text = strings.TrimSuffix(text, end)
	}
	return text
}

// dispatch hands a command to the reader of its program.
func (c *invocation) dispatch() content {
	if p := programs[c.name]; p != nil {
		return p(c)
	}
	if harmless[c.name] {
		if writesInPlace(c.args) {
			c.touched(true)
		}
		return content{kind: stream}
	}
	if trimmed := strings.TrimRight(c.name, "0123456789.-"); trimmed != c.name { // python3.12, gcc-13
		if p := programs[trimmed]; p != nil && versioned[trimmed] {
			c.name = trimmed
			return p(c)
		}
	}
	return c.stranger()
}

// function reads the body of a function that the command defines, with the arguments of this call.
func (c *invocation) function(name string, body *syntax.Stmt) content {
	c.sc.called[name] = true
	if c.steps > maxSteps/2 || c.depth > 200 {
		c.doubt("a function calls itself too often to be read")
		return content{kind: stream}
	}
	saved := c.sc.args
	c.sc.args = append([]word{}, c.args...)
	out := c.stmt(body, c.sc, c.in)
	c.sc.args = saved
	return out
}

// alias reads what an alias stands for, followed by the words after it.
func (c *invocation) alias(name, text string) content {
	delete(c.sc.aliases, name) // its own name in its text is the program
	defer func() { c.sc.aliases[name] = text }()
	quoted := text
	for _, a := range c.args {
		if !a.fixed() {
			c.script(text, c.sc.branch(), c.in)
			c.doubt("the words after an alias are known only when it runs")
			return content{kind: stream}
		}
		quoted += " " + quote(a.text)
	}
	return c.script(quoted, c.sc, c.in)
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// doubt asks about the command.
func (c *invocation) doubt(why string) { c.unknown(c.text, why) }
