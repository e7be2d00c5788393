package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// TestUnsoundFacts: without the facts of the session nothing is allowed and nothing asked, whatever the contracts say.
func TestUnsoundFacts(t *testing.T) {
	who, err := session.Here()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	store, err := session.Open(home, who)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	j, log, _ := newJudge(t, sendRule, func(c *Config) { c.Session = store })
	sessions := filepath.Join(home, "sessions")
	away := func() {
		if err := os.Rename(sessions, sessions+".away"); err != nil {
			t.Skip(err) // Windows does not move what is open
		}
	}
	back := func() {
		if err := os.Rename(sessions+".away", sessions); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(o *Outcome) {
		t.Helper()
		if d := o.Decision; d.Verdict != gate.Deny || d.Contract != "session" || !strings.Contains(d.Reason, "the session's store cannot be used") {
			t.Errorf("%v [%s] %s", d.Verdict, d.Contract, d.Reason)
		}
		if last := log.entries[len(log.entries)-1]; last.Verdict != "deny" || last.Contract != "session" {
			t.Errorf("logged as %s [%s]", last.Verdict, last.Contract)
		}
	}
	if o := j.Decide(request(`{"to":"ok@corp.example"}`)); o.Decision.Verdict != gate.Allow {
		t.Errorf("before: %v %s", o.Decision.Verdict, o.Decision.Reason)
	}
	away()
	refused(j.Decide(request(`{"to":"ok@corp.example"}`)))
	refused(j.DecideLater(request(`{"to":"new@x.example"}`)))
	back()
	j, log, _ = newJudge(t, strings.ReplaceAll(sendRule, "max_calls: 3", "max_calls: 30"), func(c *Config) { c.Session = store })
	o := j.Decide(request(`{"to":"new@x.example"}`))
	if o.Decision.Verdict != gate.Ask {
		t.Fatalf("after: %v %s", o.Decision.Verdict, o.Decision.Reason)
	}
	// It goes while a person thinks.
	j.Settle(t.Context(), o, &channel{answer: approval.Answer{Choice: approval.Session, How: "person"}, before: away})
	refused(o)
	back()
}
