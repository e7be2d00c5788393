// Package approval is how a person is asked about one call: what the question says, in what form it can be answered,
// and which answers count. Only a person's explicit choice lets a call through; a timeout, a closed window, an empty
// form or a machine's answer never does.
package approval

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Question is what a person is asked: may this call go to these destinations?
type Question struct {
	ID     string // the audit id of the call
	Client string
	Server string
	Tool   string
	Asked  []Destination // every destination in question; empty when the call names none
	Reason string        // why it is asked, as the gate gave it
	Args   []byte        // the call's arguments
}

// Destination is one destination in question.
type Destination struct {
	Param string
	destination.Destination
}

// Choice is what a person decided.
type Choice uint8

// The choices. The zero Choice is Deny, so whatever is not understood denies.
const (
	Deny Choice = iota
	Once
	Session
)

// Answer is how a question ended.
type Answer struct {
	Choice Choice
	How    string // person, declined, cancelled, timeout, unsupported, malformed, withdrawn
	Why    string // for the client, when nobody could be asked: one clause
}

// Channel is a way to reach a person. Ask blocks until there is an answer or ctx ends; it never returns an approval
// that no person gave.
type Channel interface {
	Ask(ctx context.Context, q Question) Answer
}

// Nobody is the channel of a run without a person. Every answer is Deny.
type Nobody struct{ Why string }

// Ask implements Channel.
func (n Nobody) Ask(context.Context, Question) Answer {
	return Answer{Choice: Deny, How: "unsupported", Why: n.Why}
}

// The options of the form, exactly as a client must send them back. Deny stands first, so that it is what a hasty
// Enter chooses, and nothing is preselected.
const (
	optionDeny    = "Deny"
	optionOnce    = "Allow this call"
	optionSession = "Allow for this session"
)

// fieldName is the form's one field. It is required: a client that accepts forms unread sends none (B19).
const fieldName = "decision"

// Schema is the form's requestedSchema.
func Schema() []byte {
	return []byte(`{"type":"object","properties":{"` + fieldName + `":{"type":"string","title":"Decision","enum":["` +
		optionDeny + `","` + optionOnce + `","` + optionSession + `"]}},"required":["` + fieldName + `"]}`)
}

// ReadResult reads a client's answer to elicitation/create: the result object, or nil when the client answered with an
// error. Anything but an accepted form with exactly one of the options denies.
func ReadResult(result []byte) Answer {
	if result == nil {
		return Answer{How: "unsupported", Why: "the client cannot show the question"}
	}
	v, err := jsonrpc.Decode(result)
	if err != nil {
		return Answer{How: "malformed", Why: "the client's answer could not be read"}
	}
	switch action, _ := v.Get("action"); action.Text {
	case "accept":
	case "decline":
		return Answer{How: "declined", Why: "the question was declined"}
	case "cancel":
		return Answer{How: "cancelled", Why: "the question was closed without an answer"}
	default:
		return Answer{How: "malformed", Why: "the client's answer has no known action"}
	}
	content, _ := v.Get("content")
	choice, _ := content.Get(fieldName)
	switch {
	case choice.Kind != jsonrpc.String:
	case choice.Text == optionDeny:
		return Answer{How: "declined", Why: "the answer was Deny"}
	case choice.Text == optionOnce:
		return Answer{Choice: Once, How: "person"}
	case choice.Text == optionSession:
		return Answer{Choice: Session, How: "person"}
	}
	return Answer{How: "malformed", Why: "the form came back without a choice"}
}

// Message is the question as plain text. Its layout is fixed: who wants to send to whom comes first, one destination a
// line, and text that others wrote is quoted, escaped and cut, so that a value cannot forge a line (A85).
func (q Question) Message() string {
	var b strings.Builder
	client := q.Client
	if client == "" {
		client = "The client"
	} else {
		client = destination.Visible(client, 40)
	}
	switch len(q.Asked) {
	case 0:
		fmt.Fprintf(&b, "%s wants to use %s (server %s), which sends values out without naming a destination.\n",
			client, destination.Visible(q.Tool, 80), destination.Visible(q.Server, 40))
	case 1:
		fmt.Fprintf(&b, "%s wants to use %s (server %s) to reach %s\n",
			client, destination.Visible(q.Tool, 80), destination.Visible(q.Server, 40), q.Asked[0].Display())
	default:
		fmt.Fprintf(&b, "%s wants to use %s (server %s) to reach %d destinations:\n",
			client, destination.Visible(q.Tool, 80), destination.Visible(q.Server, 40), len(q.Asked))
	}
	for _, d := range q.Asked {
		fmt.Fprintf(&b, "- %s (%s, in argument %q)", d.Display(), d.Kind, destination.Visible(d.Param, 80))
		if d.Ambiguous != "" {
			fmt.Fprintf(&b, "; unclear: %s; as written: %s", destination.Visible(d.Ambiguous, 120), destination.Visible(d.Raw, 200))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "Why you are asked: %s\n", destination.Visible(q.Reason, 400))
	fmt.Fprintf(&b, "Arguments (%d bytes): %s", len(q.Args), destination.Visible(string(q.Args), 400))
	return b.String()
}
