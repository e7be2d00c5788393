package proxy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// own reports a frame of the relay itself: its id, or the request that it cancels, starts with "bouncer-".
func own(line string) bool {
	msg, bad := jsonrpc.Parse([]byte(line), jsonrpc.FromServer)
	if bad != nil {
		return false
	}
	return strings.HasPrefix(msg.ID.Key(), "sbouncer-") || strings.Contains(string(msg.Params), `"requestId":"bouncer-`)
}

func foreign(all []string) []string {
	var out []string
	for _, line := range all {
		if !own(line) {
			out = append(out, line)
		}
	}
	return out
}

// count is how many responses to id there are.
func count(all []string, id string) int {
	n := 0
	for _, line := range all {
		if answers(line, id) {
			n++
		}
	}
	return n
}

// once demands exactly one response to each id.
func (r *rig) once(ids ...string) {
	r.t.Helper()
	for _, id := range ids {
		if n := count(r.client.got.list(), id); n != 1 {
			r.t.Errorf("%d responses to %s, want 1", n, id)
		}
	}
}

// blocked demands that a response is a denial.
func blocked(t *testing.T, line string) {
	t.Helper()
	if !strings.Contains(line, "[bouncer blocked]") {
		t.Errorf("not blocked: %.300s", line)
	}
}

func passed(t *testing.T, line string) {
	t.Helper()
	if strings.Contains(line, "[bouncer") || !strings.Contains(line, `"result"`) {
		t.Errorf("not the server's answer: %.300s", line)
	}
}

// never demands that nothing containing text reached the server.
func (r *rig) never(text string) {
	r.t.Helper()
	for _, line := range r.server.got.list() {
		if strings.Contains(line, text) {
			r.t.Errorf("the server got %.300s", line)
		}
	}
}

// reached is how many frames containing text reached the server.
func (r *rig) reached(text string) int {
	n := 0
	for _, line := range r.server.got.list() {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (r *rig) verdicts(tool string, want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.log.verdicts(tool)); diff != "" {
		r.t.Errorf("log lines about %s (-want +got):\n%s", tool, diff)
	}
}

// pinned makes sure that the tools are pinned and nothing is held: a call that is answered came after everything held.
func (r *rig) pinned() {
	r.t.Helper()
	r.client.send(call(`"warm-up"`, "echo", `{}`))
	passed(r.t, r.client.response(r.t, `"warm-up"`))
}

// question sends a call that must be asked about and returns the question.
func (r *rig) question(id string) jsonrpc.Message {
	r.t.Helper()
	r.client.send(call(id, "send", `{"to":"new@random.example","body":"secret"}`))
	return r.client.request(r.t, "elicitation/create")
}

const yes = `{"action":"accept","content":{"decision":"Allow this call"}}`
