package jsonrpc

import (
	"bytes"
	"strings"
	"testing"
)

func TestSplitBatch(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	tests := []struct {
		frame string
		want  []string
		code  int
	}{
		{"[" + ping + ` , {"a":[1]}` + "]\r", []string{ping, `{"a":[1]}`}, 0},
		{" [1,\t\"x\" ,null] ", []string{"1", `"x"`, "null"}, 0},
		{"[]", nil, -32600},
		{" [ ] ", nil, -32600},
		{"[" + ping + ",[" + ping + "]]", nil, -32600},
		{`[{"a":1,"a":2}]`, nil, -32600},
		{"[" + ping + "\n," + ping + "]", nil, -32600},
		{"[" + ping + "]]", nil, -32700},
		{"[" + ping + ",]", nil, -32700},
		{"[" + ping, nil, -32700},
		{"[INFO] x", nil, -32700},
		{ping, nil, -32600},
		{"", nil, -32700},
		{"[" + strings.Repeat("1,", maxBatch-1) + "1]", strings.Split(strings.Repeat("1 ", maxBatch-1)+"1", " "), 0},
		{"[" + strings.Repeat("1,", maxBatch) + "1]", nil, -32600},
	}
	for _, tt := range tests {
		got, err := SplitBatch([]byte(tt.frame))
		if tt.code != 0 {
			if err == nil || err.Code != tt.code || got != nil || !err.ID.IsZero() {
				t.Errorf("%s: got %q, %+v, want code %d", show([]byte(tt.frame)), got, err, tt.code)
			}
			continue
		}
		if err != nil || strings.Join(tt.want, "|") != string(bytes.Join(got, []byte("|"))) {
			t.Errorf("%s: got %q, %v", show([]byte(tt.frame)), got, err)
		}
	}
}

func TestToolCall(t *testing.T) {
	tests := []struct {
		params, name, args, meta string
		ok                       bool
	}{
		{`{"name":"x"}`, "x", "", "", true},
		{`{"_meta":{"p":1},"arguments":{"a":{"name":"y"}},"na\u006de":"\u0078"}`, "x", `{"a":{"name":"y"}}`, `{"p":1}`, true},
		{`{"name":"x","arguments":{}}`, "x", "{}", "", true},
		{`{"name":" X "}`, " X ", "", "", true},
		{`{"name":"","task":{}}`, "", "", "", true},
		{`{"name":"x","arguments":null}`, "", "", "", false},
		{`{"name":"x","arguments":[]}`, "", "", "", false},
		{`{"name":"x","arguments":"{}"}`, "", "", "", false},
		{`{"name":"x","_meta":null}`, "", "", "", false},
		{`{"name":null}`, "", "", "", false},
		{`{"name":["x"]}`, "", "", "", false},
		{`{"arguments":{"name":"x"}}`, "", "", "", false},
		{`{}`, "", "", "", false},
		{`[{"name":"x"}]`, "", "", "", false},
	}
	for _, tt := range tests {
		parsed, err := Parse([]byte(call(tt.params)), FromClient)
		if err != nil {
			t.Fatal(err)
		}
		bare := Message{Shape: Request, ID: parsed.ID, Method: "tools/call", Params: []byte(tt.params)}
		for _, m := range []Message{parsed, bare} {
			c, err := m.ToolCall()
			if (err == nil) != tt.ok || c.Name != tt.name || string(c.Arguments) != tt.args || string(c.Meta) != tt.meta {
				t.Errorf("%s: got %+v, %v", tt.params, c, err)
			}
			if (c.Arguments == nil) != (tt.args == "") || (c.Meta == nil) != (tt.meta == "") {
				t.Errorf("%s: absent members must be nil", tt.params)
			}
			if err != nil && (err.ID != m.ID || err.Code != -32600) {
				t.Errorf("%s: error %+v", tt.params, err)
			}
		}
	}
}

func TestToolCallOfOtherMessages(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}`, // A53: a notification
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		m, err := Parse([]byte(frame), FromClient)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := m.ToolCall(); err == nil {
			t.Errorf("%s: got %+v", frame, c)
		}
	}
	// What the server may do to its own params, a call must not.
	m, err := Parse([]byte(call(`{"name":"x","name":"y"}`)), FromServer)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := m.ToolCall(); err == nil {
		t.Errorf("duplicate name: got %+v", c)
	}
}
