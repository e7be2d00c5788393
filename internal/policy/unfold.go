package policy

import (
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

const (
	maxFolded = 256 << 10 // a longer text is taken as it is
	maxUnfold = 3         // JSON in a string in JSON in a string
)

// Unfold returns what stands in a value that is JSON in a string (A44): its scalars and names, each with a path that goes on
// from the value's. Every other value is returned as it is, and so is JSON that has no single reading.
func Unfold(s Selected) []Selected { return unfold(s, maxUnfold) }

func unfold(s Selected, depth int) []Selected {
	text := s.Value.Text
	if s.IsName || s.Value.Kind != jsonrpc.String || depth == 0 || len(text) > maxFolded {
		return []Selected{s}
	}
	bare := strings.TrimLeft(text, " \t\r\n")
	if bare == "" || bare[0] != '{' && bare[0] != '[' {
		return []Selected{s}
	}
	v, err := jsonrpc.Decode([]byte(text))
	if err != nil {
		return []Selected{s}
	}
	var inner, out []Selected
	flatten(v, &way{outer: s.way, name: "json"}, &inner)
	for _, each := range inner {
		out = append(out, unfold(each, depth-1)...)
	}
	if len(out) == 0 {
		return []Selected{s}
	}
	return out
}
