package clientconfig

import (
	"fmt"
	"path"
	"strings"

	"github.com/tailscale/hujson"
)

// State is what init finds about, or does to, one entry.
type State string

// The states of an entry.
const (
	Wrapped    State = "wrapped"                   // is put behind Bouncer
	Already    State = "already"                   // stood behind a Bouncer before
	Remote     State = "remote, not protected yet" // speaks HTTP: there is no command to stand in front of
	Skipped    State = "skipped"                   // left alone for a reason that is given
	Unwrapped  State = "unwrapped"                 // is taken out from behind Bouncer
	NotWrapped State = "not wrapped"               // had nothing to undo
)

// shape is an entry, read.
type shape struct {
	command  string
	args     []string
	hasArgs  bool // an args that is not null
	nullArgs bool // one that is
	sentinel bool
	dash     int // index in args of the -- that ends bouncer run's own flags; -1 without one
}

// remoteKeys are the members that make an entry a remote one, in the spellings of the clients.
var remoteKeys = []string{"url", "httpUrl", "serverUrl", "uri"}

// classify says what the entry is, without a view to wrapping or unwrapping it. A state of "" is a plain command that
// can be wrapped; then the shape is filled. Of an Already the shape is filled too.
func classify(f found, bouncer string) (s shape, state State, reason string) {
	if _, ok := f.outer.Value.(*hujson.Object); !ok {
		if f.why != "" {
			return s, Skipped, f.why
		}
		return s, Skipped, "the entry is not an object"
	}
	if state, reason := transport(f.outer); state != "" {
		return s, state, reason
	}
	if reason := startedByClient(f.outer); reason != "" {
		return s, Skipped, reason
	}
	s, reason = readShape(f.value, f.form)
	if reason != "" {
		return s, Skipped, reason
	}
	if isBouncer(s.command, bouncer) && len(s.args) > 0 && s.args[0] == "run" {
		return behindBouncer(s, bouncer)
	}
	if f.why != "" {
		return s, Skipped, f.why
	}
	if s.sentinel { // a planted one must not pass for a wrap
		return s, Skipped, fmt.Sprintf("it has %s, but its command is %q, not bouncer: bouncer init --undo clears that", Sentinel, s.command)
	}
	return s, "", ""
}

// behindBouncer reports an entry whose command is a bouncer. A relative one is not taken for Bouncer: a repository can
// bring a program of that name along.
func behindBouncer(s shape, bouncer string) (shape, State, string) {
	if s.command != bouncer && s.command != path.Base(s.command) && !isAbs(s.command) {
		return s, Skipped, fmt.Sprintf("its command %q is a program called bouncer inside the project, not this one", s.command)
	}
	var notes []string
	if s.dash >= 0 && s.dash+1 < len(s.args) && isBouncer(s.args[s.dash+1], bouncer) {
		notes = append(notes, fmt.Sprintf("wrapped twice: %q starts %q; remove one by hand", s.command, s.args[s.dash+1]))
	}
	if s.command != bouncer {
		notes = append(notes, fmt.Sprintf("by another bouncer, %q; this one is %q", s.command, bouncer))
	}
	if more := flagsOf(s); len(more) > 0 { // a repository can bring an entry along that weakens what it runs behind
		notes = append(notes, "with "+strings.Join(more, " "))
	}
	if s.dash < 0 && !s.sentinel {
		notes = append(notes, "it names no command after -- and has no "+Sentinel+", so it cannot start")
	}
	return s, Already, strings.Join(notes, "; ")
}

// flagsOf returns the flags of bouncer run that init does not write, with their values.
func flagsOf(s shape) []string {
	own := s.args[1:]
	if s.dash >= 0 {
		own = s.args[1:s.dash]
	}
	var out []string
	for i := 0; i < len(own); i++ {
		name, _, _ := strings.Cut(own[i], "=")
		from := i
		if TakesValue(own[i]) {
			i++
		}
		if name != "--config" && name != "--upstream-name" && name != "--name" {
			out = append(out, own[from:min(i+1, len(own))]...)
		}
	}
	return out
}

// transport finds remote entries, and those of which it is not known what the client starts.
func transport(v hujson.Value) (State, string) {
	_, hasCommand := member(v, "command")
	for _, key := range remoteKeys {
		if m, ok := member(v, key); ok && !isNull(m.Value) {
			if hasCommand {
				return Skipped, fmt.Sprintf("it has both command and %s, and which one the client uses is not known", key)
			}
			return Remote, ""
		}
	}
	m, ok := member(v, "type")
	if !ok || isNull(m.Value) {
		return "", ""
	}
	switch kind := textOf(m.Value); strings.ToLower(kind) {
	case "stdio", "local":
		return "", ""
	case "http", "sse", "streamable-http", "streamablehttp", "streamable_http", "ws", "websocket", "remote":
		if hasCommand {
			return Skipped, fmt.Sprintf("its type is %q, but it has a command", kind)
		}
		return Remote, ""
	case "builtin", "platform", "frontend", "inline_python":
		return Skipped, fmt.Sprintf("its type is %q: it is a part of the client, and no server is started", kind)
	default:
		return Skipped, fmt.Sprintf("its type %s is not known", Visible(fmt.Sprintf("%q", kind)))
	}
}

// startedByClient finds entries whose command stands in an extension or a hub, and not in the file.
func startedByClient(v hujson.Value) string {
	if _, has := member(v, "command"); has {
		return ""
	}
	if m, ok := member(v, "source"); ok && textOf(m.Value) == "extension" {
		return "an extension of the client starts it: what it runs does not stand in this file"
	}
	if _, ok := member(v, "uses"); ok {
		return "it is a block from a hub: what it runs does not stand in this file"
	}
	return ""
}

func readShape(v hujson.Value, f form) (s shape, reason string) {
	_, s.sentinel = member(v, Sentinel)
	s.dash = -1
	if f.list {
		return readList(v, f, s)
	}
	m, ok := member(v, f.key)
	if s.command, _ = stringOf(m.Value); !ok || s.command == "" {
		return s, "its command is not a non-empty string"
	}
	if strings.ContainsRune(s.command, 0) {
		return s, "its command holds a NUL, with which nothing can be started"
	}
	m, ok = member(v, "args")
	if !ok || isNull(m.Value) {
		s.nullArgs = ok
		return s, ""
	}
	list, ok := m.Value.Value.(*hujson.Array)
	if !ok {
		return s, "its args is not a list"
	}
	s.hasArgs = true
	s.args, reason = words(list, "args")
	s.dash = dashOf(s.args)
	return s, reason
}

// readList reads a command that is one list of program and arguments.
func readList(v hujson.Value, f form, s shape) (shape, string) {
	m, _ := member(v, f.key)
	list, ok := m.Value.Value.(*hujson.Array)
	if !ok || len(list.Elements) == 0 {
		return s, "its command is not a list that begins with a program"
	}
	all, reason := words(list, f.key)
	if reason != "" {
		return s, reason
	}
	if s.command = all[0]; s.command == "" {
		return s, "its command is not a non-empty string"
	}
	s.hasArgs, s.args = true, all[1:]
	s.dash = dashOf(s.args)
	return s, ""
}

func words(list *hujson.Array, name string) (out []string, reason string) {
	for i, e := range list.Elements {
		arg, ok := stringOf(e)
		if !ok {
			return nil, fmt.Sprintf("its %s[%d] is not a string", name, i)
		}
		if strings.ContainsRune(arg, 0) {
			return nil, fmt.Sprintf("its %s[%d] holds a NUL, with which nothing can be started", name, i)
		}
		out = append(out, arg)
	}
	return out, ""
}

// ownName returns the name that bouncer run is given, and whether it is joined to its flag.
func (s shape) ownName() (name string, joined bool) {
	for i := 1; i < s.dash; i++ {
		if value, ok := strings.CutPrefix(s.args[i], "--name="); ok {
			return value, true
		}
		if s.args[i] == "--name" && i+1 < s.dash {
			return s.args[i+1], false
		}
		if TakesValue(s.args[i]) {
			i++
		}
	}
	return "", false
}

// TakesValue reports whether the argument after a flag of bouncer run is its value. Taking a switch for a flag with a value
// would hide the flag that follows it, and the -- too.
func TakesValue(flag string) bool {
	return !strings.Contains(flag, "=") && flag != "--no-args" && flag != "--help"
}

// dashOf returns the index of the -- that ends the flags of bouncer run; a server can be called --, so the first one is not
// always it. -1: there is none, or these are no such flags.
func dashOf(args []string) int {
	if len(args) == 0 || args[0] != "run" {
		return -1
	}
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return i
		case !strings.HasPrefix(args[i], "--"):
			return -1
		case TakesValue(args[i]):
			i++
		}
	}
	return -1
}

// isBouncer reports whether a command is a Bouncer: this one, or any program of that name.
func isBouncer(command, bouncer string) bool {
	base := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	return command == bouncer && bouncer != "" || strings.TrimSuffix(base, ".exe") == "bouncer"
}
