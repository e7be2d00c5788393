package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// serverOf reads the name of a server. A package, with or without a version, is also its identity; every other name is
// only a name: what a server is called says nothing about what it is.
func serverOf(set *policy.Set, text string) policy.Server {
	server := policy.Server{Name: text}
	ids := append(policy.Identities("npx", []string{text}), text)
	known := func(id string) bool {
		return slices.ContainsFunc(set.Packs, func(p policy.PackRules) bool { return slices.Contains(p.Packages, id) })
	}
	scoped := func(id string) bool { return strings.Contains(id, "/") }
	for _, is := range []func(string) bool{known, scoped} {
		if i := slices.IndexFunc(ids, is); i >= 0 {
			server.Identity = []string{ids[i]}
			break
		}
	}
	return server
}

// assume makes a definition for a tool that the request does not define, and says what was assumed. A tool that packs
// know is taken to have the arguments that they name and those of the call; of any other tool nothing is known, so its
// schema is free, and every argument counts as a destination.
func assume(t trial) (jsonrpc.Value, string) {
	known := knownArguments(t)
	if known == nil {
		return define(t.tool, freeForm),
			"no definition was given and no pack knows the tool, so every argument counts as a destination unless a rule of yours names them"
	}
	var properties []byte
	add := func(arg string, schema []byte) {
		if len(properties) > 0 {
			properties = append(properties, ',')
		}
		properties = append(append(append(properties, jsonrpc.Quote(arg)...), ':'), schema...)
	}
	for _, arg := range known {
		add(arg, []byte(`{}`))
	}
	for _, m := range t.args.Members {
		if !slices.ContainsFunc(known, func(k string) bool { return alike(k, m.Name) }) {
			add(m.Name, appendSchema(nil, m.Value))
		}
	}
	schema := `{"type":"object","properties":{` + string(properties) + `},"additionalProperties":false}`
	return define(t.tool, schema), "no definition was given: the tool is taken to have the arguments that packs know, and those of this call"
}

// alike is a name that a lenient server could take for another. Such a name is not assumed to be declared: where a pack
// knows "to", a "To" is a trick (A46).
func alike(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }

// knownArguments returns the top-level arguments that packs name for the tool: the pack of the server where there is
// one, else all that know a tool of this name; nil when none does.
func knownArguments(t trial) []string {
	var own, any []string
	found := false
	for _, p := range t.rules.Packs {
		rule, ok := p.Tools[t.tool]
		if !ok {
			continue
		}
		names := topNames(rule)
		if slices.ContainsFunc(t.server.Identity, func(id string) bool { return slices.Contains(p.Packages, id) }) {
			own, found = append([]string{}, names...), true
		}
		any = append(any, names...)
		if any == nil {
			any = []string{}
		}
	}
	if found {
		any = own
	}
	if any == nil {
		return nil
	}
	slices.Sort(any)
	return slices.Compact(any)
}

func topNames(r policy.Rule) []string {
	out := []string{}
	for _, p := range slices.Concat(r.SinkParams, r.WriteParams, r.Content) {
		if p.Top() != "" {
			out = append(out, p.Top())
		}
	}
	return out
}

// freeForm is a schema that says nothing about the arguments, so that each of them is judged. Without the second member it
// would be that of a tool that takes none.
const freeForm = `{"type":"object","additionalProperties":true}`

// define returns a tool definition. The schema is JSON that this package wrote.
func define(tool, schema string) jsonrpc.Value {
	v, err := jsonrpc.Decode([]byte(`{"name":` + string(jsonrpc.Quote(tool)) + `,"inputSchema":` + schema + `}`))
	if err != nil { // nested beyond what is read: nothing is known of it
		v, err = jsonrpc.Decode([]byte(`{"name":` + string(jsonrpc.Quote(tool)) + `,"inputSchema":` + freeForm + `}`))
	}
	if err != nil {
		panic(fmt.Sprintf("definition of a quoted name: %v", err))
	}
	return v
}

// appendSchema describes a value of the call, so that heuristics look into it as deep as it goes.
func appendSchema(b []byte, v jsonrpc.Value) []byte {
	switch v.Kind {
	case jsonrpc.Object:
		b = append(b, `{"type":"object","properties":{`...)
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, jsonrpc.Quote(m.Name)...), ':')
			b = appendSchema(b, m.Value)
		}
		return append(b, `}}`...)
	case jsonrpc.Array:
		b = append(b, `{"type":"array","prefixItems":[`...)
		for i, e := range v.Elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendSchema(b, e)
		}
		return append(b, `]}`...)
	case jsonrpc.String:
		return append(b, `{"type":"string"}`...)
	}
	return append(b, `{}`...)
}
