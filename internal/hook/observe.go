package hook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// own are the tools whose answer repeats what they were given, or what the user answered.
var own = strings.Fields(`Write AskUserQuestion TodoWrite TaskCreate TaskUpdate ExitPlanMode EnterPlanMode`)

// observe records what a native tool answered. It is untrusted, whichever tool it was: a file of the user's holds what others
// wrote as well. The client shows the answer to the model whether or not this fails, so that a failure ends the turn.
func (h *Hook) observe(e event) ([]byte, error) {
	payload := e.output.Raw
	switch e.tool {
	case "Edit", "MultiEdit": // the rest is what the agent wrote, and it has not read more of the file
		before, has := e.output.Get("originalFile")
		if e.name == postTool && (!has || before.Kind != jsonrpc.String) {
			return nil, nil
		}
		payload = before.Raw
	}
	if len(payload) == 0 || e.name == postTool && slices.Contains(own, e.tool) {
		return nil, nil
	}
	s, err := h.facts()
	if err == nil {
		err = s.Observe(provenance.Source{Server: Server, Tool: e.tool, Call: e.use, Kind: "result"}, payload, echoes(e.input)...)
	}
	if err != nil {
		return fmt.Appendf(nil, `{"continue":false,"stopReason":%s}`, jsonrpc.Quote("[bouncer blocked] what "+visible(e.tool)+" answered could not be recorded: "+err.Error())), nil
	}
	return nil, nil
}

const (
	maxEchoes = 64
	shortEcho = 6
	longEcho  = 256
)

// echoes are what the agent itself put into the call: its arguments, and the destinations in longer ones. Where the answer repeats
// them it says nothing new.
func echoes(input jsonrpc.Value) (out []string) {
	add := func(text string) {
		if len(text) >= shortEcho && len(text) <= longEcho && len(out) < maxEchoes && !strings.ContainsAny(text, "\r\n") && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for _, leaf := range policy.Leaves(input) {
		if leaf.IsName || leaf.Value.Kind != jsonrpc.String {
			continue
		}
		add(leaf.Value.Text)
		for _, m := range destination.Mentions(leaf.Value.Text) {
			add(m.Raw)
		}
	}
	return out
}
