package gate

import (
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// misnamed denies arguments that a lenient server may take for another one: two names that differ in case or spaces
// only, or one that differs so from a name that the tool declares or a rule looks at. The gate reads exact names; a
// server that reads "To" as "to" would send where nobody looked (A46).
func misnamed(c Call, r Rules) []Finding {
	known := slices.Clone(r.Declared)
	for _, param := range slices.Concat(r.SinkParams, r.WriteParams) {
		known = append(known, param.Top())
	}
	for _, p := range r.ArgPatterns {
		known = append(known, p.Param.Top())
	}
	for _, v := range r.ArgValues {
		known = append(known, v.Param.Top())
	}
	var out []Finding
	for i, m := range c.Args.Members {
		twin, found := likeOf(m.Name, known)
		for _, earlier := range c.Args.Members[:i] {
			if !found && alike(earlier.Name, m.Name) && !(slices.Contains(known, m.Name) && slices.Contains(known, earlier.Name)) {
				twin, found = earlier.Name, true
			}
		}
		if found {
			out = append(out, deny(Constraint, m.Name, "argument %s is not %s, and a server could take it for it", repr(m.Name), repr(twin)))
		}
	}
	return out
}

// likeOf returns the known name that name could be taken for, if name is not a known one itself.
func likeOf(name string, known []string) (string, bool) {
	if slices.Contains(known, name) {
		return "", false
	}
	i := slices.IndexFunc(known, func(k string) bool { return k != "" && alike(k, name) })
	if i < 0 {
		return "", false
	}
	return known[i], true
}

func alike(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }

// undeclared returns what stands in arguments that the tool's schema does not declare. A server may well read them.
func undeclared(c Call, r Rules) []policy.Selected {
	if r.Declared == nil {
		return nil
	}
	var out []policy.Selected
	for _, m := range c.Args.Members {
		if !slices.Contains(r.Declared, m.Name) {
			out = append(out, policy.Leaves(m.Value, m.Name)...)
		}
	}
	return out
}
