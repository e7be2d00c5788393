package demo

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestPersonNeverGuesses(t *testing.T) {
	for name, c := range map[string]struct {
		schema any
		answer string
		action string
		chose  any
	}{
		"as told":            {choice(no, yesForSession), yesForSession, "accept", yesForSession},
		"nothing expected":   {choice(no, yesForSession), "", "accept", no},
		"not offered":        {choice(no, "Allow everything"), yesForSession, "cancel", nil},
		"no form":            {nil, yesForSession, "cancel", nil},
		"an empty form":      {map[string]any{"type": "object", "properties": map[string]any{}}, yesForSession, "cancel", nil},
		"an optional choice": {map[string]any{"properties": choice(no, yesForSession)["properties"]}, yesForSession, "cancel", nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := &person{}
			p.expect(c.answer)
			res, err := p.elicit(t.Context(), &mcp.ElicitRequest{Params: &mcp.ElicitParams{Message: "?", RequestedSchema: c.schema}})
			if err != nil {
				t.Fatal(err)
			}
			if res.Action != c.action || res.Content["decision"] != c.chose {
				t.Errorf("answered %s %v, want %s %v", res.Action, res.Content, c.action, c.chose)
			}
			if asked := p.questions(); len(asked) != 1 || (asked[0].problem == "") != (c.action == "accept") {
				t.Errorf("noted %+v", asked)
			}
		})
	}
}

func choice(options ...string) map[string]any {
	return map[string]any{"type": "object", "required": []string{"decision"},
		"properties": map[string]any{"decision": map[string]any{"type": "string", "enum": options}}}
}
