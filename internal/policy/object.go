package policy

import (
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Object is the thing that a call reads or writes into, for the contract flow: a repository, a ticket, a page.
type Object struct {
	Args []Param // what names it, together; without any it cannot be told from another
	// Unless are arguments that make a public write a private one: {visibility: [internal]}. An absent one has the tool's
	// default meaning, which is taken for public (A04).
	Unless []ArgValues
}

// Of returns the name of the object that a call is about, its parts joined by "/"; "" when the call does not say.
func (o *Object) Of(args jsonrpc.Value) string {
	var parts []string
	for _, param := range o.Args {
		found := param.Select(args)
		if len(found) != 1 || found[0].Value.Text == "" {
			return ""
		}
		parts = append(parts, strings.ToLower(found[0].Value.Text))
	}
	return strings.Join(parts, "/")
}

// Kept reports that one of the Unless arguments keeps the write from strangers.
func (o *Object) Kept(args jsonrpc.Value) bool {
	return slices.ContainsFunc(o.Unless, func(v ArgValues) bool {
		found := v.Param.Select(args)
		return len(found) > 0 && !slices.ContainsFunc(found, func(s Selected) bool { return !slices.Contains(v.Values, s.Value.Text) })
	})
}
