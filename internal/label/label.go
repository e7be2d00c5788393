// Package label finds the labelled fields of a tool's answer: the user's own register, the names that third parties
// gave themselves, secrets. It is pure, and trusts the policy that says which field is which, never the answer.
package label

import (
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// maxValues bounds what one answer can label. What lies beyond vouches for nothing.
const maxValues = 10_000

// Extract returns the labelled values of the result object of a tools/call, each once, with Label, Destination, and of
// the Sighting Field, Snippet and Match filled in. An answer that cannot be read in one way has none, and an error has
// none.
//
// Directory and secret labels come from structured fields only: structured content or, where there is none, a text that
// is one JSON value. Whoever writes into a free text could write a header or a list entry as well.
func Extract(result []byte, fields []policy.Result) []provenance.Labelled {
	v, err := jsonrpc.Decode(result)
	if err != nil || v.Kind != jsonrpc.Object || len(fields) == 0 {
		return nil
	}
	if failed, ok := v.Get("isError"); ok && !(failed.Kind == jsonrpc.Bool && failed.Text == "false") {
		return nil
	}
	x := extractor{fields: fields, seen: map[seen]bool{}}
	structured, known := v.Get("structuredContent")
	if known {
		x.value(structured, "structuredContent", true)
	}
	content, _ := v.Get("content")
	for _, item := range content.Elems {
		kind, _ := item.Get("type")
		text, _ := item.Get("text")
		if kind.Text == "text" && text.Kind == jsonrpc.String {
			x.text(text.Text, known)
		}
	}
	return x.out
}

type seen struct {
	label     provenance.Label
	kind      destination.Kind
	canonical string
}

type extractor struct {
	fields []policy.Result
	out    []provenance.Labelled
	seen   map[seen]bool
}

// text reads a text of the answer: as one JSON value, as the header of a message, or as the list that a server printed.
func (x *extractor) text(text string, structured bool) {
	if v, err := jsonrpc.Decode([]byte(text)); err == nil && (v.Kind == jsonrpc.Object || v.Kind == jsonrpc.Array) {
		x.value(v, "text", !structured)
		return
	}
	for _, line := range header(text) {
		for _, f := range x.fields {
			if f.Label == provenance.Attributed && strings.EqualFold(last(f.Path.String()), line.name) {
				x.add(f, line.value, "text."+line.name)
			}
		}
	}
	if v, ok := printed(text); ok {
		x.value(v, "text", false)
	}
}

func last(path string) string {
	return strings.TrimSuffix(path[strings.LastIndexByte(path, '.')+1:], "[]")
}

// value looks the fields up in a value, and in what a server framework wrapped because it was no object. trusted says
// that the value is structured: then every label counts.
func (x *extractor) value(v jsonrpc.Value, at string, trusted bool) {
	inner, wrapped := v.Get("result")
	wrapped = wrapped && len(v.Members) == 1
	for _, f := range x.fields {
		if !trusted && f.Label != provenance.Attributed {
			continue
		}
		x.field(f, v, at)
		if wrapped {
			x.field(f, inner, at+".result")
		}
	}
}

func (x *extractor) field(f policy.Result, v jsonrpc.Value, at string) {
	steps := strings.Split(strings.ReplaceAll(f.Path.String(), "[]", ""), ".")
	if f.Path.String() == "." {
		steps = nil
	}
	x.walk(f, v, steps, at)
}

func (x *extractor) walk(f policy.Result, v jsonrpc.Value, steps []string, at string) {
	if len(x.out) >= maxValues {
		return
	}
	switch {
	case v.Kind == jsonrpc.Array:
		for _, e := range v.Elems {
			x.walk(f, e, steps, at+"[]")
		}
	case len(steps) == 0:
		if v.Kind == jsonrpc.String || v.Kind == jsonrpc.Number {
			x.add(f, v.Text, at)
		}
	case steps[0] == "*":
		for _, m := range v.Members {
			x.walk(f, m.Value, steps[1:], at+".*")
		}
	default:
		if inner, ok := v.Get(steps[0]); ok {
			x.walk(f, inner, steps[1:], at+"."+steps[0])
		}
	}
}

func (x *extractor) add(f policy.Result, text, at string) {
	d, ok := shape(text, f.Kind, f.Label)
	key := seen{f.Label, d.Kind, d.Canonical}
	if !ok || x.seen[key] || len(x.out) >= maxValues {
		return
	}
	x.seen[key] = true
	x.out = append(x.out, provenance.Labelled{Label: f.Label, Destination: d,
		Sighting: provenance.Sighting{Field: at, Snippet: destination.Visible(text, 120), Match: provenance.Exact}})
}

// A labelled value is short: names carry injections too, whole paragraphs of them.
const (
	longName  = 60
	longMail  = 254
	longURL   = 2048
	mostWords = 6
)

// shape reads a value as the declared kind. What has not its shape does not count.
func shape(text string, kind policy.SinkKind, label provenance.Label) (d destination.Destination, ok bool) {
	if strings.TrimSpace(text) != text || text == "" || len(text) > longURL || destination.Visible(text, longURL) != text {
		return d, false
	}
	if label == provenance.Secret {
		return destination.Destination{Kind: destination.Opaque, Raw: text, Canonical: text}, len(text) >= 4 && len(text) <= longMail
	}
	ds := destination.Parse(text)
	if len(ds) != 1 || ds[0].Ambiguous != "" {
		return d, false
	}
	d = ds[0]
	words := len(strings.Fields(text))
	name := len(text) <= longName && words <= mostWords && !strings.Contains(text, "://") && !strings.ContainsAny(text, "<>{}|`")
	switch kind {
	case policy.KindEmail:
		return d, d.Kind == destination.Email && len(text) <= longMail
	case policy.KindURL:
		return d, d.Kind == destination.URL
	case policy.KindAccount:
		return d, d.Kind == destination.Account || d.Kind == destination.Opaque && name && words <= 3 // or a payee that the bank knows by name
	case policy.KindChannel, policy.KindID:
		return d, name && words == 1
	case policy.KindUser:
		return d, (d.Kind == destination.Email || name) && words <= 4
	case policy.KindPhone:
		return d, name && strings.Trim(text, "+0123456789 ()-./") == ""
	}
	return d, name || d.Kind == destination.Email || d.Kind == destination.URL && words == 1
}
