package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

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

// ParseResultPath reads a path in a tool's answer: as an argument path, but that "*" stands for any one name, and "." for
// the answer itself.
func ParseResultPath(s string) (Param, error) {
	if s == "." {
		return Param{source: s}, nil
	}
	return ParseParam(s)
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

// Selected is one scalar of a call, or one member name, which a server may read just as well: {to: {a@b: true}}.
type Selected struct {
	Value  jsonrpc.Value // of a name: a String
	IsName bool
	way    *way
}

// Spot tells one scalar or name of a call from every other: where it begins in the frame. A path cannot do that, since
// names may be chosen to look like paths ({"a.b": 1, "a": {"b": 2}}).
type Spot *byte

// Spot returns where the scalar begins.
func (s Selected) Spot() Spot {
	if len(s.Value.Raw) == 0 {
		panic("policy: a value that was not decoded")
	}
	return &s.Value.Raw[0]
}

// way leads to a value, from its end. Paths are spelled out only when somebody looks: a long name over a long
// list would fill the memory.
type way struct {
	outer *way
	name  string
	index int // of an element, from 1; 0 for a member
}

// shownName is how much of a name a path shows, and shownSteps how many of its last steps.
const (
	shownName  = 60
	shownSteps = 12
)

// Path spells where the value stands: attendees[1].email. Names that could be taken for a path are quoted.
func (s Selected) Path() string {
	var steps []*way
	for p := s.way; p != nil; p = p.outer {
		if steps = append(steps, p); len(steps) > shownSteps {
			break
		}
	}
	var b strings.Builder
	if len(steps) > shownSteps {
		steps = steps[:shownSteps]
		b.WriteString("...")
	}
	for _, p := range slices.Backward(steps) {
		switch {
		case p.index > 0:
			fmt.Fprintf(&b, "[%d]", p.index-1)
		case plainName(p.name) && b.Len() > 0:
			b.WriteString("." + p.name)
		case plainName(p.name):
			b.WriteString(p.name)
		default:
			fmt.Fprintf(&b, "[%s]", quoteName(p.name))
		}
	}
	if s.IsName {
		return "a name in " + b.String()
	}
	return b.String()
}

func plainName(name string) bool {
	return name != "" && len(name) <= shownName && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func quoteName(name string) string {
	cut := ""
	if runes := []rune(name[:min(len(name), 4*shownName)]); len(runes) > shownName {
		name, cut = string(runes[:shownName]), "..."
	}
	return strconv.QuoteToASCII(name) + cut
}

// Argument is the name of the argument that the value stands in.
func (s Selected) Argument() string {
	name := ""
	for p := s.way; p != nil; p = p.outer {
		name = p.name
	}
	return name
}

// Variant finds a member on the way that p takes whose name is not p's and folds to the same: {message: {To: ...}} for
// message.to. It returns that name and p's own.
func (p Param) Variant(args jsonrpc.Value, fold func(string) string) (name, own string, found bool) {
	return variant(args, p.steps, fold)
}

func variant(v jsonrpc.Value, steps []step, fold func(string) string) (name, own string, found bool) {
	for _, e := range v.Elems {
		if name, own, found = variant(e, steps, fold); found {
			return name, own, found
		}
	}
	if len(steps) == 0 {
		return "", "", false
	}
	for _, m := range v.Members {
		if m.Name == steps[0].name {
			if name, own, found = variant(m.Value, steps[1:], fold); found {
				return name, own, found
			}
		} else if fold(m.Name) == fold(steps[0].name) {
			return m.Name, steps[0].name, true
		}
	}
	return "", "", false
}

// Select returns every scalar and member name under the path in args, in frame order; nothing when the path is absent.
// Lists are walked whether or not the path says "[]", so that a server that takes one recipient or many is covered by
// "to"; and where the path goes on below a scalar, the scalar is selected: a server that takes an object or a plain
// address for attendees is covered by "attendees.email".
func (p Param) Select(args jsonrpc.Value) []Selected {
	var out []Selected
	if len(p.steps) == 0 {
		return Leaves(args)
	}
	walk(args, p.steps, nil, &out)
	return out
}

func walk(v jsonrpc.Value, steps []step, at *way, out *[]Selected) {
	switch {
	case v.Kind == jsonrpc.Array:
		for i, e := range v.Elems {
			walk(e, steps, &way{outer: at, index: i + 1}, out)
		}
	case len(steps) == 0 || v.Kind != jsonrpc.Object:
		flatten(v, at, out)
	default:
		if inner, ok := v.Get(steps[0].name); ok {
			walk(inner, steps[1:], &way{outer: at, name: steps[0].name}, out)
		}
	}
}

// Leaves returns every scalar and member name of a call, in frame order.
func Leaves(args jsonrpc.Value) []Selected {
	out := make([]Selected, 0, 4+2*len(args.Members))
	flatten(args, nil, &out)
	return out
}

// LeavesOf is Leaves of one argument.
func LeavesOf(m jsonrpc.Member) []Selected {
	var out []Selected
	flatten(m.Value, &way{name: m.Name}, &out)
	return out
}

func flatten(v jsonrpc.Value, at *way, out *[]Selected) {
	switch v.Kind {
	case jsonrpc.Array:
		for i, e := range v.Elems {
			flatten(e, &way{outer: at, index: i + 1}, out)
		}
	case jsonrpc.Object:
		for _, m := range v.Members {
			here := &way{outer: at, name: m.Name}
			name := jsonrpc.Value{Kind: jsonrpc.String, Text: m.Name, Raw: m.NameRaw}
			*out = append(*out, Selected{Value: name, IsName: true, way: here})
			flatten(m.Value, here, out)
		}
	case jsonrpc.Null:
	default:
		*out = append(*out, Selected{Value: v, way: at})
	}
}
