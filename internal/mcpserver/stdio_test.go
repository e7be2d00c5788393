package mcpserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// talk runs a session over a whole input and returns the responses by id.
func talk(t *testing.T, input string) map[string]jsonrpc.Message {
	t.Helper()
	s, _ := newServer(t, "")
	var out bytes.Buffer
	if err := s.RunStdio(t.Context(), strings.NewReader(input), &out); err != nil {
		t.Fatal(err)
	}
	got := map[string]jsonrpc.Message{}
	for line := range strings.Lines(out.String()) {
		msg, bad := jsonrpc.Parse([]byte(strings.TrimSuffix(line, "\n")), jsonrpc.FromServer)
		if bad != nil || msg.Shape != jsonrpc.Response {
			t.Fatalf("%v: %s", bad, line)
		}
		id := msg.ID.String()
		for msg.ID.IsZero() && got[id].Raw != nil { // refusals without an id: keep them apart
			id += "+"
		}
		if got[id].Raw != nil {
			t.Errorf("%s is answered twice", id)
		}
		got[id] = msg
	}
	return got
}

const opening = initialize + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// TestEveryRequestIsAnswered: what was asked before the input ended gets its answer.
func TestEveryRequestIsAnswered(t *testing.T) {
	for range 5 {
		var b strings.Builder
		b.WriteString(opening)
		for i := range 50 {
			fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":"r%d","method":"tools/call","params":{"name":"bouncer_check_verdict","arguments":{"tool":"x"}}}`+"\n", i)
		}
		got := talk(t, b.String())
		for i := range 50 {
			if msg := got[fmt.Sprintf(`"r%d"`, i)]; msg.Result == nil {
				t.Errorf("request %d: %s", i, msg.Raw)
			}
		}
		if len(got) != 51 {
			t.Errorf("%d answers", len(got))
		}
	}
}

// TestNoiseIsRefused: a line that is no single message is answered, and the session goes on.
func TestNoiseIsRefused(t *testing.T) {
	const after = `{"jsonrpc":"2.0","id":"after","method":"ping"}` + "\n"
	for name, row := range map[string]struct{ line, id string }{
		"no JSON":             {"hello", ""},
		"a byte order mark":   {"\ufeff" + `{"jsonrpc":"2.0","id":7,"method":"ping"}`, "-"},
		"a batch":             {`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, ""},
		"a name twice":        {`{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}`, "7"},
		"another case":        {`{"jsonrpc":"2.0","id":7,"Method":"ping","method":"ping"}`, "7"},
		"a large id":          {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "9007199254740993"},
		"an id with fraction": {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, ""},
		"deep nesting":        {`{"jsonrpc":"2.0","id":7,"method":"ping","params":` + strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5001), "7"},
		"a large line":        {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", maxFrame) + `"}}`, "7"},
	} {
		t.Run(name, func(t *testing.T) {
			got := talk(t, opening+row.line+"\n"+after)
			if got[`"after"`].Result == nil {
				t.Fatalf("the session ended: %v", got)
			}
			if refusal := got[row.id]; row.id != "-" && refusal.Error == nil || len(got) != 3 {
				t.Errorf("%d answers, %s", len(got), refusal.Raw)
			}
		})
	}
	for name, line := range map[string]string{"an answer to nothing": `{"jsonrpc":"2.0","id":1,"result":{}}`, "a blank line": " \r", "an unknown notification": `{"jsonrpc":"2.0","method":"x/y"}`} {
		t.Run(name, func(t *testing.T) {
			if got := talk(t, opening+line+"\n"+after); len(got) != 2 || got[`"after"`].Result == nil {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestInputEndsInsideALine: half a request is none (A52).
func TestInputEndsInsideALine(t *testing.T) {
	if got := talk(t, opening+`{"jsonrpc":"2.0","id":7,"method":"ping"}`); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if got := talk(t, ""); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// TestContextEndsTheSession: a signal ends a session whose client says nothing, and with a request that hangs.
func TestContextEndsTheSession(t *testing.T) {
	s, _ := newServer(t, "")
	for range cap(s.trial) {
		s.trial <- struct{}{}
	}
	ctx, stop := context.WithCancel(t.Context())
	in, client := io.Pipe()
	seen := &signalWriter{wrote: make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- s.RunStdio(ctx, in, seen) }()
	io.WriteString(client, opening+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bouncer_check_verdict","arguments":{"tool":"x"}}}`+"\n")
	<-seen.wrote
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	client.Close()
}

// signalWriter says when it was written to first.
type signalWriter struct {
	once  sync.Once
	wrote chan struct{}
}

func (w *signalWriter) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.wrote) })
	return len(p), nil
}
