package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Param names arguments of a call: "to", "message.to", "attendees[].email", "files[]". A name that leads to a list or
// an object stands for every value inside it.
type Param struct {
	source string
	steps  []step
}

type step struct {
	name string
	each bool // "[]" follows: every element of the list
}

// ParseParam reads a parameter path. Empty names are errors.
func ParseParam(s string) (Param, error) {
	p := Param{source: s}
	for _, part := range strings.Split(s, ".") {
		name, each := strings.CutSuffix(part, "[]")
		if name == "" || strings.ContainsAny(name, "[]") {
			return Param{}, fmt.Errorf("%q is not an argument path: write name, name.inner or list[].inner", s)
		}
		p.steps = append(p.steps, step{name, each})
	}
	return p, nil
}

// MustParam is ParseParam for paths written in this program.
func MustParam(s string) Param {
	p, err := ParseParam(s)
	if err != nil {
		panic(err)
	}
	return p
}

// EveryArgument is the Param that selects every scalar of a call.
var EveryArgument = Param{source: "*"}

func (p Param) names() []string {
	out := make([]string, len(p.steps))
	for i, s := range p.steps {
		out[i] = s.name
	}
	return out
}

// Covers reports whether p selects everything that q selects in a call. "[]" makes no difference, as in Select.
func (p Param) Covers(q Param) bool {
	if len(p.steps) > len(q.steps) {
		return false
	}
	for i, s := range p.steps {
		if s.name != q.steps[i].name {
			return false
		}
	}
	return true
}

// CoveredBy reports whether one of params covers p.
func (p Param) CoveredBy(params []Param) bool {
	return slices.ContainsFunc(params, func(q Param) bool { return q.Covers(p) })
}

// String returns the path as it was written.
func (p Param) String() string { return p.source }

// Top is the first name of the path: the argument of the call that it starts in.
func (p Param) Top() string {
	if len(p.steps) == 0 {
		return ""
	}
	return p.steps[0].name
}

// Selected is one scalar that a Param leads to, with the path that leads there ("attendees[1].email").
type Selected struct {
	Path  string
	Value jsonrpc.Value
}

// Select returns every scalar under the path in args, in frame order; nothing when the path is absent. Lists are
// walked whether or not the path says "[]", so that a server that takes one recipient or many is covered by "to".
func (p Param) Select(args jsonrpc.Value) []Selected {
	var out []Selected
	walk(args, p.steps, "", &out)
	return out
}

func walk(v jsonrpc.Value, steps []step, at string, out *[]Selected) {
	if v.Kind == jsonrpc.Array {
		for i, e := range v.Elems {
			walk(e, steps, fmt.Sprintf("%s[%d]", at, i), out)
		}
		return
	}
	if len(steps) == 0 {
		flatten(v, at, out)
		return
	}
	if inner, ok := v.Get(steps[0].name); ok {
		walk(inner, steps[1:], join(at, steps[0].name), out)
	}
}

// Leaves returns every scalar inside v, in frame order, each with its path from at.
func Leaves(v jsonrpc.Value, at string) []Selected {
	var out []Selected
	flatten(v, at, &out)
	return out
}

func flatten(v jsonrpc.Value, at string, out *[]Selected) {
	switch v.Kind {
	case jsonrpc.Array:
		for i, e := range v.Elems {
			flatten(e, fmt.Sprintf("%s[%d]", at, i), out)
		}
	case jsonrpc.Object:
		for _, m := range v.Members {
			flatten(m.Value, join(at, m.Name), out)
		}
	case jsonrpc.Null:
	default:
		*out = append(*out, Selected{at, v})
	}
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
