package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// turnStep is what a scripted model answers: a call, or a text that ends its turn.
type turnStep struct {
	tool  string
	input map[string]any
	text  string
}

// model answers a real client like the Messages API would, from a script: the next step for every request that has tools. Requests
// without any are for titles and the like.
type model struct {
	url     string
	mu      sync.Mutex
	steps   []turnStep
	turn    int
	results []string // what the client sent back for each call, as JSON
	ended   chan struct{}
}

func newModel(t *testing.T) *model {
	m := &model{ended: make(chan struct{}, 100)}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// script sets the steps of the next turn.
func (m *model) script(steps ...turnStep) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps, m.results = append(steps, turnStep{text: "That was all."}), nil
}

// answers returns what the client sent back for the calls of the turn.
func (m *model) answers() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.results...)
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model    string
		Stream   bool
		Tools    []json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	next := turnStep{text: "ok"}
	if len(request.Tools) > 0 && len(m.steps) > 0 {
		for i := len(request.Messages) - 1; i >= 0 && m.turn > 0; i-- { // the last thing that a tool answered
			var blocks []struct{ Type string }
			if json.Unmarshal(request.Messages[i].Content, &blocks) == nil && len(blocks) > 0 && blocks[0].Type == "tool_result" {
				m.results = append(m.results, string(request.Messages[i].Content))
				break
			}
		}
		next, m.steps = m.steps[0], m.steps[1:]
		m.turn++
		if next.tool == "" {
			m.turn = 0
			m.ended <- struct{}{}
		}
	}
	id := fmt.Sprintf("toolu_%p_%d", m.steps, m.turn)
	m.mu.Unlock()
	m.reply(w, next, id, request.Model, request.Stream)
}

func (m *model) reply(w http.ResponseWriter, next turnStep, id, name string, stream bool) {
	type object = map[string]any
	block, stop := object{"type": "text", "text": next.text}, "end_turn"
	if next.tool != "" {
		block, stop = object{"type": "tool_use", "id": id, "name": next.tool, "input": next.input}, "tool_use"
	}
	message := object{"id": "msg_" + id, "type": "message", "role": "assistant", "model": name, "content": []any{}, "stop_reason": nil,
		"stop_sequence": nil, "usage": object{"input_tokens": 1, "output_tokens": 1}}
	if !stream {
		message["content"], message["stop_reason"] = []any{block}, stop
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(kind string, data object) {
		data["type"] = kind
		text, _ := json.Marshal(data)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
	}
	begun, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": next.text}
	if next.tool != "" {
		input, _ := json.Marshal(next.input)
		begun = object{"type": "tool_use", "id": id, "name": next.tool, "input": object{}}
		delta = object{"type": "input_json_delta", "partial_json": string(input)}
	}
	event("message_start", object{"message": message})
	event("content_block_start", object{"index": 0, "content_block": begun})
	event("content_block_delta", object{"index": 0, "delta": delta})
	event("content_block_stop", object{"index": 0})
	event("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 1}})
	event("message_stop", object{})
}
