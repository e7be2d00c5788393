package mcpserver

import (
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// visible makes a text of others safe to show: one line, nothing hidden in it, not longer than a reason needs.
func visible(s string) string { return destination.Visible(s, 400) }

// snippet is visible for text that was made so before it was kept: its escapes are not escaped once more.
func snippet(s string) string {
	v := visible(s)
	if strings.ReplaceAll(v, `\u{5c}u{`, `\u{`) == s {
		return s
	}
	return v
}

// name is visible for what should be short: names of tools, servers and arguments.
func name(s string) string { return destination.Visible(s, 120) }

// quoted is a name of others inside a prompt: it cannot end its own quotes.
func quoted(s string) string { return `"` + strings.ReplaceAll(name(s), `"`, `'`) + `"` }

func quotedList(names []string) string {
	const most = 12
	var out []string
	for i, n := range names {
		if i == most {
			out = append(out, "...")
			break
		}
		out = append(out, quoted(n))
	}
	return strings.Join(out, ", ")
}

func texts(params []policy.Param) []string {
	out := []string{}
	for _, p := range params {
		out = append(out, p.String())
	}
	return out
}
