// Package pin remembers the definitions that a server's tools had when the session started, and says what changed. A
// tool whose description or schema changes after it was looked at may be another tool (rug pull, A55). It is pure.
package pin

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Print is a fingerprint of one tool definition: the whole object, however its names are ordered and its numbers are
// spelled (A56).
type Print string

// Of returns the fingerprint of a tool definition.
func Of(definition jsonrpc.Value) Print {
	sum := sha256.Sum256(appendCanonical(nil, definition))
	return Print(hex.EncodeToString(sum[:]))
}

// appendCanonical writes v with sorted names, one spelling for every number and string, and no spaces.
func appendCanonical(b []byte, v jsonrpc.Value) []byte {
	switch v.Kind {
	case jsonrpc.Null:
		return append(b, "null"...)
	case jsonrpc.Bool:
		return append(b, v.Text...)
	case jsonrpc.Number:
		return append(b, canonicalNumber(v.Text)...)
	case jsonrpc.String:
		return append(b, jsonrpc.Quote(v.Text)...)
	case jsonrpc.Array:
		b = append(b, '[')
		for i, e := range v.Elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, e)
		}
		return append(b, ']')
	default:
		members := slices.Clone(v.Members)
		sort.SliceStable(members, func(i, j int) bool { return members[i].Name < members[j].Name })
		b = append(b, '{')
		for i, m := range members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, jsonrpc.Quote(m.Name)...), ':')
			b = appendCanonical(b, m.Value)
		}
		return append(b, '}')
	}
}

// canonicalNumber spells a JSON number as digits and a power of ten: 1, 1.0 and 10e-1 are "1e0". Nothing is rounded
// and no exponent is expanded, so 1e999999999 costs nothing.
func canonicalNumber(s string) string {
	mantissa, exponent := s, "0"
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], strings.TrimPrefix(s[i+1:], "+")
	}
	sign := ""
	if rest, negative := strings.CutPrefix(mantissa, "-"); negative {
		sign, mantissa = "-", rest
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power, err := strconv.ParseInt(exponent, 10, 32)
	if err != nil {
		return s // an exponent beyond reason keeps its spelling: a change of spelling then counts as a change
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	power -= int64(len(fraction))
	trimmed := strings.TrimRight(digits, "0")
	power += int64(len(digits) - len(trimmed))
	if trimmed == "" {
		return "0e0"
	}
	return sign + trimmed + "e" + strconv.FormatInt(power, 10)
}

// Diff names the parts of a tool definition that differ, for a reason: "description", "inputSchema.properties.to".
// It goes into inputSchema as deep as one property and no deeper.
func Diff(old, new jsonrpc.Value) []string {
	return diff(old, new, "", 3)
}

func diff(old, new jsonrpc.Value, at string, depth int) []string {
	if Of(old) == Of(new) {
		return nil
	}
	if depth == 0 || old.Kind != jsonrpc.Object || new.Kind != jsonrpc.Object {
		return []string{at}
	}
	var out []string
	for _, name := range names(old, new) {
		a, inOld := old.Get(name)
		b, inNew := new.Get(name)
		path := name
		if at != "" {
			path = at + "." + name
		}
		if inOld != inNew {
			out = append(out, path)
			continue
		}
		out = append(out, diff(a, b, path, depth-1)...)
	}
	return out
}

func names(values ...jsonrpc.Value) []string {
	var out []string
	for _, v := range values {
		for _, m := range v.Members {
			out = append(out, m.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
