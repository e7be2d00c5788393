package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// words expands words as the shell would, as far as that is known.
func (r *reader) words(ws []*syntax.Word, sc *scope) []word {
	var out []word
	for _, w := range ws {
		out = append(out, r.fields(w, sc)...)
		if len(out) > maxWords {
			r.unknown("", "a word expands to too many")
			return append(out[:maxWords], anything)
		}
	}
	return out
}

// fields expands one word, which may turn into several.
func (r *reader) fields(w *syntax.Word, sc *scope) []word {
	syntax.SplitBraces(w)
	var out []word
	for _, parts := range braces(w.Parts) {
		e := expansion{r: r, sc: sc}
		for i, p := range parts {
			e.part(p, i == 0)
			if e.cur.Len() > longest || len(e.out) > maxWords {
				return []word{anything}
			}
		}
		if out = append(out, e.done()...); len(out) > maxWords {
			return []word{anything}
		}
	}
	return out
}

// text expands a word that the shell does not split: the value of an assignment, a redirection's target, a here-document.
func (r *reader) text(w *syntax.Word, sc *scope) string {
	if w == nil {
		return ""
	}
	e := expansion{r: r, sc: sc, whole: true}
	for i, p := range w.Parts {
		if e.part(p, i == 0); e.cur.Len() > longest {
			return string(rune(hole))
		}
	}
	return e.cur.String()
}

// braces multiplies out {a,b}. More than a few hundred are one hole.
func braces(parts []syntax.WordPart) [][]syntax.WordPart {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range out {
				out[i] = append(slices.Clip(out[i]), p)
			}
			continue
		}
		var choices [][]syntax.WordPart
		if b.Sequence {
			choices = [][]syntax.WordPart{{&syntax.ParamExp{}}} // 1..9, a..e: a hole
		} else {
			for _, e := range b.Elems {
				choices = append(choices, braces(e.Parts)...)
			}
		}
		if len(out)*len(choices) > 256 {
			choices = [][]syntax.WordPart{{&syntax.ParamExp{}}}
		}
		var next [][]syntax.WordPart
		for _, o := range out {
			for _, c := range choices {
				next = append(next, append(slices.Clip(o), c...))
			}
		}
		out = next
	}
	return out
}

// expansion builds the fields of one word.
type expansion struct {
	r      *reader
	sc     *scope
	whole  bool // no splitting
	cur    strings.Builder
	quoted bool // the field exists though it is empty
	many   bool
	open   bool // a bracket stands in it that nothing closed yet: [$x]
	out    []word
}

func (e *expansion) done() []word {
	if e.cur.Len() > 0 || e.quoted || e.many {
		e.end()
	}
	return e.out
}

func (e *expansion) end() {
	text := e.cur.String()
	if e.open && strings.IndexByte(text, ']') > 0 {
		text = string(rune(hole))
	}
	e.out = append(e.out, word{text, e.many})
	e.cur.Reset()
	e.quoted, e.many, e.open = false, false, false
}

func (e *expansion) part(p syntax.WordPart, start bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		e.literal(p.Value, start)
	case *syntax.SglQuoted:
		e.quoted = true
		if p.Dollar {
			e.cur.WriteString(ansi(p.Value))
		} else {
			e.cur.WriteString(p.Value)
		}
	case *syntax.DblQuoted:
		e.doubleQuoted(p)
	case *syntax.ParamExp:
		v := e.r.param(p, e.sc)
		switch {
		case v.array && !e.whole:
			e.list(v.list, false)
		case v.array:
			e.cur.WriteString(e.sc.joined(v.list))
		default:
			e.unquoted(v.text)
		}
	case *syntax.CmdSubst:
		e.unquoted(e.r.substitute(p, e.sc))
	case *syntax.ArithmExp:
		e.r.inside(p.X, e.sc)
		e.r.arithmetic(e.sc)
		e.cur.WriteByte(hole)
	case *syntax.ProcSubst:
		in := content{}
		if p.Op == syntax.CmdOut { // >( ... )
			in.kind = stream
		}
		e.r.stmts(p.Stmts, e.sc.branch(), in)
		e.cur.WriteString("/dev/fd/\x00")
	case *syntax.ExtGlob:
		e.cur.WriteByte(glob)
	case *syntax.BraceExp:
		e.cur.WriteByte(hole)
	default:
		e.cur.WriteByte(hole)
		e.many = true
	}
}

// literal is text outside of quotes: backslashes go, patterns are patterns, a tilde at the start is the home.
func (e *expansion) literal(s string, start bool) {
	if start && strings.HasPrefix(s, "~") {
		user, _, _ := strings.Cut(s[1:], "/")
		switch {
		case user == "" && e.sc.home(e.r.o) != "":
			e.cur.WriteString(strings.TrimSuffix(e.sc.home(e.r.o), "/"))
		default:
			e.cur.WriteByte(hole)
		}
		s = s[1+len(user):]
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				e.cur.WriteByte(s[i])
			}
		case '*', '?', '[':
			if e.whole {
				e.cur.WriteByte(c) // whoever uses the value unquoted sees the pattern then
			} else {
				i = e.pattern(s, i)
			}
		default:
			e.cur.WriteByte(c)
		}
	}
}

// pattern writes the mark of a pattern that starts at s[i], and returns where it ends. A bracket that nothing closes is text,
// as in the command [ itself.
func (e *expansion) pattern(s string, i int) int {
	mark := byte(glob)
	switch s[i] {
	case '?':
		mark = one
	case '[':
		end := strings.IndexByte(s[i:], ']')
		if end < 0 {
			e.cur.WriteByte('[')
			e.open = true
			return i
		}
		i, mark = i+end, set1
	}
	e.cur.WriteByte(mark)
	return i
}

func (e *expansion) doubleQuoted(q *syntax.DblQuoted) {
	e.quoted = true
	for _, p := range q.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			e.cur.WriteString(unescape(p.Value))
		case *syntax.ParamExp:
			v := e.r.param(p, e.sc)
			switch {
			case v.array && !e.whole && listed(p):
				e.quoted = e.cur.Len() > 0 || len(q.Parts) > 1
				e.list(v.list, true)
			case v.array:
				e.cur.WriteString(e.sc.joined(v.list))
			default:
				e.cur.WriteString(v.text)
			}
		case *syntax.CmdSubst:
			e.cur.WriteString(e.r.substitute(p, e.sc))
		default:
			e.part(p, false)
		}
	}
}

// listed holds for "$@" and "${a[@]}", which stay several words in quotes.
func listed(p *syntax.ParamExp) bool {
	if p.Param == nil {
		return false
	}
	if p.Param.Value == "@" {
		return true
	}
	w, ok := p.Index.(*syntax.Word)
	return ok && w.Lit() == "@"
}

// joined is "$*": its words with the first character of IFS between them.
func (s *scope) joined(list []word) string {
	if s.split {
		return string(rune(hole))
	}
	return joined(list)
}

func joined(list []word) string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

// list puts the elements of an array where it is expanded.
func (e *expansion) list(list []word, quoted bool) {
	for i, w := range list {
		if i > 0 {
			e.end()
		}
		if quoted {
			e.cur.WriteString(w.text)
			e.quoted = true
			e.many = e.many || w.many
		} else {
			e.unquoted(w.text)
		}
	}
}

// unquoted is a value outside of quotes: it is split at blanks, and its patterns are patterns. A hole in it may be
// several words. (A shell that does not split, like zsh, has one word; then the program's name is none that exists.)
func (e *expansion) unquoted(text string) {
	if e.whole {
		e.cur.WriteString(text)
		return
	}
	if e.sc.split && text != "" {
		e.cur.WriteByte(hole)
		e.many = true
		return
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\n':
			if e.cur.Len() > 0 || e.quoted {
				e.end()
			}
		case '*', '?', '[':
			i = e.pattern(text, i)
		case hole:
			e.cur.WriteByte(hole)
			e.many = true
		default:
			e.cur.WriteByte(c)
		}
	}
}

// unescape removes the backslashes that count inside double quotes.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '\n':
				i++
				continue
			case '$', '`', '"', '\\':
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
