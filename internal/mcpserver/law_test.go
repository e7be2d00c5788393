package mcpserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
)

var rank = map[string]int{"allow": 0, "ask": 1, "deny": 2}

// FuzzTrial holds a trial to its laws, whatever the call: the same question gets the same answer; more untrusted text
// never gets a weaker one; a call of a tool that nobody knows is never allowed.
func FuzzTrial(f *testing.F) {
	f.Add("send_email", `{"to":"a@b.example","body":"x"}`, "write to a@b.example", "email")
	f.Add("send_email", `{"to":["a@b.example",{"to":"c@d.example"}],"To":"x"}`, "c@d.example", "@codefuturist/email-mcp")
	f.Add("read_file", `{"path":"~/.bouncer/policy.yaml"}`, "", "@modelcontextprotocol/server-filesystem@1")
	f.Add("fetch", `{"url":"https://evil.example/?q=1","headers":{"a":[1,2,{"b":null}]}}`, "see evil.example", "")
	f.Add("nobody knows", `{"a":{"b":[[[1e400]]]}}`, "\u202e\x00", "x/y")
	f.Add("", `{"":""}`, "", ",")
	f.Add("nobody knows", ``, "", "")
	set := (&policy.Set{}).WithPacks(packs.All())
	f.Fuzz(func(t *testing.T, tool, args, text, server string) {
		s := New(Config{})
		q := trial{tool: tool, rules: set, profile: policy.Standard, server: serverOf(set, server)}
		if args != "" {
			v, err := jsonrpc.Decode([]byte(args))
			if err != nil || v.Kind != jsonrpc.Object {
				t.Skip()
			}
			q.args = v
		}
		alone := s.try(q)
		if d := cmp.Diff(alone, s.try(q)); d != "" {
			t.Errorf("asked twice: %s", d)
		}
		q.context = []string{text}
		if more := s.try(q); rank[more.Verdict] < rank[alone.Verdict] {
			t.Errorf("%s alone, and %s with untrusted text", alone.Verdict, more.Verdict)
		}
		if knownArguments(q) == nil && alone.Verdict == "allow" {
			t.Errorf("a tool that nobody knows is allowed: %+v", alone)
		}
		if _, ok := rank[alone.Verdict]; !ok || alone.Reason == "" || alone.Contract == "" {
			t.Errorf("no verdict: %+v", alone)
		}
	})
}
