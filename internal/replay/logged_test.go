package replay

import (
	"path/filepath"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// writeLog writes a log of what is given, each with an id of its own unless it has one.
func writeLog(t *testing.T, entries ...audit.Entry) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.ID == "" {
			e.ID = audit.NewID()
		}
		e.Session, e.Server = "s", "office"
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReplayLog: what the log knows of a destination holds for another policy too; what it does not know is unproven.
func TestReplayLog(t *testing.T) {
	from := func(origin gate.Origin, destination string) []audit.Evidence {
		return []audit.Evidence{{Contract: gate.SinkGate, Param: "to", Destination: destination, Kind: "email", Origin: string(origin), Server: "office", Tool: "read_page", Snippet: "write to " + destination}}
	}
	mail := func(to string) []byte { return []byte(`{"to":"` + to + `","body":"x"}`) }
	for _, c := range []struct {
		name    string
		entry   audit.Entry
		whole   bool
		verdict gate.Verdict
		reason  gate.Origin
	}{
		{"from an answer", audit.Entry{Tool: "send_mail", Verdict: "deny", Args: mail("eve@evil.example"), Evidence: from(gate.Untrusted, "eve@evil.example")}, true, gate.Deny, gate.Untrusted},
		{"from nowhere", audit.Entry{Tool: "send_mail", Verdict: "ask", Args: mail("new@random.example"), Evidence: from(gate.Unproven, "new@random.example")}, true, gate.Ask, gate.Unproven},
		{"the log is silent about it", audit.Entry{Tool: "send_mail", Verdict: "allow", Args: mail("who@random.example")}, true, gate.Ask, gate.Unproven},
		{"the user named it", audit.Entry{Tool: "send_mail", Verdict: "allow", Args: mail("bob@office.example"), Evidence: from(gate.FromUser, "bob@office.example")}, true, gate.Allow, gate.Approved},
		{"a register had it", audit.Entry{Tool: "send_mail", Verdict: "allow", Args: mail("ann@office.example"), Evidence: from(gate.Directory, "ann@office.example")}, true, gate.Allow, gate.Directory},
		{"it was allowlisted, and is no more", audit.Entry{Tool: "send_mail", Verdict: "allow", Args: mail("old@list.example"), Evidence: from(gate.Allowlisted, "old@list.example")}, true, gate.Ask, gate.Unproven},
		{"a secret was masked", audit.Entry{Tool: "send_mail", Verdict: "allow", Args: []byte(`{"to":"bob@office.example","token":"s3cr3t-s3cr3t-s3cr3t"}`)}, false, 0, ""},
		{"no arguments were kept", audit.Entry{Tool: "send_mail", Verdict: "allow"}, false, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ReplayLog(config(t, office, policy.Standard), writeLog(t, c.entry))
			if err != nil || len(got) != 1 {
				t.Fatalf("%+v: %v", got, err)
			}
			if got[0].Was != c.entry.Verdict || got[0].Whole != c.whole || got[0].Now.Verdict != c.verdict {
				t.Errorf("%+v", got[0])
			}
			if j := got[0].Now.Judged; c.reason != "" && (len(j) == 0 || j[0].Origin != c.reason) {
				t.Errorf("judged %+v, want %s", j, c.reason)
			}
		})
	}
}

// TestReplayLogAsks: an ask and what it came to are one call, and a yes of then is no yes of now.
func TestReplayLogAsks(t *testing.T) {
	e := audit.Entry{ID: "one", Tool: "send_mail", Verdict: "ask", Args: []byte(`{"to":"new@random.example"}`)}
	answered := e
	answered.Verdict, answered.Answer = "allow", "person"
	again := e
	again.ID = "two"
	got, err := ReplayLog(config(t, office, policy.Standard), writeLog(t, e, answered, again))
	if err != nil || len(got) != 2 || got[0].Was != "ask" || got[0].Now.Verdict != gate.Ask || got[1].Now.Verdict != gate.Ask {
		t.Errorf("%+v: %v", got, err)
	}
	if _, err := ReplayLog(config(t, office, policy.Standard), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a log that is not there was replayed")
	}
}
