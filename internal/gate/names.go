package gate

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// misnamed denies arguments that a lenient server may take for another one: two names that differ in case or spaces
// only, or one that differs so from a name that the tool declares or a rule looks at. The gate reads exact names; a
// server that reads "To" as "to" would send where nobody looked (A46).
func misnamed(c Call, r Rules) []Finding {
	if plainlyNamed(c, r) {
		return nil
	}
	known := map[string]string{}
	exact := map[string]bool{}
	add := func(name string) { known[foldName(name)], exact[name] = name, true }
	for _, name := range r.Declared {
		add(name)
	}
	for _, param := range gated(r) {
		add(param.Top())
	}
	var out []Finding
	for _, m := range c.Args.Members {
		fold := foldName(m.Name)
		if twin, found := known[fold]; found && twin != m.Name && !exact[m.Name] {
			out = append(out, mistakable(m.Name, twin))
		} else if !found {
			known[fold] = m.Name
		}
	}
	if len(gated(r)) > 0 || r.Exfiltrating {
		for _, m := range c.Args.Members {
			out = append(out, twins(m.Value)...)
		}
		for _, param := range gated(r) {
			if name, twin, found := param.Variant(c.Args, foldName); found {
				out = append(out, mistakable(name, twin))
			}
		}
	}
	return out
}

// plainlyNamed is the short way for most calls: every argument is one that the tool declares, and none has names inside.
func plainlyNamed(c Call, r Rules) bool {
	for _, m := range c.Args.Members {
		if _, declared := slices.BinarySearch(r.Declared, m.Name); !declared || m.Value.Kind == jsonrpc.Object {
			return false
		}
		if slices.ContainsFunc(m.Value.Elems, func(e jsonrpc.Value) bool { return e.Kind == jsonrpc.Object || e.Kind == jsonrpc.Array }) {
			return false
		}
	}
	return true
}

// gated returns every argument that a rule looks at.
func gated(r Rules) []policy.Param {
	out := slices.Concat(r.SinkParams, r.WriteParams)
	for _, p := range r.ArgPatterns {
		out = append(out, p.Param)
	}
	for _, v := range r.ArgValues {
		out = append(out, v.Param)
	}
	return slices.DeleteFunc(out, func(p policy.Param) bool { return p.Top() == "" })
}

// twins finds two names in one object, at any depth, that a lenient server could take for each other.
func twins(v jsonrpc.Value) []Finding {
	var out []Finding
	for _, e := range v.Elems {
		out = append(out, twins(e)...)
	}
	if len(v.Members) > 1 {
		seen := make(map[string]string, len(v.Members))
		for _, m := range v.Members {
			fold := foldName(m.Name)
			if twin, found := seen[fold]; found {
				out = append(out, mistakable(m.Name, twin))
			}
			seen[fold] = m.Name
		}
	}
	for _, m := range v.Members {
		out = append(out, twins(m.Value)...)
	}
	return out
}

func mistakable(name, twin string) Finding {
	return deny(Constraint, name, "argument %s is not %s, and a server could take it for it", repr(name), repr(twin))
}

// foldName is what two names share that differ in case or outer spaces only, by Unicode's simple folding: encoding/json
// reads "\u017fent" as "sent".
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, strings.TrimSpace(name))
}

// undeclared returns what stands in arguments that the tool's schema does not declare, names included. A server may
// well read them.
func undeclared(c Call, r Rules) []policy.Selected {
	if r.Declared == nil {
		return nil
	}
	var out []policy.Selected
	for _, leaf := range c.Leaves {
		if _, declared := slices.BinarySearch(r.Declared, leaf.Argument()); !declared {
			out = append(out, leaf)
		}
	}
	return out
}
