package judge

import (
	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/gate"
)

// log writes the verdict. A verdict that cannot be written is not given: the call is denied, unless the user chose to
// go on without a log.
func (j *Judge) log(o *Outcome) {
	err := j.cfg.Log.Append(j.entry(o))
	if err == nil {
		return
	}
	j.cfg.Problem("%v", err)
	if j.cfg.BestEffort || o.Decision.Verdict == gate.Deny {
		return
	}
	o.Unlogged()
}

var unlogged = refuse("audit", "the verdict could not be written to the audit log, and an unlogged call is not forwarded")

func (j *Judge) entry(o *Outcome) audit.Entry {
	e := audit.Entry{
		Tool: o.request.Tool, Args: o.request.Args, Verdict: o.Decision.Verdict.String(), Reason: o.Decision.Reason,
		Contract: o.Decision.Contract, ID: o.ID, Time: j.cfg.Now(), Session: j.cfg.SessionID, Server: j.cfg.Server.Name,
		Client: o.request.Client, Latency: o.took,
	}
	if o.Answer != nil {
		e.Answer = o.Answer.How
	}
	e.Origin = origin(o.Decision)
	for _, found := range o.Decision.Findings {
		ev := audit.Evidence{Contract: found.Contract, Param: found.Param, Reason: found.Reason}
		if found.Judged != nil {
			describe(&ev, *found.Judged)
		}
		e.Evidence = append(e.Evidence, ev)
	}
	for _, judged := range o.Decision.Judged {
		if judged.Origin == gate.Allowlisted || judged.Origin == gate.Approved {
			ev := audit.Evidence{Contract: gate.SinkGate, Param: judged.Param}
			describe(&ev, judged)
			e.Evidence = append(e.Evidence, ev)
		}
	}
	return e
}

// origin is the origin of the destination that decided: the objection's, or of an allowed call the weakest one's.
func origin(d gate.Decision) string {
	for _, found := range d.Findings {
		if found.Judged != nil && found.Contract == d.Contract && found.Reason == d.Reason {
			return string(found.Judged.Origin)
		}
	}
	weakest := ""
	for _, judged := range d.Judged {
		if weakest == "" || judged.Origin == gate.Approved {
			weakest = string(judged.Origin)
		}
	}
	return weakest
}

func describe(ev *audit.Evidence, judged gate.Judged) {
	ev.Destination, ev.Kind, ev.Origin = judged.Destination.Canonical, string(judged.Destination.Kind), string(judged.Origin)
	if s := judged.Seen; s != nil {
		ev.Server, ev.Tool, ev.Call = s.Source.Server, s.Source.Tool, s.Source.Call
		ev.Field, ev.Snippet, ev.Match = s.Field, s.Snippet, s.Match
	}
}
