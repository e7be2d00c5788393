package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Digest names a call's arguments: two spellings of the same arguments share it, no others do. Names are sorted and
// strings unescaped, for a client may write its retry in another order; numbers keep their spelling (B26), since servers
// read 1 and 1.0 in different ways. It is false for arguments without a single reading.
func Digest(args []byte) (string, bool) {
	if args == nil {
		return "none", true
	}
	v, err := jsonrpc.Decode(args)
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256(appendCanonical(nil, v))
	return hex.EncodeToString(sum[:]), true
}

func appendCanonical(b []byte, v jsonrpc.Value) []byte {
	switch v.Kind {
	case jsonrpc.String:
		return append(b, jsonrpc.Quote(v.Text)...)
	case jsonrpc.Array:
		b = append(b, '[')
		for _, e := range v.Elems {
			b = append(appendCanonical(b, e), ',')
		}
		return append(b, ']')
	case jsonrpc.Object:
		members := slices.Clone(v.Members)
		slices.SortFunc(members, func(a, b jsonrpc.Member) int { return strings.Compare(a.Name, b.Name) })
		b = append(b, '{')
		for _, m := range members {
			b = append(append(b, jsonrpc.Quote(m.Name)...), ':')
			b = append(appendCanonical(b, m.Value), ',')
		}
		return append(b, '}')
	case jsonrpc.Null:
		return append(b, "null"...)
	}
	return append(b, v.Text...)
}

// Key names the question: the same call, of the same client, asked about for the same reasons under the same policy. An
// answer is an answer to its key and to nothing else. A question whose arguments cannot be read has none.
func (q Question) Key() string {
	digest, ok := Digest(q.Args)
	if !ok {
		return ""
	}
	parts := []string{q.Client, q.Server, q.Tool, digest, q.Policy}
	keys := slices.Clone(q.Keys)
	for _, d := range q.Asked {
		// What a person saw when they answered: a destination that meanwhile stood in what a server wrote is another question.
		keys = append(keys, strings.Join([]string{d.Contract, string(d.Kind), d.Canonical, d.Ambiguous, d.Origin}, "\x00"))
	}
	slices.Sort(keys)
	sum := sha256.New()
	for _, part := range append(parts, keys...) {
		sum.Write(jsonrpc.Quote(part))
		sum.Write([]byte{'\n'})
	}
	return hex.EncodeToString(sum.Sum(nil))
}
