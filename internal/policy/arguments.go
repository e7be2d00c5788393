package policy

import (
	"fmt"
	"slices"
)

// Use says what an argument of a tool is to the rule that decides about it.
type Use string

// The uses. An argument may have several: a path may also be a destination.
const (
	UseSink    Use = "sink"    // a destination: sink_gate asks where it came from
	UseContent Use = "content" // text that leaves: what it names is looked at, it is no destination itself
	UsePath    Use = "path"    // confined to allowed_path_prefixes, where the rule has any
	UseNamed   Use = "named"   // the user's own words must name it (consequence)
	UseOwn     Use = "own"     // nobody else may have dictated it (consequence)
	UseBound   Use = "bound"   // arg_patterns or arg_values bind it
	UseNothing Use = "nothing"
)

// Argument is one declared argument of a tool, as its rule sees it.
type Argument struct {
	Param Param
	Use   Use
	Kind  SinkKind // of a sink, as far as it is known
	Why   string   // for people
}

// Arguments returns the rule that decides about a tool and what that makes of each declared argument, in the schema's
// order. unreadable says why the schema does not tell all arguments; "" when it does.
func (s *Set) Arguments(server Server, tool Tool) (r Rule, out []Argument, unreadable string) {
	r = s.Rule(server, tool)
	args, unreadable := declared(tool.InputSchema)
	shapes := map[string]string{}
	verbs := toolWords(tool.Name)
	for _, found := range shaped(args, verbs) {
		shapes[found.param.String()] = found.what
	}
	seen := map[string]bool{}
	for _, a := range args {
		p := a.param()
		if a.inner || seen[a.place()] {
			continue
		}
		seen[a.place()] = true
		for _, use := range r.uses(p) {
			if use == UseContent && !carriesText(a) {
				use = UseNothing
			}
			arg := Argument{Param: p, Use: use, Why: r.whyOf(use, a, shapes[p.String()], unreadable)}
			if use == UseSink {
				arg.Kind = r.kindOf(p)
			}
			out = append(out, arg)
		}
	}
	return r, out, unreadable
}

func (r Rule) uses(p Param) (out []Use) {
	if r.Exfiltrating {
		switch content := p.CoveredBy(r.Content); {
		case touches(p, r.SinkParams), len(r.SinkParams) == 0 && !content:
			out = append(out, UseSink)
		default:
			out = append(out, UseContent)
		}
	}
	if touches(p, r.WriteParams) {
		out = append(out, UsePath)
	}
	if r.Consequence != nil {
		if touches(p, r.Consequence.Named) {
			out = append(out, UseNamed)
		}
		if touches(p, r.Consequence.Own) {
			out = append(out, UseOwn)
		}
	}
	bound := slices.ContainsFunc(r.ArgPatterns, func(x ArgPattern) bool { return x.Param.Covers(p) }) ||
		slices.ContainsFunc(r.ArgValues, func(x ArgValues) bool { return x.Param.Covers(p) })
	if bound {
		out = append(out, UseBound)
	}
	if out == nil {
		return []Use{UseNothing}
	}
	return out
}

// touches reports whether p is one of the params, or holds or stands in one.
func touches(p Param, params []Param) bool {
	return p.CoveredBy(params) || slices.ContainsFunc(params, p.Covers)
}

func (r Rule) kindOf(p Param) SinkKind {
	for _, sink := range r.Sinks {
		if touches(p, sink.Args) {
			return sink.Kind
		}
	}
	return ""
}

// whyOf says in one clause why an argument is what it is.
func (r Rule) whyOf(use Use, a argument, shape, unreadable string) string {
	by := "the user's policy says so"
	if r.Layer == Pack {
		by = "pack " + r.Pack + " says so"
	}
	switch {
	case use == UseSink && shape != "":
		return "names " + shape
	case use == UseSink && unreadable != "":
		return unreadable
	case use == UseSink && len(r.SinkParams) == 0:
		return "no argument says where to, so each counts"
	case use == UseContent:
		return "goes along with a call that sends: links, addresses and accounts in it are looked at"
	case use == UsePath && r.Layer == Heuristic:
		return "its name and the tool's act are those of a path that is written"
	case use == UseNamed && r.Consequence.Guessed:
		return "says on what a tool acts that changes things for good"
	case use != UseNothing:
		return by
	case shape != "" && r.Layer == Heuristic:
		return "names " + shape + ", but the tool only reads"
	case shape != "":
		return "looks like it names " + shape + ", but " + by
	case !carriesText(a):
		return "cannot hold a destination"
	}
	return "its name is not a destination's"
}

// loosened names the settings of a rule that let something pass which its profile would not.
func (r Rule) loosened() (out []string) {
	for _, s := range []struct {
		key   string
		value Effect
		what  string
	}{
		{"on_tainted", r.OnTainted, "destinations that came from untrusted data"},
		{"on_unproven", r.OnUnproven, "destinations that nobody vouched for"},
		{"verbatim", r.Verbatim, "links that stand in untrusted data"},
	} {
		if s.value == Allow {
			out = append(out, fmt.Sprintf("%s: allow lets %s pass unasked", s.key, s.what))
		}
	}
	return out
}
