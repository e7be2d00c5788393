package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// pinning denies without a question: in mid-call there is nothing about a new or changed tool that a person could
// vouch for (A55, A61).
func pinning(c Call) []Finding {
	switch c.Pin.State {
	case PinHeld:
		if c.Pin.Hidden == "" {
			return nil
		}
		return asking(c, Finding{Contract: Pinning, Reason: fmt.Sprintf("the definition of tool %s holds what cannot be seen: %s", repr(c.Tool), c.Pin.Hidden)})
	case PinChanged:
		return []Finding{deny(Pinning, "", "the definition of tool %s changed since it was pinned (%s); review it and restart the server to pin it anew",
			repr(c.Tool), strings.Join(c.Pin.Changed, ", "))}
	case PinAmbiguous:
		return []Finding{deny(Pinning, "", "the server lists tool %s more than once, or beside a name that looks like it, so it is not clear what would run", repr(c.Tool))}
	case PinUnlistable:
		return []Finding{deny(Pinning, "", "the server's tool list could not be read, so tool %s is not pinned", repr(c.Tool))}
	default:
		return []Finding{deny(Pinning, "", "tool %s was not pinned at startup; review it and restart the server to pin it", repr(c.Tool))}
	}
}

// budget counts attempts, not successes: an attempted destructive call is a real attempt, and a denied one cannot be
// retried for free.
func budget(c Call, r Rules) []Finding {
	if r.MaxCalls == nil || c.Pin.State != PinHeld { // what is not pinned is denied already, and was given no slot
		return nil
	}
	if c.Slot > 0 && c.Slot <= *r.MaxCalls {
		return nil
	}
	return []Finding{deny(Budget, "", "call budget %d for %s exceeded", *r.MaxCalls, repr(c.Tool))}
}

// constraint checks the arguments that the rule bounds. An absent argument is not checked here; one that is present
// must satisfy every bound, in every element if it is a list.
func constraint(c Call, r Rules) []Finding {
	out := misnamed(c, r)
	if r.AllowedPathPrefixes != nil {
		for _, arg := range confined(c, r) {
			out = append(out, confine(c, r, arg)...)
		}
	}
	for _, p := range r.ArgPatterns {
		for _, arg := range p.Param.Select(c.Args) {
			if !p.Re.MatchString(arg.Value.Text) {
				out = append(out, deny(Constraint, arg.Path(), "%s=%s does not match %s", arg.Path(), repr(arg.Value.Text), repr(p.Source)))
			}
		}
	}
	for _, v := range r.ArgValues {
		for _, arg := range v.Param.Select(c.Args) {
			if !slices.Contains(v.Values, arg.Value.Text) {
				out = append(out, deny(Constraint, arg.Path(), "%s=%s is not one of %s", arg.Path(), repr(arg.Value.Text), reprList(v.Values)))
			}
		}
	}
	return append(out, smuggled(c, r)...)
}

// confined returns the arguments that the prefixes bound: the declared ones. Where the policy declares none, they were
// guessed from the schema, and anything else in the call that is an absolute path, or climbs, is bound as well.
// Prefixes that bound nothing would be a silent hole.
func confined(c Call, r Rules) []policy.Selected {
	var out []policy.Selected
	seen := map[policy.Spot]bool{}
	for _, param := range r.WriteParams {
		for _, arg := range param.Select(c.Args) {
			if arg.IsName && param.Top() == "" && !placed(arg.Value.Text) { // what an argument is called is rarely a path
				continue
			}
			seen[arg.Spot()] = true
			out = append(out, arg)
		}
	}
	if !r.Guessed && len(r.WriteParams) > 0 {
		return out
	}
	for _, leaf := range c.Leaves {
		if _, isPath := c.Paths[leaf.Spot()]; isPath && !seen[leaf.Spot()] && placed(leaf.Value.Text) {
			out = append(out, leaf)
		}
	}
	return out
}

// placed reports a text that says where on the machine it points, which prose does not.
func placed(text string) bool {
	return !strings.ContainsAny(text, "\n\r") && (strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") ||
		strings.HasPrefix(text, `\`) || strings.HasPrefix(strings.ToLower(text), "file:") || strings.Contains(text, "..") ||
		len(text) > 2 && text[1] == ':' && isSeparator(text[2]))
}

// confine demands that every reading of the path lies inside one of the prefixes, as written and with links followed:
// a link inside the prefix may point out of it, and a path that only resolves into it may be swapped (A73).
func confine(c Call, r Rules, arg policy.Selected) []Finding {
	at := arg.Path()
	path, known := c.Paths[arg.Spot()]
	problem := path.Problem
	if !known {
		problem = "it was not resolved"
	}
	if problem != "" {
		return []Finding{deny(Constraint, at, "%s=%s cannot be placed: %s", at, repr(arg.Value.Text), problem)}
	}
	for _, reading := range path.Readings {
		if !insideAny(reading.Lexical, c.Within) || !insideAny(reading.Resolved, c.Within) {
			return []Finding{deny(Constraint, at, "%s=%s outside allowed prefixes %s", at, repr(arg.Value.Text), reprList(r.AllowedPathPrefixes))}
		}
	}
	return nil
}

// insideAny reports whether path is one of the directories, in either of their spellings, or below it: /a/b does not
// admit /a/bc.
func insideAny(path string, dirs []Reading) bool {
	return slices.ContainsFunc(dirs, func(d Reading) bool { return inside(path, d.Lexical) || inside(path, d.Resolved) })
}

func inside(path, dir string) bool {
	if dir == "" || path == "" {
		return false
	}
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || isSeparator(rest[0]) || isSeparator(dir[len(dir)-1]))
}

func isSeparator(b byte) bool { return b == '/' || b == '\\' }

func deny(contract, param, format string, args ...any) Finding {
	return Finding{Contract: contract, Verdict: Deny, Param: param, Reason: fmt.Sprintf(format, args...)}
}
