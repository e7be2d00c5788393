package shell

import (
	"maps"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one argument. Its text holds a hole for what is known only when the command runs.
type word struct {
	text string
	many bool // may turn out to be no word, or several
}

const (
	hole = '\x00' // any text. No command line can hold one, so it cannot be forged
	glob = '\x01' // a pattern of the shell's, *: any text without a slash
	one  = '\x02' // ?
	set1 = '\x03' // [...]

	marks = "\x00\x01\x02\x03"
)

// plain holds for a text without any mark.
func plain(text string) bool { return !strings.ContainsAny(text, marks) }

// fixed holds for a text that has no hole; it may be a pattern.
func fixed(text string) bool { return strings.IndexByte(text, hole) < 0 }

func (w word) fixed() bool { return !w.many && plain(w.text) }

var anything = word{text: string(rune(hole)), many: true}

// value is what is known of a variable: a text, or the elements of an array.
type value struct {
	text  string
	list  []word
	array bool
}

// content is what is known of a stream or file.
type content struct {
	kind contentKind
	text string
}

type contentKind int

const (
	inherited contentKind = iota // nothing of the command's own
	known                        // this very text
	stream                       // the output of something, known when it runs
	local                        // a file of this machine
)

// scope is what is known at one point of a script.
type scope struct {
	vars    map[string]value
	funcs   map[string]*syntax.Stmt
	called  map[string]bool
	aliases map[string]string
	args    []word // $1 and on; nil when they are not known
	dir     string // the working directory, with a hole where it is not known
	in      content
	split   bool // IFS was set, so what words a value splits into is not known
	files   map[string]content
	renamed map[string]string // a copy's or link's base name, to the program that it is
}

func newScope(o Options) *scope {
	dir := o.Dir
	if dir == "" {
		dir = string(rune(hole))
	}
	return &scope{vars: map[string]value{}, funcs: map[string]*syntax.Stmt{}, called: map[string]bool{}, aliases: map[string]string{},
		dir: dir, files: map[string]content{}, renamed: map[string]string{}}
}

// branch is a scope for what may or may not run, or runs in a process of its own. Functions, aliases and files that
// come to be there count everywhere: to know of one too many costs a question.
func (s *scope) branch() *scope {
	c := *s
	c.vars = maps.Clone(s.vars)
	return &c
}

// merge forgets what two ways through the script leave different.
func (s *scope) merge(branches ...*scope) {
	for _, b := range branches {
		for name, v := range b.vars {
			if have, ok := s.vars[name]; !ok || !have.equal(v) {
				s.vars[name] = unset
			}
		}
		if b.dir != s.dir {
			s.dir = string(rune(hole))
		}
		s.split = s.split || b.split
	}
}

// doubt forgets what may or may not have changed since.
func (s *scope) doubt(before *scope) {
	for name, v := range s.vars {
		if had, ok := before.vars[name]; !ok || !had.equal(v) {
			s.vars[name] = unset
		}
	}
	if s.dir != before.dir {
		s.dir = string(rune(hole))
	}
}

func (v value) equal(w value) bool {
	if v.text != w.text || v.array != w.array || len(v.list) != len(w.list) {
		return false
	}
	for i := range v.list {
		if v.list[i] != w.list[i] {
			return false
		}
	}
	return true
}

// place reads a path from the working directory. A hole at the start of either is any path at all.
func (s *scope) place(text string) string {
	switch {
	case text == "":
		return ""
	case text[0] == '/' || text[0] == hole:
	case len(text) > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/'): // C:\x
		return text
	default:
		for strings.HasPrefix(text, "./") {
			text = strings.TrimLeft(text[1:], "/")
		}
		text = strings.TrimSuffix(s.dir, "/") + "/" + text
	}
	if !fixed(text) {
		return text // dots cannot be taken out across what is not known
	}
	return path.Clean(text)
}
