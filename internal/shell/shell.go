// Package shell reads a shell command and says what running it would send, fetch, publish or write, and where to. It is
// pure: it runs nothing, looks at no file and resolves no name.
//
// It must not decide anything, and it must not guess. What can only be known when the command runs is an Effect of Kind
// Unknown, which is asked about: a reading that misses a destination is a leak, one that sees too many is a question.
// An agent with a shell walks around any proxy of its tools (A19, A25), so this is the wall on that side.
package shell

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Kind is what sort of thing a command would do.
type Kind string

// The kinds of effect.
const (
	Send     Kind = "send"    // data leaves for Destinations; for none: for a place that the command does not name
	Fetch    Kind = "fetch"   // something is asked for at Destinations, with nothing but their names
	Publish  Kind = "publish" // a package, an image or a page becomes readable by others
	Write    Kind = "write"   // a file comes to be, changes or goes
	ReadFile Kind = "read"    // a file is read, and goes where the same command sends
	Run      Kind = "run"     // Bouncer's own binary, with a verb that only a person may use
	Unknown  Kind = "unknown" // what it does is known when it runs and not before
)

// Effect is one thing that a command would do. Path holds "**" for what is known only when the command runs and "*" for
// a pattern of the shell's.
type Effect struct {
	Kind         Kind
	Destinations []destination.Destination
	Path         string // of Write and ReadFile
	Tree         bool   // Path is a directory, with all that is in it
	Command      string // the words of the simple command, for people
	Why          string // what cannot be known, or how the destination is implied
}

// Options are what a reading needs to know of the place where the command will run.
type Options struct {
	Dir  string // the working directory; "" when it is not known
	Home string // the user's home; "" when it is not known
}

const (
	longest    = 64 << 10 // bytes of a command; no person reads more, and a cap never allows (A82)
	maxEffects = 500
	maxSteps   = 12_000 // commands looked at, loops and functions unrolled
	maxDepth   = 10_000
	maxTexts   = 16    // of commands in commands, like sh -c "sh -c ..."
	maxWords   = 2_000 // that one word may expand to
)

// Read says what a command would do. It returns nothing for a command that stays on this machine, and never nothing for
// one that it cannot read.
func Read(command string, o Options) (effects []Effect) {
	r := &reader{o: o, seen: map[string]bool{}}
	defer func() { // a defect of the reading, or of the parser, must not pass for a command without effect
		if p := recover(); p != nil {
			r.unknown(command, "the command cannot be read")
			effects = r.out
		}
	}()
	if len(command) > longest {
		r.unreadable(command, "the command is longer than 64 KiB")
		return r.out
	}
	r.dots = strings.Contains(command, "dot") && strings.Contains(command, "glob") || strings.Contains(strings.ToLower(command), "globdots")
	sc := newScope(o)
	r.script(command, sc, content{})
	r.uncalled(sc)
	r.leaving()
	return r.out
}

// leaving adds the files that are read, where something leaves or may leave. Secrets are told in any case.
func (r *reader) leaving() {
	leaves := slices.ContainsFunc(r.out, func(e Effect) bool { return e.Kind == Send || e.Kind == Publish || e.Kind == Unknown })
	for _, e := range r.reads {
		if leaves || secret.MatchString(e.Path) {
			r.add(e)
		}
	}
}

// read notes a file that is read.
func (r *reader) read(path, command string) {
	if len(r.reads) < maxEffects {
		r.reads = append(r.reads, Effect{Kind: ReadFile, Path: path, Command: command})
	}
}

var secret = regexp.MustCompile(`(?i)/\.(ssh|aws|gnupg|kube|docker|azure|bouncer)/|/\.(env|netrc|npmrc|pypirc|git-credentials|pgpass)|/etc/(shadow|sudoers)|/id_(rsa|dsa|ecdsa|ed25519)|credentials|\.pem$|\.key$`)

// reader collects the effects of one command.
type reader struct {
	o     Options
	out   []Effect
	seen  map[string]bool
	steps int
	depth int // of commands in one another
	texts int // of texts that are read as commands, in one another
	full  bool
	dots  bool     // patterns match names that start with a dot
	reads []Effect // files that are read: of interest when something is sent
}

// script reads a text as commands.
func (r *reader) script(text string, sc *scope, in content) content {
	switch {
	case r.texts >= maxTexts:
		r.unreadable(text, "commands in commands, too deep to be read")
	case !plain(text):
		r.unreadable(text, "a part of the commands is known only when they run")
	case nesting(text) > maxNesting:
		r.unreadable(text, "the command is nested too deeply to be read")
	default:
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
		if err != nil {
			r.unreadable(text, fmt.Sprintf("the command cannot be read: %v", err))
			break
		}
		r.texts++
		defer func() { r.texts-- }()
		return r.stmts(file.Stmts, sc, in)
	}
	return content{kind: stream}
}

// enter counts the depth and the steps, so that a reading ends whatever stands in the command.
func (r *reader) enter() bool {
	r.steps++
	if r.steps > maxSteps || r.depth >= maxDepth {
		r.unknown("", "too many commands to be read")
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

func (r *reader) unknown(command, why string) {
	r.add(Effect{Kind: Unknown, Command: command, Why: why})
}

// unreadable is for a text that is not read as commands. The places that it names are told nevertheless: a cap or a
// broken quote must not turn a denial into a question (A82).
func (r *reader) unreadable(text, why string) {
	r.unknown(text, why)
	text = shown(text)
	for _, m := range destination.Mentions(text[:min(len(text), longest)]) {
		if m.Kind == destination.URL || m.Kind == destination.Email {
			r.add(Effect{Kind: Send, Destinations: []destination.Destination{m.Destination}, Command: text, Why: "named in what cannot be read"})
		}
	}
}

// add keeps an effect, each once. Past the bound there is one rest that is asked about.
func (r *reader) add(e Effect) {
	e.Command = shorten(e.Command)
	e.Path = shown(strings.NewReplacer("\x02", "\x01", "\x03", "\x01").Replace(e.Path))
	key := fmt.Sprint(e.Kind, "\x02", e.Path, "\x02", e.Tree, "\x02", e.Why)
	for _, d := range e.Destinations {
		key += "\x02" + string(d.Kind) + "\x02" + d.Raw
	}
	switch {
	case r.seen[key] || r.full:
		return
	case len(r.out) >= maxEffects:
		r.full = true
		e = Effect{Kind: Unknown, Command: e.Command, Why: "the command does more than can be listed"}
	}
	r.seen[key] = true
	r.out = append(r.out, e)
}

// shorten keeps a command's words within what a person reads. What is cut is the middle: both ends tell.
func shorten(text string) string {
	text = shown(text)
	if runes := []rune(text); len(runes) > 400 {
		return string(runes[:250]) + " … " + string(runes[len(runes)-140:])
	}
	return text
}

// shown writes the marks of what is not known as a person writes them.
func shown(text string) string {
	return strings.NewReplacer("\x00", "**", "\x01", "*", "\x02", "?", "\x03", "[*]").Replace(text)
}

// maxNesting bounds brackets in brackets before the parser sees them: it recurses once for each.
const maxNesting = 500

// nesting is an upper bound of how deep brackets, quotes and the words that open a block lie in one another.
func nesting(text string) int {
	open, most := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[', '`':
			open++
			most = max(most, open)
		case ')', '}', ']':
			open = max(0, open-1)
		}
	}
	return most
}
