package hook

import (
	"fmt"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// The events that are read. Every other one passes.
const (
	promptSubmit = "UserPromptSubmit"
	sessionStart = "SessionStart"
	preTool      = "PreToolUse"
	postTool     = "PostToolUse"
	postFailure  = "PostToolUseFailure"
)

// event is what the client wrote on stdin.
type event struct {
	name    string // hook_event_name
	session string // session_id: the client's name of the conversation
	dir     string // cwd
	mode    string // permission_mode
	source  string // of SessionStart: startup, resume, clear, compact
	prompt  string
	tool    string
	use     string // tool_use_id
	input   jsonrpc.Value
	output  jsonrpc.Value // tool_response, or error of a failure
}

// readEvent reads the client's JSON in one way or not at all. What a tool answered may hold anything that a file may, lone halves of
// characters too, so that such an event is read as a server's frame is.
func readEvent(text []byte) (event, error) {
	v, err := jsonrpc.Decode(text)
	if err != nil {
		lenient, again := jsonrpc.DecodeLenient(text)
		if name, _ := lenient.Get("hook_event_name"); again != nil || name.Text != postTool && name.Text != postFailure {
			return event{}, fmt.Errorf("read the client's event: %w", err)
		}
		v = lenient
	}
	if v.Kind != jsonrpc.Object {
		return event{}, fmt.Errorf("read the client's event: it is no JSON object")
	}
	e := event{}
	for name, to := range map[string]*string{"hook_event_name": &e.name, "session_id": &e.session, "cwd": &e.dir, "permission_mode": &e.mode,
		"source": &e.source, "prompt": &e.prompt, "tool_name": &e.tool, "tool_use_id": &e.use} {
		member, has := v.Get(name)
		if has && member.Kind != jsonrpc.String {
			return event{}, fmt.Errorf("read the client's event: its %s is no text", name)
		}
		*to = member.Text
	}
	e.input, _ = v.Get("tool_input")
	var answered bool
	if e.output, answered = v.Get("tool_response"); !answered {
		e.output, answered = v.Get("error")
	}
	return e, e.complete(v, answered)
}

// complete reports what an event must have and does not: a call without arguments would be judged as one that does nothing.
func (e event) complete(v jsonrpc.Value, answered bool) error {
	missing := ""
	_, prompted := v.Get("prompt")
	switch {
	case e.name == "":
		missing = "hook_event_name"
	case e.name == promptSubmit && !prompted:
		missing = "prompt"
	case (e.name == preTool || e.name == postTool || e.name == postFailure) && e.tool == "":
		missing = "tool_name"
	case (e.name == preTool || e.name == postTool) && e.input.Kind != jsonrpc.Object:
		missing = "tool_input"
	case (e.name == postTool || e.name == postFailure) && !answered:
		missing = "answer"
	default:
		return nil
	}
	return fmt.Errorf("read the client's event: it has no %s", missing)
}
