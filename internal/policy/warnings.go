package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Warnings returns what a person should hear at start about the user's rules for this server and the tools that it
// lists: gates that an entry switched off, and rules that can never fire (D10). One line each, in file order. Names
// that the server chose are quoted, so that they cannot write to a terminal.
func (s *Set) Warnings(server Server, tools []Tool) []string {
	listed := map[string]Tool{}
	for _, t := range tools {
		listed[t.Name] = t
	}
	var out []warning
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if r, ok := s.user(server, name); ok {
			out = append(out, s.about(r, server, listed[name])...)
		}
	}
	out = append(out, s.unlisted(server, listed)...)
	for _, on := range []struct {
		set  bool
		text string
	}{
		{s.CleanContext, "clean_context: allow lets destinations that nobody vouched for pass unasked until the first answer of a server"},
		{s.FirstUse, "first_use: allow lets destinations pass unasked that the agent named before any server did"},
	} {
		if on.set {
			out = append(out, warning{Position{s.File, 1, 1}, on.text})
		}
	}
	slices.SortStableFunc(out, func(a, b warning) int {
		if a.at.Line != b.at.Line {
			return a.at.Line - b.at.Line
		}
		return a.at.Column - b.at.Column
	})
	lines := make([]string, len(out))
	for i, w := range out {
		lines[i] = w.at.String() + ": " + w.text
	}
	return lines
}

type warning struct {
	at   Position
	text string
}

// String returns file:line:column.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// about returns what is odd about one user rule, given the tool as it is and the rule that it replaces.
func (s *Set) about(r Rule, server Server, tool Tool) []warning {
	var out []warning
	say := func(format string, args ...any) {
		out = append(out, warning{r.At, fmt.Sprintf("tool %q: ", tool.Name) + fmt.Sprintf(format, args...)})
	}
	base := s.base(server, tool)
	switch {
	case base.Exfiltrating && !r.Exfiltrating:
		say("this entry switches the sink gate off: without it, %s would be judged (%s). to keep that, add %s",
			sinkNames(base), from(base), keep(base))
	case !r.Exfiltrating && len(r.SinkParams)+len(r.TrustedDestinations) > 0:
		say("sink_params and trusted_destinations judge nothing without exfiltrating: true")
	case r.Exfiltrating && len(r.SinkParams) > 0:
		if lost := without(base.SinkParams, r.SinkParams); base.Exfiltrating && len(lost) > 0 {
			say("this entry does not judge %s, which %s would. to keep it, add it to sink_params", list(lost), from(base))
		}
	}
	for _, entry := range r.TrustedDestinations {
		if destination.ParseEntry(entry).TooWide() {
			say("trusted_destinations: %q is a host that many strangers share, so it covers nothing below it. name a path: %q", entry, strings.TrimSuffix(entry, "/")+"/your-name/")
		}
	}
	for _, setting := range r.loosened() {
		say("%s", setting)
	}
	if base.MaxCalls != nil && r.MaxCalls == nil {
		say("this entry takes away the call budget of %s. to keep it, add max_calls: %d", from(base), *base.MaxCalls)
	}
	if len(r.WriteParams) == 0 && r.AllowedPathPrefixes != nil {
		say("allowed_path_prefixes without write_params confines %s", list(confined(r, tool).WriteParams))
	}
	args, broken := declared(tool.InputSchema)
	if broken != "" {
		say("%s, so argument names cannot be checked", broken)
		return out
	}
	for _, p := range named(r) {
		if !hasPath(args, p) {
			say("it has no argument %q%s", p.String(), nearestOf(p.String(), argumentNames(args)))
		}
	}
	return out
}

// unlisted names the user's rules for tools that the server does not list. Rules for every server may be meant for
// another one: those without a like name here are counted in one line.
func (s *Set) unlisted(server Server, listed map[string]Tool) []warning {
	var out []warning
	names := slices.Sorted(maps.Keys(listed))
	for _, scope := range s.Scopes {
		if scope.Server != server.Name && !slices.Contains(server.Identity, scope.Server) {
			continue
		}
		for _, tool := range slices.Sorted(maps.Keys(scope.Tools)) {
			if _, ok := listed[tool]; !ok {
				out = append(out, warning{scope.Tools[tool].At, fmt.Sprintf("server %q lists no tool %q, so this entry does nothing%s", server.Name, tool, nearestOf(tool, names))})
			}
		}
	}
	var elsewhere []string
	for _, tool := range slices.Sorted(maps.Keys(s.Tools)) {
		if _, ok := listed[tool]; ok {
			continue
		}
		if like := nearestOf(tool, names); like != "" {
			out = append(out, warning{s.Tools[tool].At, fmt.Sprintf("server %q lists no tool %q, so this entry does nothing here%s", server.Name, tool, like)})
			continue
		}
		elsewhere = append(elsewhere, fmt.Sprintf("%q", tool))
	}
	if len(elsewhere) > 0 {
		out = append(out, warning{Position{s.File, 1, 1}, fmt.Sprintf("server %q lists no tool %s: fine when the entries are for another server", server.Name, strings.Join(elsewhere, ", "))})
	}
	return out
}

func nearestOf(s string, names []string) string {
	if near, ok := Nearest(s, names); ok {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// named returns every argument that a rule speaks of.
func named(r Rule) []Param {
	out := slices.Concat(r.SinkParams, r.WriteParams)
	for _, p := range r.ArgPatterns {
		out = append(out, p.Param)
	}
	for _, v := range r.ArgValues {
		out = append(out, v.Param)
	}
	return out
}

// hasPath reports whether a schema has the argument, or something that may hold it.
func hasPath(args []argument, p Param) bool {
	for _, a := range args {
		q := a.param()
		if p.Covers(q) || !a.inner && q.Covers(p) && (a.kinds["object"] || a.kinds["array"] || a.kinds["any"]) {
			return true
		}
	}
	return false
}

// HasArgument reports whether the tool's input schema declares the argument, or something that may hold it.
func HasArgument(tool Tool, p Param) bool {
	args, _ := declared(tool.InputSchema)
	return hasPath(args, p)
}

func argumentNames(args []argument) []string {
	var out []string
	for _, a := range args {
		out = append(out, a.param().String())
	}
	return out
}

func sinkNames(r Rule) string {
	if len(r.SinkParams) == 0 {
		return "every argument"
	}
	return list(r.SinkParams)
}

func list(params []Param) string {
	var out []string
	for _, p := range params {
		if len(p.steps) == 0 {
			return "every argument"
		}
		out = append(out, fmt.Sprintf("%q", p.String()))
	}
	return strings.Join(out, ", ")
}

func from(r Rule) string {
	if r.Layer == Pack {
		return "pack " + r.Pack
	}
	return "heuristics"
}

// keep is what a user has to write to keep the gate of the rule that is replaced.
func keep(r Rule) string {
	if len(r.SinkParams) == 0 {
		return "`exfiltrating: true`"
	}
	var names []string
	for _, p := range r.SinkParams {
		names = append(names, quoted(p.String()))
	}
	return "`exfiltrating: true` and `sink_params: [" + strings.Join(names, ", ") + "]`"
}

// quoted quotes a name where YAML would read it as something else.
func quoted(s string) string {
	for _, r := range s {
		if !(r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return fmt.Sprintf("%q", s)
		}
	}
	return s
}
