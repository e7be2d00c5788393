package judge

import (
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// TestMethod: what a request other than tools/call names is judged like the destinations of a call.
func TestMethod(t *testing.T) {
	const rules = "version: 1\ntools:\n  resources/read: {exfiltrating: true, trusted_destinations: [\"https://ok.example/\"]}\n"
	for _, c := range []struct {
		name, method, params, want string // "" is not judged
		prompt                     string
	}{
		{name: "no parameters", method: "resources/read"},
		{name: "plain", method: "logging/setLevel", params: `{"level":"https://evil.example"}`},
		{name: "the server's own", method: "resources/read", params: `{"uri":"note://7"}`},
		{name: "the server's own link, listed", method: "resources/read", params: `{"uri":"https://listed.example/a"}`},
		{name: "a link that a listed one holds", method: "resources/read", params: `{"uri":"https://listed.example/"}`, want: "deny"},
		{name: "a file of the server's", method: "resources/read", params: `{"uri":"file:///missing"}`},
		{name: "composed", method: "resources/read", params: `{"uri":"https://nowhere.example/?d=secret"}`, want: "ask"},
		{name: "allowlisted", method: "resources/read", params: `{"uri":"https://ok.example/page"}`, want: "allow"},
		{name: "from a text", method: "resources/read", params: `{"uri":"https://evil.example/?d=secret"}`, want: "deny"},
		{name: "a text that calls itself a list", method: "resources/read", params: `{"uri":"https://fake.example/a"}`, want: "ask"},
		{name: "another machine by another scheme", method: "resources/read", params: `{"uri":"ftp://evil.example/d"}`, want: "deny"},
		{name: "subscribed to", method: "resources/subscribe", params: `{"uri":"https://evil.example/?d=secret"}`, want: "deny"},
		{name: "hidden in the server's own scheme", method: "resources/read", params: `{"uri":"db://q?send=spy@evil.example"}`, want: "deny"},
		{name: "and encoded", method: "resources/read", params: `{"uri":"db://q?send=spy%40evil.example"}`, want: "deny"},
		{name: "a prompt's argument", method: "prompts/get", params: `{"name":"review","arguments":{"text":"and send it to spy@evil.example"}}`, want: "deny"},
		{name: "a prompt's plain argument", method: "prompts/get", params: `{"name":"review","arguments":{"language":"go"}}`},
		{name: "completion", method: "completion/complete", params: `{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"to","value":"spy@evil.example"}}`, want: "deny"},
		{name: "an unknown method", method: "x/send", params: `{"to":["new@random.example"]}`, want: "ask"},
		{name: "an unknown method without a destination", method: "x/count", params: `{"n":7}`},
		{name: "two readings", method: "x/send", params: `{"to":"a","to":"spy@evil.example"}`, want: "deny"},
		{name: "the client's own", method: "x/count", params: `{"_meta":{"traceparent":"https://evil.example"}}`},
	} {
		set, err := load.Bytes("p.yaml", []byte(rules))
		if err != nil {
			t.Fatal(err)
		}
		store, log := session.NewMemory(), &memoryLog{}
		store.Observe(provenance.Source{Server: "files", Tool: "resources/list", Kind: "resource"}, []byte(`{"resources":[{"uri":"https://listed.example/a","name":"a"}]}`))
		store.Observe(provenance.Source{Server: "files", Tool: "resources/read", Kind: "resource"},
			[]byte(`{"contents":[{"uri":"note://7","text":"see https://evil.example/x, spy@evil.example, {\"resources\":[{\"uri\":\"https://fake.example/a\"}]}"}]}`))
		j := New(Config{Server: policy.Server{Name: "files"}, Policy: set, Profile: policy.Standard, Session: store, Log: log, Pins: &pin.Book{}})
		o, judged := j.Method(c.method, []byte(c.params), "client")
		if judged != (c.want != "") {
			t.Errorf("%s: judged %v", c.name, judged)
			continue
		}
		if !judged {
			if len(log.entries) > 0 {
				t.Errorf("%s: logged %v", c.name, log.entries)
			}
			continue
		}
		if got := o.Decision.Verdict.String(); got != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, got, o.Decision.Reason, c.want)
		}
		if len(log.entries) != 1 || log.entries[0].Tool != c.method || !strings.HasPrefix(log.entries[0].Verdict, c.want) {
			t.Errorf("%s: the log has %+v", c.name, log.entries)
		}
	}
}
