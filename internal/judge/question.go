package judge

import (
	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/gate"
)

// question is what a person is asked about an Outcome.
func (j *Judge) question(o *Outcome, asked []gate.Finding) approval.Question {
	q := approval.Question{ID: o.ID, Client: o.request.Client, Server: j.cfg.Server.Name, Tool: o.request.Tool,
		Reason: o.Decision.Reason, Args: o.request.Args, Policy: j.cfg.Digest}
	if said := j.cfg.Session.Request(); said != nil {
		q.Prompt = said
	}
	for _, a := range asked {
		q.Keys = append(q.Keys, a.Key())
		if a.Judged == nil {
			continue
		}
		at := approval.Destination{Param: a.Param, Destination: a.Judged.Destination, Contract: a.Contract,
			Origin: string(a.Judged.Origin), Reason: a.Reason, Seen: a.Judged.Seen}
		if like := a.Judged.Like; like != nil {
			at.Like, at.Differs = like.To.Raw, like.How
		}
		q.Asked = append(q.Asked, at)
	}
	return q
}

// remember writes what the answer says for always. Where the file cannot be written a yes still holds for this call: the person
// gave it, and nothing wider came of it. A no holds for as long as this process lives.
func (j *Judge) remember(q approval.Question, a *approval.Answer) {
	if a.Kept || a.Choice != approval.Always && a.Choice != approval.Never {
		return
	}
	if err := j.cfg.Answers.Remember(q.Entries(a.Choice, a.Scope), j.cfg.Now()); err != nil {
		j.cfg.Problem("%v", err)
		return
	}
	a.Kept = true
}
