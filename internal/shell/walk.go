package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stmts reads commands in their order and returns what they print, where one of them alone prints and that is plain.
func (r *reader) stmts(list []*syntax.Stmt, sc *scope, in content) content {
	out := content{}
	for _, st := range list {
		before := sc.branch()
		got := r.stmt(st, sc, in)
		if st.Background {
			*sc = *before // it ran in a process of its own
		} else if mayStop(st) {
			sc.doubt(before)
		}
		switch {
		case got.kind == inherited:
		case got.kind == known && out.kind != stream && out.kind != local:
			out = content{known, out.text + got.text}
		default:
			out = content{kind: stream}
		}
	}
	if len(list) > 0 && out.kind == inherited {
		out.kind = known // nothing is printed
	}
	return out
}

// stmt reads one command with its redirections.
func (r *reader) stmt(st *syntax.Stmt, sc *scope, in content) content {
	if !r.enter() {
		return content{kind: stream}
	}
	defer r.leave()
	if in.kind == inherited {
		in = sc.in
	}
	in, into := r.redirects(st.Redirs, sc, in)
	if call, ok := st.Cmd.(*syntax.CallExpr); ok && len(call.Args) == 1 && len(st.Redirs) > 0 {
		if name := r.text(call.Args[0], sc); name == "exec" { // from here on the shell itself reads from there
			sc.in = in
		}
	}
	if st.Cmd == nil {
		for _, path := range into {
			sc.files[path] = content{kind: stream}
		}
		if in.kind != inherited && len(into) == 0 {
			return content{kind: stream}
		}
		return content{}
	}
	out := r.cmd(st.Cmd, sc, in)
	for _, path := range into {
		sc.files[path] = out
		if out.kind == inherited {
			sc.files[path] = content{kind: stream}
		}
		out = content{known, ""}
	}
	return out
}

// cmd reads what stands in a statement. What may or may not run is read in a branch, and forgotten where it differs.
func (r *reader) cmd(cmd syntax.Command, sc *scope, in content) content {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return r.call(c, sc, in)
	case *syntax.BinaryCmd:
		return r.binary(c, sc, in)
	case *syntax.Subshell:
		return r.stmts(c.Stmts, sc.branch(), in)
	case *syntax.Block:
		return r.stmts(c.Stmts, sc, in)
	case *syntax.IfClause:
		return r.ifClause(c, sc, in)
	case *syntax.WhileClause:
		b := sc.branch()
		r.forget(c, b)
		b.dirIf(c)
		if in.kind == known || in.kind == local {
			in = content{kind: stream} // each turn reads a line of it
		}
		r.stmts(c.Cond, b, in)
		r.stmts(c.Do, b, in)
		sc.merge(b)
		return content{kind: stream}
	case *syntax.ForClause:
		return r.forClause(c, sc, in)
	case *syntax.CaseClause:
		r.text(c.Word, sc)
		var ways []*scope
		for _, item := range c.Items {
			b := sc.branch()
			for _, p := range item.Patterns {
				r.text(p, b)
			}
			r.stmts(item.Stmts, b, in)
			ways = append(ways, b)
		}
		sc.merge(ways...)
		return content{kind: stream}
	case *syntax.FuncDecl:
		if c.Name != nil {
			sc.funcs[c.Name.Value] = c.Body
		}
		for _, name := range c.Names {
			sc.funcs[name.Value] = c.Body
		}
		return content{}
	case *syntax.DeclClause:
		return r.declare(c, sc)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmt(c.Stmt, sc, in)
		}
		return content{}
	case *syntax.CoprocClause:
		r.stmt(c.Stmt, sc.branch(), content{kind: stream})
		return content{}
	case *syntax.ArithmCmd, *syntax.LetClause, *syntax.TestClause:
		r.forget(cmd, sc)
		r.inside(cmd, sc)
		r.arithmetic(sc)
		syntax.Walk(cmd, func(n syntax.Node) bool {
			if q, ok := n.(*syntax.SglQuoted); ok && strings.Contains(q.Value, "[$(") {
				r.unknown(q.Value, "an index that holds a command is reckoned with")
			}
			return true
		})
		return content{}
	}
	r.unknown("", "a form of command that cannot be read")
	return content{kind: stream}
}

// binary reads a && b, a || b and a | b.
func (r *reader) binary(c *syntax.BinaryCmd, sc *scope, in content) content {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		out := r.stmt(c.X, sc.branch(), in)
		if out.kind == inherited {
			out = content{kind: stream}
		}
		b := sc.branch()
		got := r.stmt(c.Y, b, out)
		sc.merge(b) // some shells run the last part of a pipe in their own process
		return got
	case syntax.OrStmt:
		x := r.stmt(c.X, sc, in)
		b := sc.branch()
		y := r.stmt(c.Y, b, in)
		sc.merge(b)
		return either(x, y)
	}
	x := r.stmt(c.X, sc, in)
	y := r.stmt(c.Y, sc, in)
	return either(x, y)
}

// mayStop holds for a && b: inside of it every part runs after all before it, and after it nobody knows how far it came. What
// goes on after a || exit has come through.
func mayStop(st *syntax.Stmt) bool {
	b, ok := st.Cmd.(*syntax.BinaryCmd)
	if !ok || b.Op == syntax.Pipe || b.Op == syntax.PipeAll {
		return false
	}
	if call, ok := b.Y.Cmd.(*syntax.CallExpr); ok && b.Op == syntax.OrStmt && len(call.Args) > 0 {
		if name := call.Args[0].Lit(); name == "exit" || name == "return" {
			return mayStop(b.X)
		}
	}
	return true
}

func either(x, y content) content {
	switch {
	case x.kind == inherited || x.kind == known && x.text == "":
		return y
	case y.kind == inherited || y.kind == known && y.text == "":
		return x
	}
	return content{kind: stream}
}

func (r *reader) ifClause(c *syntax.IfClause, sc *scope, in content) content {
	r.stmts(c.Cond, sc, in)
	then := sc.branch()
	r.stmts(c.Then, then, in)
	ways := []*scope{then}
	if c.Else != nil {
		b := sc.branch()
		if len(c.Else.Cond) == 0 {
			r.stmts(c.Else.Then, b, in)
		} else {
			r.ifClause(c.Else, b, in)
		}
		ways = append(ways, b)
	}
	sc.merge(ways...)
	return content{kind: stream}
}

// forClause reads the body once for each item that is known, since each may be a host.
func (r *reader) forClause(c *syntax.ForClause, sc *scope, in content) content {
	b := sc.branch()
	r.forget(c, b)
	b.dirIf(c)
	loop, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		r.inside(c.Loop, sc)
		r.arithmetic(sc)
		r.stmts(c.Do, b, in)
		sc.merge(b)
		return content{kind: stream}
	}
	items := r.words(loop.Items, sc)
	if !loop.InPos.IsValid() {
		items = sc.args
		if items == nil {
			items = []word{anything}
		}
	}
	if len(items) > 64 || c.Select {
		items = append(items[:min(len(items), 64)], anything)
	}
	for _, item := range items {
		turn := b.branch()
		turn.vars[loop.Name.Value] = value{text: item.text}
		r.stmts(c.Do, turn, in)
		b.merge(turn)
	}
	sc.merge(b)
	return content{kind: stream}
}

// dirIf forgets the working directory where a loop changes it: the second turn starts where the first ended.
func (s *scope) dirIf(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			if name := call.Args[0].Lit(); name == "cd" || name == "pushd" || name == "popd" {
				s.dir = string(rune(hole))
			}
		}
		return true
	})
}

// forget makes unknown every variable that is set anywhere in a node, by any means that the grammar shows.
func (r *reader) forget(n syntax.Node, sc *scope) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				sc.vars[n.Name.Value] = unset
			}
		case *syntax.WordIter:
			sc.vars[n.Name.Value] = unset
		case *syntax.BinaryArithm: // x = 1, x += 1
			if w, ok := n.X.(*syntax.Word); ok && strings.HasSuffix(n.Op.String(), "=") {
				sc.vars[w.Lit()] = unset
			}
		case *syntax.UnaryArithm:
			if w, ok := n.X.(*syntax.Word); ok {
				sc.vars[w.Lit()] = unset
			}
		case *syntax.CallExpr:
			if len(n.Args) > 1 && setsVariables[n.Args[0].Lit()] {
				for _, a := range n.Args[1:] {
					sc.vars[a.Lit()] = unset
				}
			}
		}
		return true
	})
}

var setsVariables = map[string]bool{"read": true, "mapfile": true, "readarray": true, "printf": true, "getopts": true, "unset": true, "wait": true}

// uncalled reads the bodies of functions that nothing called: a trap or a later command may.
func (r *reader) uncalled(sc *scope) {
	read := map[*syntax.Stmt]bool{}
	for more := true; more; { // a body can define others
		more = false
		for _, name := range slices.Sorted(maps.Keys(sc.funcs)) {
			body := sc.funcs[name]
			if read[body] {
				continue
			}
			read[body], more = true, true
			if !sc.called[name] {
				b := sc.branch()
				b.args = nil
				r.stmt(body, b, content{kind: stream})
			}
		}
	}
}
