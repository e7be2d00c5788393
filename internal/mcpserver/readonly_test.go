package mcpserver

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// everything calls whatever the server has, with arguments that have something to do.
func everything(t *testing.T, c *mcp.ClientSession) {
	t.Helper()
	for tool, args := range map[string]object{
		"bouncer_check_verdict": {"tool": "send_email", "args": object{"to": "a@b.example"}, "untrusted_context": []string{"a@b.example"},
			"user_policy_yaml": "send_email: {exfiltrating: true, trusted_destinations: [a@b.example], max_calls: 1}", "tool_definition": sendTool(), "server": "mail"},
		"bouncer_verify_policy":       {"policy_yaml": "send_email: {}"},
		"bouncer_get_active_policies": {},
		"bouncer_audit_summary":       {"limit": 3},
	} {
		if text := call(t, c, tool, args, nil); text != "" {
			t.Errorf("%s: %s", tool, text)
		}
	}
	promptText(t, c, promptReview, map[string]string{"server_name": "email", "tool_definitions": `[{"name":"x","inputSchema":{"type":"object"}}]`})
	promptText(t, c, promptGenerate, map[string]string{"server_name": "email,acme", "risk_level": "paranoid"})
	for _, uri := range []string{uriBuiltin, uriEffective, uriSummary, "bouncer://audit/abcd2345"} {
		var v any
		read(t, c, uri, &v)
	}
	_, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: promptReview},
		Argument: mcp.CompleteParamsArgument{Name: "server_name", Value: "e"}})
	if err != nil {
		t.Error(err)
	}
}

// TestNothingIsWritten: no call, however it is made, makes or changes anything below the Bouncer home, and none counts
// as a call that happened.
func TestNothingIsWritten(t *testing.T) {
	s, home := newServer(t, "send_email: {exfiltrating: true, max_calls: 1}")
	t.Setenv("BOUNCER_HOME", home)
	t.Setenv("HOME", home)
	writeLog(t, home, entries()...)
	for _, dir := range []string{"pins"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	before := snapshot(t, home)
	eachTransport(t, s, func(t *testing.T, c *mcp.ClientSession) {
		everything(t, c)
		if d := cmp.Diff(before, snapshot(t, home)); d != "" {
			t.Error(d)
		}
	})
	os.RemoveAll(home) // and it is not made where it is not there
	c := connect(t, s, "memory")
	call(t, c, "bouncer_check_verdict", object{"tool": "x"}, nil)
	call(t, c, "bouncer_audit_summary", nil, nil)
	if _, err := os.Stat(home); err == nil {
		t.Error("the home was made")
	}
}

// TestManyAtOnce: requests at the same time get what each would get alone.
func TestManyAtOnce(t *testing.T) {
	s, home := newServer(t, "")
	writeLog(t, home, entries()...)
	c := connect(t, s, "http")
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			args := object{"tool": "send_email", "args": object{"to": "a@b.example"}, "tool_definition": sendTool()}
			want := "ask"
			if i%2 == 0 {
				args["untrusted_context"], want = []string{"a@b.example"}, "deny"
			}
			res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "bouncer_check_verdict", Arguments: args})
			if err != nil || res.IsError || res.StructuredContent.(map[string]any)["verdict"] != want {
				t.Errorf("%d: %+v %v", i, res, err)
			}
			if sum, err := s.summary(context.Background(), 5); err != nil || sum.Verdicts != 4 {
				t.Errorf("%d verdicts, %v", sum.Verdicts, err)
			}
		})
	}
	all.Wait()
}

// TestCancelledTrial: a request that waits for its turn ends with its client.
func TestCancelledTrial(t *testing.T) {
	s, _ := newServer(t, "")
	for range cap(s.trial) {
		s.trial <- struct{}{}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	req := &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Arguments: []byte(`{"tool":"x"}`)}}
	if _, v, err := s.checkVerdict(ctx, req, checkInput{Tool: "x"}); err == nil {
		t.Errorf("a verdict was given: %+v", v)
	}
}

// TestPanicIsContained: a bug in one answer is an error of that answer.
func TestPanicIsContained(t *testing.T) {
	s, _ := newServer(t, "")
	s.mcp.AddResource(&mcp.Resource{URI: "bouncer://bug", Name: "bug"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		panic("a bug")
	})
	eachTransport(t, s, func(t *testing.T, c *mcp.ClientSession) {
		if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "bouncer://bug"}); err == nil {
			t.Error("no error")
		}
		var v any
		read(t, c, uriSummary, &v)
	})
}
