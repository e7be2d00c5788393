package hook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// judge answers whether a native tool may run. Everything that it does is judged like a call of its own, and the worst verdict is the
// call's; the log gets one line.
func (h *Hook) judge(e event) ([]byte, error) {
	calls, strange, err := h.callsOf(e)
	if err != nil || len(calls) == 0 {
		return nil, err
	}
	facts, err := h.factsFor(e, calls, strange)
	if err != nil {
		return nil, err
	}
	set, profile, err := h.cfg.Policy()
	if err != nil {
		return nil, err
	}
	stranger, names := "", []string(nil)
	if strange {
		stranger = e.tool
		for _, m := range e.input.Members {
			names = append(names, m.Name)
		}
	}
	lines := &lines{}
	j := judge.New(judge.Config{
		Server: policy.Server{Name: Server, Identity: []string{Server}}, Policy: set.WithPacks([]policy.PackRules{known()}), Profile: profile,
		Session: facts, SessionID: e.session, Log: lines, Pins: pinned(stranger, names),
		Paths: &judge.Paths{Dir: e.dir, UserHome: h.cfg.UserHome, Guarded: h.cfg.Guarded},
	})
	v := verdict{}
	for _, c := range calls {
		v.add(c, j, lines)
	}
	return h.answer(e, v)
}

// factsFor opens the session where a call is judged by what it knows. What only guard looks at needs none.
func (h *Hook) factsFor(e event, calls []call, strange bool) (session.Store, error) {
	if !slices.ContainsFunc(calls, func(c call) bool { return c.facts }) {
		return session.NewMemory(), nil
	}
	s, err := h.facts()
	if err == nil && strange { // it may be one that makes a prompt of the agent's own words
		mark := s.Mark()
		s.Reserve(book, scheduled)
		err = s.Err(mark)
	}
	return s, err
}

// lines keeps what a judge would log.
type lines struct{ all []audit.Entry }

func (l *lines) Append(e audit.Entry) error {
	l.all = append(l.all, e)
	return nil
}

// verdict is the worst of what the parts of a call got.
type verdict struct {
	gate.Verdict
	judged   bool // something in it had to be judged by more than guard
	trusted  bool // and every destination in it is one that the user stands behind
	line     audit.Entry
	evidence []audit.Evidence
	text     string
}

func (v *verdict) add(c call, j *judge.Judge, l *lines) {
	if c.never != "" {
		v.take(gate.Deny, audit.Entry{ID: audit.NewID(), Time: time.Now(), Verdict: gate.Deny.String(), Reason: c.never, Contract: gate.Guard}, c.never)
		return
	}
	l.all = l.all[:0]
	o := j.Decide(judge.Request{Tool: c.tool, Args: c.args, Client: Server})
	line := l.all[len(l.all)-1]
	if c.why != "" && o.Decision.Contract == gate.Approval {
		line.Reason, o.Decision.Reason = c.why, c.why
	}
	if c.facts {
		v.trusted = (v.trusted || !v.judged) && len(o.Decision.Judged) > 0 && !slices.ContainsFunc(o.Decision.Judged, func(d gate.Judged) bool { return !d.Origin.Trusted() })
		v.judged = true
	}
	v.take(o.Decision.Verdict, line, explain(o.Decision))
}

func (v *verdict) take(found gate.Verdict, line audit.Entry, text string) {
	v.evidence = append(v.evidence, line.Evidence...)
	if found > v.Verdict || v.text == "" || found == gate.Allow && v.Verdict == found && v.line.Origin == "" {
		v.Verdict, v.line, v.text = found, line, text
	}
}

// explain says why, and where the destination stood.
func explain(d gate.Decision) string {
	text := d.Reason
	for _, found := range d.Findings {
		if j := found.Judged; j != nil && found.Verdict == d.Verdict && j.Seen != nil && found.Reason == d.Reason {
			text += fmt.Sprintf(". It was first seen in what %q wrote: %s %s", j.Seen.Source.Server, visible(j.Seen.Source.Tool), j.Seen.Source.Kind)
		}
	}
	return text
}

// asking are the modes of the client in which it puts a hook's question to a person.
var asking = []string{"", "default", "acceptEdits", "plan", "bypassPermissions", "auto"}

// answer writes the log line and what the client is told. There is no line where there was nothing to judge, and no opinion where
// nothing is against a call: an allow would also silence the client's own question. A page that the user named is the one exception.
func (h *Hook) answer(e event, v verdict) ([]byte, error) {
	if v.Verdict == gate.Allow && !v.judged {
		return nil, nil
	}
	if v.Verdict == gate.Ask && (!h.cfg.Speaker.Attended || !slices.Contains(asking, e.mode)) {
		v.Verdict, v.line.Verdict, v.line.Answer = gate.Deny, gate.Deny.String(), "nobody"
		v.text += ". Nobody is there to be asked"
	}
	v.line.Tool, v.line.Args, v.line.Session, v.line.Server, v.line.Client = e.tool, e.input.Raw, e.session, Server, Server
	v.line.Evidence = v.evidence
	log, err := h.cfg.Log()
	if err == nil {
		err = log.Append(v.line)
	}
	if err != nil {
		return nil, fmt.Errorf("the verdict could not be written to the audit log, and an unlogged call is not let through: %w", err)
	}
	switch {
	case v.Verdict == gate.Deny:
		text := "[bouncer blocked] " + v.text
		if v.line.Contract == gate.SinkGate {
			text += "\nhint: the user can name it in a request of their own, or a person can vouch for it under trusted_destinations in the policy file"
		}
		return decision("deny", text), nil
	case v.Verdict == gate.Ask:
		return decision("ask", "Bouncer asks: "+v.text), nil
	case v.trusted && e.tool == webFetch:
		return decision("allow", "Bouncer: the user named it"), nil
	}
	return nil, nil
}

func decision(what, why string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"hookSpecificOutput":{"hookEventName":%q,"permissionDecision":%q,"permissionDecisionReason":%s}}`, preTool, what, jsonrpc.Quote(why))
	return []byte(b.String())
}
