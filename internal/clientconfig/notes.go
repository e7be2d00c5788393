package clientconfig

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/tailscale/hujson"
)

// notes are one-line warnings about a plain entry: what Bouncer in front of it does not change.
func notes(v hujson.Value, s shape) []string {
	out := asksNobody(v)
	if looksSplit(s.command) {
		out = append(out, fmt.Sprintf("command %q is one string and stays one; if it does not start, move the arguments to args", s.command))
	}
	if strings.HasPrefix(s.command, "~") {
		out = append(out, fmt.Sprintf("command %q begins with ~, which Bouncer does not replace by a home directory: write the whole path", s.command))
	}
	if pkg := unpinned(s.command, s.args); pkg != "" { // A08: a later version can do what this one does not
		out = append(out, fmt.Sprintf("%s has no fixed version: whatever its author publishes next is started", pkg))
	}
	return out
}

// asksNobody are the warnings about an entry for which the client does without a question of its own.
func asksNobody(v hujson.Value) []string {
	var out []string
	for _, key := range []string{"alwaysAllow", "autoApprove"} {
		m, _ := member(v, key)
		switch value := m.Value.Value.(type) {
		case *hujson.Array:
			var tools []string
			for _, e := range value.Elements {
				tools = append(tools, textOf(e))
			}
			if len(tools) > 0 {
				out = append(out, fmt.Sprintf("%s: the client will not ask for these: %s", key, strings.Join(tools, ", ")))
			}
		case hujson.Literal:
			if string(value) == "true" {
				out = append(out, key+": the client will not ask for any tool of this server")
			}
		}
	}
	if m, ok := member(v, "trust"); ok && string(literal(m.Value)) == "true" {
		out = append(out, "trust: the client skips its confirmation for every tool of this server")
	}
	return out
}

func literal(v hujson.Value) hujson.Literal {
	lit, _ := v.Value.(hujson.Literal)
	return lit
}

// looksSplit reports a command that holds its arguments too. A path may have spaces.
func looksSplit(command string) bool {
	first, _, ok := strings.Cut(command, " ")
	return ok && (!strings.ContainsAny(first, `/\`) || strings.Contains(command, " -"))
}

var (
	fixedNpm    = regexp.MustCompile(`.@v?\d+\.\d+\.\d+[\w.+-]*$`)
	fixedPython = regexp.MustCompile(`(===?|@)\s*v?\d[\w.+!-]*$`)
	fixedGit    = regexp.MustCompile(`^(git\+|https?://|file:|\./|/).*@[^/@]+$`)
)

// unpinned returns the package that a launcher takes in whatever version there is, or "".
func unpinned(command string, args []string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, ending := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		base = strings.TrimSuffix(base, ending)
	}
	switch base {
	case "cmd":
		for len(args) > 0 && strings.HasPrefix(args[0], "/") {
			args = args[1:]
		}
		if len(args) > 0 && args[0] != "cmd" {
			return unpinned(args[0], args[1:])
		}
	case "npx", "bunx", "pnpx":
		pkg := launched(args, []string{"-p", "--package"})
		if pkg != "" && !fixedNpm.MatchString(pkg) && !isAbs(pkg) && !strings.HasPrefix(pkg, ".") {
			return pkg
		}
	case "uvx":
		pkg := launched(args, []string{"--from"})
		if pkg != "" && !fixedPython.MatchString(pkg) && !fixedGit.MatchString(pkg) && !isAbs(pkg) && !strings.HasPrefix(pkg, ".") {
			return pkg
		}
	}
	return ""
}

// launched returns the package in a launcher's arguments: what one of the flags names, else the first word.
func launched(args []string, flags []string) string {
	for i, a := range args {
		for _, flag := range flags {
			if value, ok := strings.CutPrefix(a, flag+"="); ok {
				return value
			}
			if a == flag && i+1 < len(args) {
				return args[i+1]
			}
		}
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}
