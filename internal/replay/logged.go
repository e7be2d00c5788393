package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// Logged is one logged call: what was decided about it, and what would be decided now.
type Logged struct {
	ID, Session, Server, Tool string
	Was, WasReason            string // the verdict before anybody was asked
	Now                       gate.Decision
	Whole                     bool // its arguments stand in the log as they were; else Now is not set
}

// ReplayLog judges the calls of an audit log again, in their order. The log has no answers of servers and no words of the
// user's. What it has is where each destination came from, and that stays so: what was seen in what a server wrote is seen,
// what a register had is in it, and what the user or a person vouched for is vouched for. So a policy is tried on what was
// called, and never looks better than the log can prove: a destination that the log says nothing about is unproven.
// Budgets, and definitions that changed, are not tried: the log does not have the tools' definitions.
func ReplayLog(cfg Config, path string) ([]Logged, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	var records []audit.Record // of each call the first line: the decision before anybody was asked
	seen := map[string]bool{}
	err := audit.Scan(path, audit.Filter{}, func(r audit.Record) {
		if key := r.Session + " " + r.ID; !seen[key] && r.Contract != "frame" {
			seen[key] = true
			r.Args, r.Line = bytes.Clone(r.Args), nil
			records = append(records, r)
		}
	})
	if err != nil {
		return nil, err
	}
	suites, err := logSuites(records)
	if err != nil {
		return nil, err
	}
	sessions := map[string]*logSession{}
	out := make([]Logged, 0, len(records))
	for _, r := range records {
		key := r.Session + "\x00" + r.Server
		if sessions[key] == nil {
			sessions[key] = newLogSession(cfg, suites[r.Server])
		}
		out = append(out, sessions[key].judge(r))
	}
	return out, nil
}

// logSuites defines each server's tools by what was called.
func logSuites(records []audit.Record) (map[string]*Suite, error) {
	calls := map[string][]Call{}
	for _, r := range records {
		calls[r.Server] = append(calls[r.Server], Call{Function: r.Tool, Args: object(r.Args)})
	}
	out := map[string]*Suite{}
	for server, made := range calls {
		out[server] = &Suite{Name: server}
		if err := out[server].guessTools(made); err != nil {
			return nil, fmt.Errorf("server %s: %w", server, err)
		}
	}
	return out, nil
}

type logSession struct {
	server string
	store  *session.Memory
	judged *judge.Judge
}

func newLogSession(cfg Config, s *Suite) *logSession {
	store, book := session.NewMemory(), &pin.Book{}
	book.Pin(s.Tools)
	return &logSession{server: s.Name, store: store, judged: judge.New(judge.Config{Server: policy.Server{Name: s.Name}, Policy: cfg.Policy,
		Profile: cfg.Profile, Session: store, SessionID: "replay", Log: discard{}, Pins: book})}
}

// masked is what the log has in place of a secret or of a long text: such a call cannot be judged as it was.
var masked = [][]byte{[]byte("[masked:"), []byte("[omitted:"), []byte(`{"bouncer:`)}

func (l *logSession) judge(r audit.Record) Logged {
	out := Logged{ID: r.ID, Session: r.Session, Server: r.Server, Tool: r.Tool, Was: r.Verdict, WasReason: r.Reason}
	out.Whole = json.Valid(r.Args) && r.Args[0] == '{' && // null is a call without arguments, and a log without any (--no-args)
		!slices.ContainsFunc(masked, func(m []byte) bool { return bytes.Contains(r.Args, m) })
	for _, e := range r.Evidence {
		l.know(r.Tool, e)
	}
	if !out.Whole {
		return out
	}
	o := l.judged.Decide(judge.Request{Tool: r.Tool, Args: r.Args, Client: r.Client})
	out.Now = o.Decision
	if o.Decision.Verdict == gate.Ask {
		l.judged.Settle(context.Background(), o, person(answerTo("injection", false)))
	}
	return out
}

// know takes over what the log says of one destination.
func (l *logSession) know(tool string, e audit.Evidence) {
	if e.Destination == "" {
		return
	}
	src := provenance.Source{Server: e.Server, Tool: e.Tool, Call: e.Call, Kind: "result"}
	switch origin := gate.Origin(e.Origin); origin {
	case gate.Untrusted:
		payload, err := json.Marshal([]string{e.Destination, e.Snippet})
		if err == nil {
			l.store.Observe(src, payload)
		}
	case gate.Directory, gate.Attributed:
		for _, d := range destination.Parse(e.Destination) {
			l.store.Label(provenance.Labelled{Label: provenance.Label(origin), Server: l.server, Destination: d, Sighting: provenance.Sighting{Source: src, Field: e.Field, Snippet: e.Snippet}})
		}
	case gate.FromUser, gate.Approved:
		for _, d := range destination.Parse(e.Destination) {
			l.store.Vouch(l.server, tool, d)
		}
	}
}
