package policy

import (
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// A schema is written by the server, which may be hostile: it may nest without end, refer to itself, or be no schema
// at all. The walk is bounded, and says when it has not seen everything.
const (
	maxSchemaDepth = 40
	maxSchemaNodes = 50_000
	maxPathBytes   = 2_000
)

// argument is one place in a tool's arguments that a schema declares.
type argument struct {
	path   []string // names from the top
	kinds  set      // JSON types it may have; empty when the schema does not say
	format string
	inner  bool // it holds declared arguments of its own
}

func (a argument) name() string { return a.path[len(a.path)-1] }

// anyName stands in a path for the names that a map may hold.
const anyName = "*"

// param names the argument; inside a map it names the whole map. It is built, not parsed: a name may hold a dot.
func (a argument) param() Param {
	var p Param
	var names []string
	for _, name := range a.path {
		if name == anyName {
			break
		}
		p.steps = append(p.steps, step{name: name})
		names = append(names, name)
	}
	p.source = strings.Join(names, ".")
	return p
}

// place identifies what param selects. Unlike a Param's text it tells a dot in a name from a step.
func (a argument) place() string { return place(a.param().names()) }

func place(names []string) string { return strings.Join(names, "\x00") }

type schemaWalk struct {
	root   jsonrpc.Value
	seen   map[string]int // path -> index in out
	out    []argument
	nodes  int
	refs   map[string]bool // $refs that are open now
	broken string          // why the schema cannot be read as a whole; "" when it can
}

// declared returns every argument that a tool's input schema declares, outer before inner, and why the schema cannot
// be trusted to say all of them ("" when it can).
func declared(schema jsonrpc.Value) ([]argument, string) {
	w := &schemaWalk{root: schema, seen: map[string]int{}, refs: map[string]bool{}}
	if schema.Kind != jsonrpc.Object {
		return nil, "its input schema is not an object"
	}
	w.visit(schema, nil, 0)
	if w.broken == "" && len(w.out) == 0 && freeForm(schema) {
		w.broken = "its input schema names no arguments and allows any"
	}
	return w.out, w.broken
}

func (w *schemaWalk) fail(why string) {
	if w.broken == "" {
		w.broken = why
	}
}

// visit reads schema, which describes the value at path (nil: the arguments as a whole).
func (w *schemaWalk) visit(schema jsonrpc.Value, path []string, depth int) {
	w.nodes++
	switch {
	case w.nodes > maxSchemaNodes:
		w.fail("its input schema is too large")
		return
	case depth > maxSchemaDepth:
		w.fail("its input schema nests too deeply")
		return
	case schema.Kind == jsonrpc.Bool: // true and false are schemas
		return
	case schema.Kind != jsonrpc.Object:
		w.fail("its input schema holds something that is no schema")
		return
	}
	if twice(schema) { // two readers would see two schemas
		w.fail("its input schema says one thing twice")
	}
	w.describe(schema, path)
	w.follow(schema, path, depth)
	if props, ok := schema.Get("properties"); ok {
		w.properties(props, path, depth)
	}
	for _, key := range []string{"items", "prefixItems", "contains", "anyOf", "oneOf", "allOf", "if", "then", "else", "additionalItems", "unevaluatedItems"} {
		if inner, ok := schema.Get(key); ok {
			w.each(inner, path, depth)
		}
	}
	for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
		// A map from names that the schema does not know: the container stands for them.
		if inner, ok := schema.Get(key); ok && inner.Kind == jsonrpc.Object && len(path) > 0 {
			w.visit(inner, append(path[:len(path):len(path)], anyName), depth+1)
		}
	}
	for _, key := range []string{"patternProperties", "dependentSchemas"} {
		if inner, ok := schema.Get(key); ok && inner.Kind == jsonrpc.Object && len(inner.Members) > 0 {
			w.fail("its input schema names arguments by pattern")
		}
	}
}

func (w *schemaWalk) properties(props jsonrpc.Value, path []string, depth int) {
	if props.Kind != jsonrpc.Object {
		w.fail("its input schema has properties that are no object")
		return
	}
	for _, m := range props.Members {
		w.visit(m.Value, append(path[:len(path):len(path)], m.Name), depth+1)
	}
}

// each visits one schema or a list of them, all for the same place: Select walks lists by itself.
func (w *schemaWalk) each(v jsonrpc.Value, path []string, depth int) {
	if v.Kind != jsonrpc.Array {
		w.visit(v, path, depth+1)
		return
	}
	for _, e := range v.Elems {
		w.visit(e, path, depth+1)
	}
}

// follow visits what a $ref names. A reference that is open already adds nothing new: its arguments are known.
func (w *schemaWalk) follow(schema jsonrpc.Value, path []string, depth int) {
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		ref, ok := schema.Get(key)
		if !ok {
			continue
		}
		target, ok := w.resolve(ref)
		if !ok {
			w.fail("its input schema refers to something that it does not hold")
			continue
		}
		if w.refs[ref.Text] {
			continue
		}
		w.refs[ref.Text] = true
		w.visit(target, path, depth+1)
		delete(w.refs, ref.Text)
	}
}

// resolve follows a JSON pointer inside the schema. Nothing is ever fetched.
func (w *schemaWalk) resolve(ref jsonrpc.Value) (jsonrpc.Value, bool) {
	pointer, ok := strings.CutPrefix(ref.Text, "#")
	if !ok || ref.Kind != jsonrpc.String || len(pointer) > 1000 {
		return jsonrpc.Value{}, false
	}
	v := w.root
	if pointer == "" {
		return v, true
	}
	if pointer[0] != '/' {
		return jsonrpc.Value{}, false
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, part := range strings.Split(pointer[1:], "/") {
		if v.Kind == jsonrpc.Array {
			i, ok := index(part, len(v.Elems))
			if !ok {
				return jsonrpc.Value{}, false
			}
			v = v.Elems[i]
			continue
		}
		if v, ok = v.Get(unescape.Replace(part)); !ok {
			return jsonrpc.Value{}, false
		}
	}
	return v, true
}

func index(s string, length int) (int, bool) {
	if s == "" || len(s) > 6 {
		return 0, false
	}
	n := 0
	for _, r := range s {
		if r < '0' || r > '9' {
			return 0, false
		}
		n = n*10 + int(r-'0')
	}
	return n, n < length
}

// twice reports whether an object has two members of one name.
func twice(v jsonrpc.Value) bool {
	names := make(map[string]bool, len(v.Members))
	for _, m := range v.Members {
		if names[m.Name] {
			return true
		}
		names[m.Name] = true
	}
	return false
}

// composed reports whether schema leaves its type to other schemas.
func composed(schema jsonrpc.Value) bool {
	for _, key := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
		if _, ok := schema.Get(key); ok {
			return true
		}
	}
	return false
}

// describe notes what schema says about the argument at path. Several schemas may describe one place; the notes add
// up. An enum is no note: clients do not hold an agent to it, so its argument is judged like any other.
func (w *schemaWalk) describe(schema jsonrpc.Value, path []string) {
	if len(path) == 0 {
		return
	}
	key := place(path)
	if len(key) > maxPathBytes {
		w.fail("its input schema has an argument with an endless name")
		return
	}
	i, known := w.seen[key]
	if !known {
		i = len(w.out)
		w.seen[key] = i
		w.out = append(w.out, argument{path: path, kinds: set{}})
		for n := len(path) - 1; n > 0; n-- {
			if outer, ok := w.seen[place(path[:n])]; ok {
				w.out[outer].inner = true
			}
		}
	}
	a := &w.out[i]
	t, typed := schema.Get("type")
	if !typed && !composed(schema) {
		a.kinds["any"] = true
	}
	if typed {
		for _, k := range append([]jsonrpc.Value{t}, t.Elems...) {
			if k.Kind == jsonrpc.String {
				a.kinds[k.Text] = true
			}
		}
	}
	if f, ok := schema.Get("format"); ok && f.Kind == jsonrpc.String {
		a.format = strings.ToLower(f.Text)
	}
}

// freeForm reports whether a schema that names no arguments leaves it open what they are: it says that any are welcome,
// or says nothing at all, as servers do whose schemas got lost on the way. {"type":"object"} is how a tool without
// arguments is written.
func freeForm(schema jsonrpc.Value) bool {
	if more, ok := schema.Get("additionalProperties"); ok {
		return !isBool(more, "false")
	}
	_, typed := schema.Get("type")
	_, named := schema.Get("properties")
	return !typed && !named
}
