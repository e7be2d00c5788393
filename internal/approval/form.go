package approval

import (
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// The options of the form, exactly as a client must send them back. Deny stands first, so that it is what a hasty
// Enter chooses, and nothing is preselected.
const (
	optionDeny    = "Deny"
	optionOnce    = "Allow this call"
	optionSession = "Allow for this session"
	optionAlways  = "Always allow"
	optionNever   = "Never allow"
)

var optionOf = map[string]Choice{optionDeny: Deny, optionOnce: Once, optionSession: Session, optionAlways: Always, optionNever: Never}

// fieldName is the form's one field. It is required: a client that accepts forms unread sends none (B19).
const fieldName = "decision"

// Offers reports whether the question can be answered with c. What would be remembered needs a destination that every
// reader reads in one way: an answer about anything else holds for its call.
func (q Question) Offers(c Choice) bool {
	return c <= Session || q.rememberable()
}

func (q Question) rememberable() bool {
	if len(q.Asked) == 0 || len(q.Keys) > len(q.Asked) {
		return false
	}
	for _, d := range q.Asked {
		if d.Ambiguous != "" || d.Canonical == "" {
			return false
		}
	}
	return true
}

func (q Question) options() []string {
	out := []string{optionDeny, optionOnce, optionSession}
	if q.rememberable() {
		out = append(out, optionAlways, optionNever)
	}
	return out
}

// Schema is the form's requestedSchema.
func (q Question) Schema() []byte {
	b := []byte(`{"type":"object","properties":{"` + fieldName + `":{"type":"string","title":"Decision","enum":[`)
	for i, option := range q.options() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, jsonrpc.Quote(option)...)
	}
	return append(b, `]}},"required":["`+fieldName+`"]}`...)
}

// ReadResult reads a client's answer to elicitation/create: the result object, or nil when the client answered with an
// error. Anything but an accepted form with exactly one of the options that it had denies.
func (q Question) ReadResult(result []byte) Answer {
	if result == nil {
		return Answer{How: Unsupported, Why: "the client cannot show the question"}
	}
	v, err := jsonrpc.Decode(result)
	if err != nil {
		return Answer{How: Malformed, Why: "the client's answer could not be read"}
	}
	switch action, _ := v.Get("action"); action.Text {
	case "accept":
	case "decline":
		return Answer{How: Declined, Why: "the question was declined"}
	case "cancel":
		return Answer{How: Cancelled, Why: "the question was closed without an answer"}
	default:
		return Answer{How: Malformed, Why: "the client's answer has no known action"}
	}
	content, _ := v.Get("content")
	field, _ := content.Get(fieldName)
	choice, known := optionOf[field.Text]
	switch {
	case field.Kind != jsonrpc.String || !known || !q.Offers(choice):
		return Answer{How: Malformed, Why: "the form came back without a choice"}
	case choice == Deny:
		return Answer{How: Declined, Why: "the answer was Deny"}
	case choice == Never:
		return Answer{Choice: Never, How: Declined, Why: "the answer was Never"}
	}
	return Answer{Choice: choice, How: ByPerson}
}

// Imitates reports whether a form that a server asks for could be taken for Bouncer's own: it has Bouncer's options or
// the words of its question.
func Imitates(message string, schema jsonrpc.Value) bool {
	return imitates(message) || offersOurs(schema, 0)
}

// offersOurs looks for one of Bouncer's own yeses among the names and texts of a schema.
func offersOurs(v jsonrpc.Value, depth int) bool {
	if v.Kind == jsonrpc.String && imitates(v.Text) {
		return true
	}
	if depth > 20 { // no form that a client shows goes so deep; what does is marked
		return true
	}
	for _, e := range v.Elems {
		if offersOurs(e, depth+1) {
			return true
		}
	}
	for _, m := range v.Members {
		if imitates(m.Name) || offersOurs(m.Value, depth+1) {
			return true
		}
	}
	return false
}
