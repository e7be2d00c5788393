package approval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// Message is the question as plain text. Its layout is fixed: who wants to send what to whom comes first, then one
// destination after the other with where it was first seen, then what is sent, then why a person is asked. Text that
// others wrote is quoted, escaped and cut, so that a value cannot forge a line (A85).
func (q Question) Message() string {
	var b strings.Builder
	b.WriteString(q.Title() + "\n")
	for i, d := range q.Asked {
		if i == mostShown {
			fmt.Fprintf(&b, "- and %d more destinations: bouncer audit show %s lists them\n", len(q.Asked)-i, q.ID)
			break
		}
		d.describe(&b)
	}
	q.sends(&b)
	fmt.Fprintf(&b, "Why you are asked: %s\n", destination.Visible(q.Reason, 400))
	fmt.Fprintf(&b, "Arguments (%d bytes): %s", len(q.Args), destination.Visible(string(q.Args), 400))
	if q.rememberable() {
		for _, e := range q.Entries(Always, Scope("")) {
			fmt.Fprintf(&b, "\n\"%s\" would add to approvals.yaml: %s", optionAlways, e.Line())
		}
	}
	return b.String()
}

// mostShown is how many destinations stand in the question. Who has to read more reads none.
const mostShown = 20

// Title is the first line: who wants to send to whom.
func (q Question) Title() string {
	client := "The client"
	if q.Client != "" {
		client = destination.Visible(q.Client, 40)
	}
	start := fmt.Sprintf("%s wants to use %s (server %s)", client, destination.Visible(q.Tool, 80), destination.Visible(q.Server, 40))
	switch len(q.Asked) {
	case 0:
		return start + ", which names no destination that could be checked."
	case 1:
		return start + " to reach " + q.Asked[0].Display()
	}
	return fmt.Sprintf("%s to reach %d destinations:", start, len(q.Asked))
}

func (d Destination) describe(b *strings.Builder) {
	fmt.Fprintf(b, "- %s (%s, in argument %q)", d.Display(), d.Kind, destination.Visible(d.Param, 80))
	if d.Ambiguous != "" {
		fmt.Fprintf(b, "; unclear: %s; as written: %s", destination.Visible(d.Ambiguous, 120), destination.Visible(d.Raw, 200))
	}
	b.WriteByte('\n')
	if d.Like != "" {
		fmt.Fprintf(b, "  beware: it could be taken for %s, which is trusted: %s\n", destination.Visible(d.Like, 200), destination.Visible(d.Differs, 120))
	}
	if d.Seen == nil {
		b.WriteString("  first seen: nowhere; no server wrote it, and neither did you, as far as Bouncer knows\n")
		return
	}
	fmt.Fprintf(b, "  first seen: in what server %q wrote (%s %s, field %q)", destination.Visible(d.Seen.Source.Server, 40),
		destination.Visible(d.Seen.Source.Tool, 80), destination.Visible(d.Seen.Source.Kind, 20), destination.Visible(d.Seen.Field, 80))
	if d.Seen.Snippet != "" {
		fmt.Fprintf(b, ": \u201c%s\u201d", destination.Visible(d.Seen.Snippet, 200))
	}
	b.WriteByte('\n')
}

// mostContents is how many texts of a call the question shows, the longest first.
const mostContents = 3

// sends says what would leave: the texts of the call that are no destination in question, with size and first line.
func (q Question) sends(b *strings.Builder) {
	args, err := jsonrpc.Decode(q.Args)
	if err != nil {
		return
	}
	var texts []policy.Selected
	for _, leaf := range policy.Leaves(args) {
		asked := slices.ContainsFunc(q.Asked, func(d Destination) bool { return d.Raw == leaf.Value.Text || d.Param == leaf.Path() })
		if !leaf.IsName && leaf.Value.Kind == jsonrpc.String && leaf.Value.Text != "" && !asked {
			texts = append(texts, leaf)
		}
	}
	slices.SortStableFunc(texts, func(a, b policy.Selected) int { return len(b.Value.Text) - len(a.Value.Text) })
	for i, leaf := range texts {
		if i == mostContents {
			fmt.Fprintf(b, "Sends: %d more texts\n", len(texts)-i)
			return
		}
		first, _, cut := strings.Cut(strings.TrimSpace(leaf.Value.Text), "\n")
		more := ""
		if cut {
			more = " ..."
		}
		fmt.Fprintf(b, "Sends: %s (%d bytes): \u201c%s\u201d%s\n", destination.Visible(leaf.Path(), 80), len(leaf.Value.Text), destination.Visible(first, 120), more)
	}
}

// imitates reports words that only Bouncer's own question has, however they are spelled.
func imitates(text string) bool {
	plain := destination.Normalise(text)
	for _, own := range []string{"bouncer", "why you are asked", "wants to use", "allow this call", "allow for this session", "always allow", "never allow"} {
		if strings.Contains(plain, own) {
			return true
		}
	}
	return false
}
