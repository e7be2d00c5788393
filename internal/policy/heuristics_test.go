package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/policytest"
)

// schemaOf makes a schema with string arguments; "name:json" gives one its own schema.
func schemaOf(args ...string) string {
	var props []string
	for _, a := range args {
		name, inner, ok := strings.Cut(a, ":")
		if !ok {
			inner = `{"type":"string"}`
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			panic(err)
		}
		props = append(props, string(quoted)+":"+inner)
	}
	return `{"type":"object","properties":{` + strings.Join(props, ",") + `}}`
}

// Every sink that the first version's heuristics know is one here, on a tool that is no reader.
func TestSeedSinksAreSinks(t *testing.T) {
	for _, name := range strings.Fields("to recipient recipients cc bcc url email address channel share_with") {
		r := policy.Heuristics(policytest.Tool(t, "do_something", schemaOf(name, "body")))
		if sinkString(r) != name {
			t.Errorf("%s: sinks %s", name, sinkString(r))
		}
	}
	for _, name := range strings.Fields("path file_path filename dest destination") {
		for _, verb := range strings.Fields("write create save put upload edit") {
			r := policy.Heuristics(policytest.Tool(t, verb+"_file", schemaOf(name, "content")))
			if paramString(r.WriteParams) != name {
				t.Errorf("%s_file(%s): write_params %s", verb, name, paramString(r.WriteParams))
			}
		}
	}
	for _, name := range strings.Fields("delete_file remove_item rm drop_table deleteFile batchDelete DELETE-ALL removefile") {
		r := policy.Heuristics(policytest.Tool(t, name, schemaOf("id")))
		if r.MaxCalls == nil || *r.MaxCalls != 2 {
			t.Errorf("%s: budget %v, want 2", name, r.MaxCalls)
		}
	}
}

func TestHeuristics(t *testing.T) {
	cases := []struct {
		tool string
		args []string
		want string // as in realSinks
	}{
		{"send", []string{"toAddress", "text"}, "toAddress"},
		{"send", []string{"TO", "text"}, "TO"},
		{"send", []string{"recipientList", "text"}, "recipientList"},
		{"send", []string{"recipient-emails", "text"}, "recipient-emails"},
		{"sendMessage", []string{"chat_id:{\"type\":\"integer\"}", "text"}, "chat_id"},
		{"send_sms", []string{"phoneNumber", "text"}, "phoneNumber"},
		{"notify", []string{"webhookurl"}, "webhookurl"},
		{"setup", []string{"callbackURLs"}, "callbackURLs"},
		{"configure", []string{"target_url"}, "target_url"},
		{"configure", []string{"apiEndpoint"}, "apiEndpoint"},
		{"configure", []string{"where:{\"type\":\"string\",\"format\":\"uri\"}"}, "where"},
		{"configure", []string{"who:{\"type\":\"string\",\"format\":\"email\"}"}, "who"},
		{"configure", []string{"from:{\"type\":\"string\",\"format\":\"email\"}"}, "-"},
		{"send_money", []string{"recipient", "amount:{\"type\":\"number\"}"}, "recipient"},
		{"make_transfer", []string{"to_account", "amount:{\"type\":\"number\"}"}, "to_account"},
		{"make_transfer", []string{"iban", "amount:{\"type\":\"number\"}"}, "iban"},
		{"schedule_payment", []string{"payee_name", "date"}, "payee_name"},
		{"invite_user_to_slack", []string{"user", "user_email"}, "user user_email"},
		{"add_user_to_channel", []string{"user", "channel"}, "channel"},
		{"share_file", []string{"file_id", "email"}, "email"},
		{"git_push", []string{"remote", "branch"}, "remote"},
		{"publish", []string{"topic", "message"}, "topic"},
		{"s3_upload", []string{"bucket", "key", "body"}, "bucket"},
		{"execute_command", []string{"command"}, "command"},
		{"run_python", []string{"code"}, "code"},
		{"format", []string{"code"}, "-"},
		{"reply", []string{"message_id", "text"}, "?"},
		{"publishPost", []string{"text"}, "?"},
		{"create_reply_draft", []string{"id", "text"}, "-"},
		{"search_and_send", []string{"query"}, "?"},
		// Readers: only what the request itself contacts counts.
		{"list_messages", []string{"channel", "to"}, "-"},
		{"get_channel", []string{"channel_id"}, "-"},
		{"searchEmails", []string{"recipient"}, "-"},
		{"get_page", []string{"url"}, "url"},
		{"read", []string{"uri"}, "uri"},
		{"list_hosts", []string{"host"}, "host"},
		{"read_and_forward", []string{"to"}, "to"},
		{"get_or_create_chat", []string{"to"}, "to"},
		{"mystery", []string{"to"}, "to"}, // no verb at all is no reader
		// What only sounds like a destination.
		{"list_items", []string{"maximum_number_of_urls:{\"type\":\"integer\"}"}, "-"},
		{"set_option", []string{"includeUrl:{\"type\":\"boolean\"}", "webhook_events", "addressRetention"}, "-"},
		{"update", []string{"emailId", "inReplyTo", "applyTo", "targetDate"}, "-"},
		{"move_file", []string{"source", "destination"}, "-"},
		// Names in letters that the words cannot hold, look-alikes included (Cyrillic o).
		{"send", []string{"t\u043e", "text"}, "t\u043e"},
		{"create", []string{"\u6536\u4ef6\u4eba"}, "\u6536\u4ef6\u4eba"},
		// Nested places.
		{"create_event", []string{`attendees:{"type":"array","items":{"type":"object","properties":{"email":{"type":"string"},"name":{"type":"string"}}}}`}, "attendees.email"},
		{"create_event", []string{`attendees:{"type":"array","items":{"type":"object","properties":{"handle":{"type":"string"}}}}`}, "attendees"},
		{"submit", []string{`options:{"type":"object","properties":{"deep":{"anyOf":[{"type":"null"},{"type":"object","properties":{"webhook":{"type":"string"}}}]}}}`}, "options.deep.webhook"},
		{"submit", []string{`recipients:{"type":"object","additionalProperties":{"type":"string"}}`}, "recipients"},
		{"create_relations", []string{`relations:{"type":"array","items":{"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"}}}}`}, "-"},
		{"draw", []string{"a.b.to:{\"type\":\"string\"}"}, "-"},
	}
	for _, c := range cases {
		r := policy.Heuristics(policytest.Tool(t, c.tool, schemaOf(c.args...)))
		if got := sinkString(r); got != c.want {
			t.Errorf("%s%v: sinks %s, want %s (%s)", c.tool, c.args, got, c.want, r.Why)
		}
	}
}

// What cannot be read is judged by every argument, and never walked for ever.
func TestUnreadableSchemas(t *testing.T) {
	deep := `{"type":"string"}`
	for range 80 {
		deep = `{"type":"object","properties":{"a":` + deep + `}}`
	}
	wide := `{"type":"object","properties":{"a":{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"type":"string"},`, 60_000), ",") + `]}}}`
	bomb := `{"properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{`
	for i := range 30 {
		bomb += fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	bomb += `"d30":{"type":"string"}}}`
	cases := map[string]string{
		"missing":             "",
		"null":                `null`,
		"a list":              `[]`,
		"text":                `"object"`,
		"properties a list":   `{"type":"object","properties":["to"]}`,
		"property a number":   `{"type":"object","properties":{"to":3}}`,
		"says nothing":        `{"$schema":"http://json-schema.org/draft-07/schema#"}`,
		"free form":           `{"type":"object","additionalProperties":true}`,
		"free form typed":     `{"type":"object","additionalProperties":{"type":"string"}}`,
		"pattern":             `{"type":"object","patternProperties":{"^x":{"type":"string"}}}`,
		"foreign ref":         `{"$ref":"https://evil.example/schema.json"}`,
		"missing ref":         `{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}`,
		"ref of another kind": `{"type":"object","properties":{"a":{"$ref":7}}}`,
		"too deep":            deep,
		"too wide":            wide,
		"ref bomb":            bomb,
		"endless name":        schemaOf(strings.Repeat("x", 3000)),
		"said twice":          `{"type":"object","properties":{"a":{"type":"string"}},"properties":{}}`,
	}
	for name, schema := range cases {
		r := policy.Heuristics(policytest.Tool(t, "list_things", schema))
		if !r.Exfiltrating || len(r.SinkParams) > 0 || len(r.Content) > 0 {
			t.Errorf("%s: %+v, want every argument judged", name, r)
		}
	}
	fine := map[string]string{
		"no arguments":  `{"type":"object"}`,
		"closed":        `{"type":"object","additionalProperties":false}`,
		"empty":         `{"type":"object","properties":{}}`,
		"a cycle":       `{"type":"object","properties":{"tree":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/n"}}}}}}`,
		"refers itself": `{"type":"object","properties":{"again":{"$ref":"#"}}}`,
	}
	for name, schema := range fine {
		if r := policy.Heuristics(policytest.Tool(t, "list_things", schema)); r.Exfiltrating {
			t.Errorf("%s: %s", name, r.Why)
		}
	}
	cycle := `{"type":"object","properties":{"node":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"webhook":{"type":"string"},"next":{"$ref":"#/$defs/n"}}}}}`
	if got := sinkString(policy.Heuristics(policytest.Tool(t, "put", cycle))); got != "node.webhook" {
		t.Errorf("sink in a cycle: %s", got)
	}
}

// Annotations come from the server: they take a reader's benefit away, and never give it.
func TestAnnotationsOnlyTighten(t *testing.T) {
	define := func(name, hints string) policy.Tool {
		return policytest.Definition(t, fmt.Sprintf(`{"name":%q,"inputSchema":%s,"annotations":%s}`, name, schemaOf("to"), hints))
	}
	cases := []struct {
		name, hints, want string
	}{
		{"send_mail", `{"readOnlyHint":true,"destructiveHint":false}`, "to"},
		{"list_mail", `{}`, "-"},
		{"list_mail", `{"readOnlyHint":true}`, "-"},
		{"list_mail", `{"readOnlyHint":false}`, "to"},
		{"list_mail", `{"destructiveHint":true}`, "to"},
		{"list_mail", `7`, "-"},
	}
	for _, c := range cases {
		if got := sinkString(policy.Heuristics(define(c.name, c.hints))); got != c.want {
			t.Errorf("%s %s: sinks %s, want %s", c.name, c.hints, got, c.want)
		}
	}
}

func TestSweep(t *testing.T) {
	r := policy.Rule{Content: []policy.Param{policy.MustParam("body"), policy.MustParam("meta.note")}}
	args := policytest.Value(t, `{"body":["a",{"x":"b"}],"meta":{"note":"c","to":"d"},"extra":"e"}`)
	var got []string
	for _, s := range r.Sweep(args, policy.Leaves(args)) {
		if !s.IsName {
			got = append(got, s.Path())
		}
	}
	if want := "meta.to extra"; strings.Join(got, " ") != want {
		t.Errorf("swept %q, want %q", got, want)
	}
}

// FuzzHeuristics: no schema panics or hangs, and what is found is declared.
func FuzzHeuristics(f *testing.F) {
	f.Add("send_email", schemaOf("to", "body"))
	f.Add("x", `{"$ref":"#"}`)
	f.Add("get", `{"anyOf":[{"$ref":"#/anyOf/1"},{"$ref":"#/anyOf/0"}]}`)
	f.Fuzz(func(t *testing.T, name, schema string) {
		tool, ok := decoded(name, schema)
		if !ok {
			return
		}
		r := policy.Heuristics(tool)
		for _, p := range append(r.SinkParams, r.WriteParams...) {
			if !policy.HasArgument(tool, p) {
				t.Errorf("%s is not in the schema", p)
			}
		}
		if r.Why == "" {
			t.Error("no reason")
		}
	})
}
