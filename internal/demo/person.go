package demo

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/approval"
)

// person stands in for whoever sits at the client. It reads each question's form as a client would show it, and picks
// the option that the story names. Without one it says Deny.
type person struct {
	mu     sync.Mutex // the client asks from a goroutine of its own
	answer string
	asked  []question
}

// expect says what to answer from now on.
func (p *person) expect(answer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer, p.asked = answer, nil
}

// questions returns what was asked since expect.
func (p *person) questions() []question {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// elicit is the client's elicitation handler.
func (p *person) elicit(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	time.Sleep(approval.Fastest + 50*time.Millisecond) // what comes sooner is no person's answer
	p.mu.Lock()
	defer p.mu.Unlock()
	q := question{message: req.Params.Message, chose: p.answer}
	if q.chose == "" {
		q.chose = no
	}
	var field string
	field, q.options = readForm(req.Params.RequestedSchema)
	switch {
	case field == "":
		q.problem = "the form has no single required choice"
	case !slices.Contains(q.options, q.chose):
		q.problem = "the form does not offer " + q.chose
	}
	p.asked = append(p.asked, q)
	if q.problem != "" {
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{field: q.chose}}, nil
}

// readForm returns the one field of a form and its options; nothing when the form is not one required choice.
func readForm(schema any) (field string, options []string) {
	var form struct {
		Properties map[string]struct{ Enum []string }
		Required   []string
	}
	data, err := json.Marshal(schema)
	if err != nil || json.Unmarshal(data, &form) != nil || len(form.Required) != 1 || len(form.Properties) != 1 {
		return "", nil
	}
	property, ok := form.Properties[form.Required[0]]
	if !ok || len(property.Enum) == 0 {
		return "", nil
	}
	return form.Required[0], property.Enum
}
