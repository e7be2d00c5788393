package label

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

type headerLine struct{ name, value string }

// header returns the header lines that a text begins with, as mail is printed. A body cannot add to them: the first line
// that is none ends them.
func header(text string) (out []headerLine) {
	const most = 50
	for range most {
		line, rest, _ := strings.Cut(text, "\n")
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r"), ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t\"'<>/") || len(name) > 40 {
			return out
		}
		out = append(out, headerLine{name, strings.TrimSpace(value)})
		text = rest
	}
	return out
}

const longPrint = 1 << 20

// printed reads a text that a server printed as YAML: block lists and mappings, without aliases or tags of its own.
func printed(text string) (jsonrpc.Value, bool) {
	if len(text) > longPrint || !strings.Contains(text, ":") && !strings.HasPrefix(text, "- ") {
		return jsonrpc.Value{}, false
	}
	var root yaml.Node
	if err := yaml.Load([]byte(text), &root); err != nil || len(root.Content) != 1 {
		return jsonrpc.Value{}, false
	}
	nodes := 0
	plain, ok := plainOf(root.Content[0], 0, &nodes)
	if !ok {
		return jsonrpc.Value{}, false
	}
	if _, scalar := plain.(string); scalar {
		return jsonrpc.Value{}, false
	}
	raw, err := json.Marshal(plain)
	if err != nil {
		return jsonrpc.Value{}, false
	}
	v, err := jsonrpc.Decode(raw)
	return v, err == nil
}

// plainOf turns a node into maps, lists and texts. Duplicate keys, aliases and too much of anything are refused.
func plainOf(n *yaml.Node, depth int, nodes *int) (any, bool) {
	if *nodes++; depth > 20 || *nodes > 200_000 {
		return nil, false
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value, true
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, ok := plainOf(item, depth+1, nodes)
			if !ok {
				return nil, false
			}
			out = append(out, v)
		}
		return out, true
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, ok := plainOf(n.Content[i+1], depth+1, nodes)
			if _, twice := out[n.Content[i].Value]; !ok || twice || n.Content[i].Kind != yaml.ScalarNode {
				return nil, false
			}
			out[n.Content[i].Value] = v
		}
		return out, true
	}
	return nil, false
}
