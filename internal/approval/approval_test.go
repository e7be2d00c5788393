package approval

import (
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// TestReadResult: only an accepted form with exactly one of the options lets a call through (B19).
func TestReadResult(t *testing.T) {
	about := Question{Asked: []Destination{{Param: "to", Destination: destination.Parse("new@random.com")[0]}}, Keys: []string{"k"}}
	for _, c := range []struct {
		result string
		choice Choice
		how    string
	}{
		{`{"action":"accept","content":{"decision":"Allow this call"}}`, Once, "person"},
		{`{"action":"accept","content":{"decision":"Allow for this session"}}`, Session, "person"},
		{`{"action":"accept","content":{"decision":"Always allow"}}`, Always, "person"},
		{`{"action":"accept","content":{"decision":"Never allow"}}`, Never, "declined"},
		{`{"action":"accept","content":{"decision":"Deny"}}`, Deny, "declined"},
		{`{"action":"decline"}`, Deny, "declined"},
		{`{"action":"cancel"}`, Deny, "cancelled"},
		{`{"action":"accept"}`, Deny, "malformed"},
		{`{"action":"accept","content":{}}`, Deny, "malformed"},
		{`{"action":"accept","content":null}`, Deny, "malformed"},
		{`{"action":"accept","content":{"decision":"allow this call"}}`, Deny, "malformed"},
		{`{"action":"accept","content":{"decision":true}}`, Deny, "malformed"},
		{`{"action":"accept","content":{"Decision":"Allow this call"}}`, Deny, "malformed"},
		{`{"action":"accept","content":{"decision":"Deny","decision":"Allow this call"}}`, Deny, "malformed"},
		{`{"action":"ACCEPT","content":{"decision":"Allow this call"}}`, Deny, "malformed"},
		{`{"content":{"decision":"Allow this call"}}`, Deny, "malformed"},
		{`[]`, Deny, "malformed"},
		{`{`, Deny, "malformed"},
		{``, Deny, "malformed"},
	} {
		if got := about.ReadResult([]byte(c.result)); got.Choice != c.choice || got.How != c.how || got.Choice.Approves() == (got.Why != "") {
			t.Errorf("ReadResult(%s) = %+v, want choice %d, %s", c.result, got, c.choice, c.how)
		}
	}
	if got := about.ReadResult(nil); got.Choice != Deny || got.How != "unsupported" {
		t.Errorf("an error answer gives %+v", got)
	}
}

// TestNothingToRemember: an answer that the form did not have is none, whoever sends it.
func TestNothingToRemember(t *testing.T) {
	for _, q := range []Question{{}, {Keys: []string{"a", "b"}, Asked: []Destination{{Destination: destination.Parse("new@random.com")[0]}}}} {
		if got := q.ReadResult([]byte(`{"action":"accept","content":{"decision":"Always allow"}}`)); got.Choice != Deny || got.How != Malformed {
			t.Errorf("%+v answered for always gives %+v", q, got)
		}
	}
}

// TestSchema: one required field, Deny first, nothing preselected.
func TestSchema(t *testing.T) {
	v, err := jsonrpc.Decode(Question{}.Schema())
	if err != nil {
		t.Fatal(err)
	}
	properties, _ := v.Get("properties")
	field, _ := properties.Get(fieldName)
	options, _ := field.Get("enum")
	required, _ := v.Get("required")
	_, preselected := field.Get("default")
	if len(options.Elems) != 3 || options.Elems[0].Text != optionDeny || preselected || len(required.Elems) != 1 || required.Elems[0].Text != fieldName {
		t.Errorf("schema is %s", Question{}.Schema())
	}
}

// TestMessageCannotBeForged: A85, no value of the call makes a line of its own.
func TestMessageCannotBeForged(t *testing.T) {
	evil := "x\n- to: ok@corp.example (email)\nWhy you are asked: routine\u202e\u200b\x1b[2J"
	q := Question{Client: evil, Server: evil, Tool: evil, Reason: evil, Args: []byte(evil),
		Asked: []Destination{{Param: evil, Destination: destination.Parse(evil)[0]}, {Param: "to", Destination: destination.Parse("new@random.com")[0]}}}
	got := q.Message()
	if n := strings.Count(got, "\n"); n != 6 {
		t.Errorf("the message has %d line ends, want 6:\n%s", n, got)
	}
	if strings.ContainsAny(got, "\x1b\u202e\u200b") {
		t.Errorf("the message holds invisible characters: %q", got)
	}
	if !strings.Contains(got, "\n- new@random.com (email, in argument \"to\")\n") {
		t.Errorf("the destination has no line of its own:\n%s", got)
	}
	first := Question{Client: "claude-code 2.1", Server: "mail", Tool: "send_email", Asked: []Destination{{Param: "to", Destination: destination.Parse("new@random.com")[0]}}}.Message()
	if !strings.HasPrefix(first, "claude-code 2.1 wants to use send_email (server mail) to reach new@random.com\n") {
		t.Errorf("first line: %s", first)
	}
}
