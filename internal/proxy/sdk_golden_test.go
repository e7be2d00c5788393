//lint:file-ignore SA1019 what the protocol deprecates is still spoken, and has to pass unchanged

package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	legacyEra = "2025-11-25"
	modernEra = "2026-07-28"
)

func text(s string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: s}} }

// sdkServer is a server with every feature that the SDK has. order lets out-of-order calls finish, last one first;
// slow tells when a call that waits to be cancelled has started.
func sdkServer(order *sync.Map, slow chan<- struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Title: "T", Version: "1"}, &mcp.ServerOptions{
		Instructions:       "use with care <&> \u2028",
		PageSize:           4,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"a", "b"}, Total: 2}}, nil
		},
	})
	object := json.RawMessage(`{"type":"object","additionalProperties":true,"$schema":"https://json-schema.org/draft/2020-12/schema"}`)
	add := func(name string, h func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{Name: name, Title: "Title of " + name, Description: "does " + name, InputSchema: object, Meta: mcp.Meta{"k": []any{1, "x"}},
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}, Icons: []mcp.Icon{{Source: "data:,"}}}, h)
	}
	add("echo", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: text(string(r.Params.Arguments))}, nil
	})
	add("structured", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: map[string]any{"a": map[string]any{"b": []int{1}}}, Meta: mcp.Meta{"x": 1}}, nil
	})
	add("media", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		size := int64(7)
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.ImageContent{Data: []byte{0, 1, 2, 255}, MIMEType: "image/png"},
			&mcp.AudioContent{Data: []byte("riff"), MIMEType: "audio/wav"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a", MIMEType: "text/plain", Text: "in\u2028side"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b", Blob: []byte{9, 8}}},
			&mcp.ResourceLink{URI: "file:///c", Name: "c", Size: &size},
		}}, nil
	})
	add("fails", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: text("it did not work"), IsError: true}, nil
	})
	add("big", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: text(strings.Repeat("0123456789abcdef", 5<<20/16))}, nil
	})
	add("progress", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 20 {
			r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i) / 3, Total: 7})
		}
		return &mcp.CallToolResult{Content: text("done")}, nil
	})
	add("slow", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		slow <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("order", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ N int }
		json.Unmarshal(r.Params.Arguments, &in)
		own, _ := order.LoadOrStore(in.N, make(chan struct{}))
		defer close(own.(chan struct{}))
		if in.N < 31 {
			next, _ := order.LoadOrStore(in.N+1, make(chan struct{}))
			select {
			case <-next.(chan struct{}):
			case <-ctx.Done():
			}
		}
		return &mcp.CallToolResult{Content: text(fmt.Sprint(in.N))}, nil
	})
	add("asks", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		roots, err1 := r.Session.ListRoots(ctx, nil)
		sample, err2 := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 5, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi"}}}})
		form, err3 := r.Session.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: "name?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
		err4 := r.Session.Ping(ctx, nil)
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			return nil, fmt.Errorf("asking the client: %v, %v, %v, %v", err1, err2, err3, err4)
		}
		return &mcp.CallToolResult{Content: text(fmt.Sprintf("%d %s %s %v", len(roots.Roots), sample.Model, form.Action, form.Content["name"]))}, nil
	})
	s.AddResource(&mcp.Resource{URI: "file:///r", Name: "r", MIMEType: "text/plain"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "file:///r", Text: "contents"}}}, nil
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "file:///{x}", Name: "t"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	})
	s.AddPrompt(&mcp.Prompt{Name: "p", Arguments: []*mcp.PromptArgument{{Name: "a"}}}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "say"}}}}, nil
	})
	return s
}

func sdkClient(changed, updated chan<- struct{}, logged chan<- string) *mcp.Client {
	c := mcp.NewClient(&mcp.Implementation{Name: "sdk-client", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: "yo"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "ann"}}, nil
		},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
		ResourceUpdatedHandler:      func(context.Context, *mcp.ResourceUpdatedNotificationRequest) { updated <- struct{}{} },
		LoggingMessageHandler:       func(_ context.Context, r *mcp.LoggingMessageRequest) { logged <- fmt.Sprint(r.Params.Data) },
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {},
	})
	c.AddRoots(&mcp.Root{URI: "file:///root", Name: "root"})
	return c
}

// TestSDKGolden runs the SDK's client against the SDK's server through the relay, in both eras of the protocol.
func TestSDKGolden(t *testing.T) {
	for _, version := range []string{legacyEra, modernEra} {
		t.Run(version, func(t *testing.T) {
			slow, changed, updated, logged := make(chan struct{}, 10), make(chan struct{}, 10), make(chan struct{}, 10), make(chan string, 10)
			server := sdkServer(&sync.Map{}, slow)
			r := sdkStart(t, version, sdkClient(changed, updated, logged), server)
			within(t, "the session", func() {
				r.plain(context.Background())
				r.calls(context.Background(), slow)
				if version == legacyEra {
					r.legacy(context.Background(), server, changed, updated, logged)
				}
				r.cs.ListTools(context.Background(), nil) // what was on its way has arrived
			})
			r.check()
			r.used(r.clientWrote.lines(), "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list",
				"prompts/list", "prompts/get", "completion/complete", "notifications/cancelled")
			r.used(r.serverWrote.lines(), "notifications/progress")
			if version == legacyEra {
				r.used(r.clientWrote.lines(), "initialize", "resources/subscribe", "resources/unsubscribe", "logging/setLevel", "ping", "notifications/roots/list_changed")
				r.used(r.serverWrote.lines(), "roots/list", "sampling/createMessage", "elicitation/create", "ping", "notifications/message",
					"notifications/tools/list_changed", "notifications/resources/updated")
			} else {
				r.used(r.clientWrote.lines(), "server/discover")
			}
		})
	}
}

// plain uses everything that is no call.
func (r *sdkRig) plain(ctx context.Context) {
	fail := func(what string, err error) {
		if err != nil {
			r.t.Errorf("%s: %v", what, err)
		}
	}
	n := 0
	for _, err := range r.cs.Tools(ctx, nil) { // pages of four
		fail("tools/list", err)
		n++
	}
	if n != 9 {
		r.t.Errorf("%d tools, want 9", n)
	}
	_, err := r.cs.ListResources(ctx, nil)
	fail("resources/list", err)
	_, err = r.cs.ListResourceTemplates(ctx, nil)
	fail("resources/templates/list", err)
	_, err = r.cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///r"})
	fail("resources/read", err)
	if _, err = r.cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///missing"}); err == nil {
		r.t.Error("a missing resource was read")
	}
	_, err = r.cs.ListPrompts(ctx, nil)
	fail("prompts/list", err)
	_, err = r.cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: "p", Arguments: map[string]string{"a": "1"}})
	fail("prompts/get", err)
	_, err = r.cs.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "p"}, Argument: mcp.CompleteParamsArgument{Name: "a", Value: "x"}})
	fail("completion/complete", err)
}

// calls uses tools/call in every way, with a call that is cancelled and 32 at once that end in reverse order.
func (r *sdkRig) calls(ctx context.Context, slow <-chan struct{}) {
	for _, name := range []string{"echo", "structured", "media", "fails", "big"} {
		if _, err := r.cs.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: map[string]any{"x": "<&>\u2028", "n": 1e300}}); err != nil {
			r.t.Errorf("call %s: %v", name, err)
		}
	}
	p := &mcp.CallToolParams{Name: "progress", Meta: mcp.Meta{"progressToken": "p1", "traceparent": "00"}}
	if _, err := r.cs.CallTool(ctx, p); err != nil {
		r.t.Errorf("call progress: %v", err)
	}
	stopped, stop := context.WithCancel(ctx)
	go func() { <-slow; stop() }()
	if _, err := r.cs.CallTool(stopped, &mcp.CallToolParams{Name: "slow"}); err == nil {
		r.t.Error("a cancelled call returned a result")
	}
	var group sync.WaitGroup
	for n := range 32 {
		group.Go(func() {
			got, err := r.cs.CallTool(ctx, &mcp.CallToolParams{Name: "order", Arguments: map[string]any{"N": n}})
			if err != nil {
				r.t.Errorf("call %d: %v", n, err)
			} else if s := got.Content[0].(*mcp.TextContent).Text; s != fmt.Sprint(n) {
				r.t.Errorf("call %d got the answer of %s", n, s)
			}
		})
	}
	group.Wait()
}

// legacy uses what 2026-07-28 has no more: requests of the server, subscriptions, log levels, pings.
func (r *sdkRig) legacy(ctx context.Context, server *mcp.Server, changed, updated <-chan struct{}, logged <-chan string) {
	got, err := r.cs.CallTool(ctx, &mcp.CallToolParams{Name: "asks"})
	if err != nil {
		r.t.Errorf("call asks: %v", err)
	} else if s := got.Content[0].(*mcp.TextContent).Text; s != "1 m accept ann" {
		r.t.Errorf("the client's answers reached the server as %q", s)
	}
	r.client.AddRoots(&mcp.Root{URI: "file:///second"})
	for what, err := range map[string]error{
		"ping":      r.cs.Ping(ctx, nil),
		"setLevel":  r.cs.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"}),
		"subscribe": r.cs.Subscribe(ctx, &mcp.SubscribeParams{URI: "file:///r"}),
	} {
		if err != nil {
			r.t.Errorf("%s: %v", what, err)
		}
	}
	if err := server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "file:///r"}); err != nil {
		r.t.Errorf("resources/updated: %v", err)
	}
	<-updated
	for ss := range server.Sessions() {
		ss.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Data: "a line"})
	}
	<-logged
	if err := r.cs.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: "file:///r"}); err != nil {
		r.t.Errorf("unsubscribe: %v", err)
	}
	server.AddTool(&mcp.Tool{Name: "later", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{}, nil
	})
	<-changed
	if _, err := r.cs.CallTool(ctx, &mcp.CallToolParams{Name: "echo"}); err != nil { // the others go on
		r.t.Errorf("call after list_changed: %v", err)
	}
}
