// Package label finds the labelled fields of a tool's answer: the user's own register, the names that third parties
// gave themselves, secrets. It is pure, and trusts the policy that says which field is which, never the answer.
package label

import (
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// Extract returns the labelled values of the result object of a tools/call, with Label, Destination, and of the Sighting
// Field and Snippet filled in.
func Extract(result []byte, fields []policy.Result) []provenance.Labelled { return nil }
