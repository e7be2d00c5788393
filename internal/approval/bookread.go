package approval

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

// Bounds on what is read. A file past them is broken: nobody answered so many questions.
const (
	maxBook    = 1 << 20
	maxEntries = 5000
)

var (
	bookKeys    = []string{"version", "approvals"}
	entryKeys   = []string{"answer", "server", "tool", "kind", "destination", "contract", "since"}
	memorable   = []string{"sink_gate", "intent", "consequence", "content", "flow"}
	memoryKinds = []string{string(destination.Email), string(destination.URL), string(destination.Path), string(destination.Account), string(destination.Opaque)}
)

// bookReader collects what is wrong with an approvals file.
type bookReader struct {
	name  string
	errs  []string
	lines []int // first line of every entry
	end   int   // the line of the last one's last token
}

func (r *bookReader) at(n *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, fmt.Sprintf("%s:%d:%d: %s", r.name, n.Line, n.Column, fmt.Sprintf(format, args...)))
}

// parseBook reads approvals.yaml: version: 1, and a list of entries. What it does not understand is an error with file,
// line and column (D09). Nothing is half read.
func parseBook(name string, data []byte) ([]Entry, *bookReader, error) {
	r := &bookReader{name: name}
	root, errs := load.Document(name, "an approvals file", data)
	if len(errs) > 0 {
		return nil, r, &load.Errors{List: errs}
	}
	var out []Entry
	if root != nil {
		out = r.book(root)
	}
	if len(r.errs) > 0 {
		return nil, r, fmt.Errorf("%s", strings.Join(r.errs, "\n"))
	}
	return out, r, nil
}

func (r *bookReader) book(root *yaml.Node) []Entry {
	keys := r.keys(root, "the top level", bookKeys)
	if v := keys["version"]; v == nil {
		r.at(root, "the key version is missing: write version: 1")
	} else if v.Kind != yaml.ScalarNode || v.Tag != "!!int" || v.Value != "1" {
		r.at(v, "version must be the number 1")
	}
	list := keys["approvals"]
	if list == nil || list.Kind == yaml.ScalarNode && list.Tag == "!!null" {
		return nil
	}
	if list.Kind != yaml.SequenceNode {
		r.at(list, "approvals must be a list, not %s", load.KindOf(list))
		return nil
	}
	if len(list.Content) > maxEntries {
		r.at(list, "more than %d entries", maxEntries)
		return nil
	}
	var out []Entry
	for _, n := range list.Content {
		e := r.entry(n)
		e.Number, e.At = len(out)+1, fmt.Sprintf("%s:%d", r.name, n.Line)
		out = append(out, e)
		r.lines = append(r.lines, n.Line)
		r.end = lastLine(n)
	}
	return out
}

func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

func (r *bookReader) entry(n *yaml.Node) Entry {
	keys := r.keys(n, "an entry", entryKeys)
	for _, name := range entryKeys[:5] {
		if keys[name] == nil && n.Kind == yaml.MappingNode {
			r.at(n, "an entry needs the key %s", name)
		}
	}
	e := Entry{Contract: sinkGate, Server: r.text(keys["server"], "server"), Tool: r.text(keys["tool"], "tool"),
		Destination: r.text(keys["destination"], "destination"), Since: r.text(keys["since"], "since")}
	if answer := r.oneOf(keys["answer"], "answer", []string{Always.String(), Never.String()}); answer == Never.String() {
		e.Choice = Never
	} else {
		e.Choice = Always
	}
	e.Kind = destination.Kind(r.oneOf(keys["kind"], "kind", memoryKinds))
	if keys["contract"] != nil {
		e.Contract = r.oneOf(keys["contract"], "contract", memorable)
	}
	if keys["destination"] != nil && len(r.errs) == 0 {
		r.destination(keys["destination"], e)
	}
	return e
}

// destination refuses an entry that could never match, or that says more than it may: who wrote it meant something else.
func (r *bookReader) destination(n *yaml.Node, e Entry) {
	domain, whole := strings.CutPrefix(e.Destination, "@")
	if whole && e.Kind == destination.Email {
		host, odd := destination.CanonicalHost(domain)
		switch {
		case odd != "" || host != domain || !strings.Contains(domain, "."):
			r.at(n, "%q is no domain in its plain spelling", destination.Visible(e.Destination, 120))
		case e.Choice == Always && publicMail(domain):
			r.at(n, "%q is a public mail provider, where anybody has an address: name the addresses", destination.Visible(e.Destination, 120))
		}
		return
	}
	read := destination.Parse(e.Destination)
	if e.Kind != destination.Opaque && (len(read) != 1 || read[0].Kind != e.Kind || read[0].Canonical != e.Destination) {
		r.at(n, "%q is no %s in its canonical spelling", destination.Visible(e.Destination, 120), e.Kind)
	}
}

// keys returns the values of a mapping by name.
func (r *bookReader) keys(n *yaml.Node, what string, known []string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	if n.Kind != yaml.MappingNode {
		r.at(n, "%s must be a mapping, not %s", what, load.KindOf(n))
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode || !slices.Contains(known, k.Value):
			r.at(k, "%q is not a key of %s: known are %s", destination.Visible(k.Value, 60), what, strings.Join(known, ", "))
		case out[k.Value] != nil:
			r.at(k, "duplicate key %s", k.Value)
		default:
			out[k.Value] = v
		}
	}
	return out
}

func (r *bookReader) text(n *yaml.Node, what string) string {
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!timestamp" {
		r.at(n, "%s must be text, not %s: put it in quotes", what, load.KindOf(n))
		return ""
	}
	if n.Value == "" {
		r.at(n, "%s is empty", what)
	}
	return n.Value
}

func (r *bookReader) oneOf(n *yaml.Node, what string, words []string) string {
	s := r.text(n, what)
	if n != nil && s != "" && !slices.Contains(words, s) {
		r.at(n, "%s must be one of %s, not %q", what, strings.Join(words, ", "), destination.Visible(s, 60))
	}
	return s
}
