package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var unset = value{text: string(rune(hole))} // what the command did not set itself is the environment's

// param is the value of $name, ${name}, ${name:-word} and their like, as far as it is known. What stands inside is read
// for its effects in any case: ${x:-$(curl ...)} runs a command.
func (r *reader) param(p *syntax.ParamExp, sc *scope) value {
	plain := !p.Excl && !p.Length && !p.Width && !p.IsSet && p.NestedParam == nil && p.Flags == nil && p.Modifiers == nil &&
		p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
	if p.Param == nil {
		r.inside(p, sc)
		return unset
	}
	if plain && p.Index == nil {
		return sc.lookup(p.Param.Value, r.o)
	}
	r.inside(p, sc)
	if plain {
		return element(sc.vars[p.Param.Value], p.Index)
	}
	v := sc.lookup(p.Param.Value, r.o)
	switch {
	case p.Exp == nil || p.Index != nil:
		return unset
	}
	_, have := sc.vars[p.Param.Value]
	have = have && !v.array && fixed(v.text)
	switch op := p.Exp.Op; op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if have && v.text != "" {
			return value{text: r.text(p.Exp.Word, sc)}
		}
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if have && v.text != "" {
			return v
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if have && v.text != "" {
			return v
		}
		sc.vars[p.Param.Value] = unset
	case syntax.OtherParamOps: // ${x@P} runs what stands in x
		if p.Exp.Word == nil || p.Exp.Word.Lit() == "P" {
			r.unknown("${"+p.Param.Value+"@P}", "a value is run as a prompt")
		}
	}
	return unset
}

// element is one element of an array, or all of them.
func element(v value, index syntax.ArithmExpr) value {
	w, ok := index.(*syntax.Word)
	if !ok || !v.array {
		return unset
	}
	switch at := w.Lit(); at {
	case "@", "*":
		return v
	default:
		if n, err := strconv.Atoi(at); err == nil && n >= 0 && n < len(v.list) && !slices.ContainsFunc(v.list, func(w word) bool { return w.many }) {
			return value{text: v.list[n].text}
		}
	}
	return unset
}

// lookup is the value of a variable, a positional parameter or one that the shell keeps itself.
func (s *scope) lookup(name string, o Options) value {
	switch name {
	case "HOME":
		return value{text: orHole(s.home(o))}
	case "PWD":
		if _, set := s.vars[name]; !set {
			return value{text: s.dir}
		}
	case "@", "*":
		if s.args == nil {
			return value{array: true, list: []word{anything}}
		}
		return value{array: true, list: s.args}
	case "#", "?", "$", "!", "-", "0", "_", "RANDOM", "LINENO", "SECONDS":
		return unset
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case s.args == nil || slices.ContainsFunc(s.args, func(w word) bool { return w.many }):
			return unset
		case n >= 1 && n <= len(s.args):
			return value{text: s.args[n-1].text}
		}
		return value{}
	}
	v, set := s.vars[name]
	switch {
	case !set:
		return unset
	case v.array: // $a is its first element
		if len(v.list) > 0 && !v.list[0].many {
			return value{text: v.list[0].text}
		}
		return unset
	}
	return v
}

func orHole(text string) string {
	if text == "" {
		return string(rune(hole))
	}
	return text
}

// home is the user's home, as long as the command does not set another.
func (s *scope) home(o Options) string {
	if v, set := s.vars["HOME"]; set {
		return v.text
	}
	return o.Home
}

// substitute reads the commands of $(...) and returns what they print, where that is plain: $(echo x), $(printf x).
func (r *reader) substitute(c *syntax.CmdSubst, sc *scope) string {
	if len(c.Stmts) == 1 && len(c.Stmts[0].Redirs) == 1 && c.Stmts[0].Cmd == nil {
		r.stmts(c.Stmts, sc.branch(), content{}) // $(<file)
		return string(rune(hole))
	}
	out := r.stmts(c.Stmts, sc.branch(), content{})
	if out.kind != known {
		return string(rune(hole))
	}
	return strings.TrimRight(out.text, "\n")
}

// inside reads every command that stands anywhere in a node: in a default value, an array's index, a sum.
func (r *reader) inside(n syntax.Node, sc *scope) {
	if n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.stmts(n.Stmts, sc.branch(), content{})
			return false
		case *syntax.ProcSubst:
			r.stmts(n.Stmts, sc.branch(), content{kind: stream})
			return false
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word.Lit() == "P" {
				r.unknown("${...@P}", "a value is run as a prompt")
			}
		}
		return true
	})
}

// arithmetic: a sum evaluates the values of its variables again, so that x='a[$(curl ...)]'; echo $((x)) runs a command.
func (r *reader) arithmetic(sc *scope) {
	for _, name := range slices.Sorted(maps.Keys(sc.vars)) {
		v := sc.vars[name]
		if strings.ContainsRune(v.text, '[') && (strings.Contains(v.text, "$(") || strings.ContainsRune(v.text, '`')) {
			r.unknown(name+"="+v.text, "a value that holds a command is reckoned with")
		}
	}
}
