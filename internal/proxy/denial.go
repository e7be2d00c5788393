package proxy

import (
	"fmt"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
)

// denial is the result that the client gets in place of the server's: a tool error, which the model can read and act
// on. It names where a tainted destination was seen, but repeats nothing of what stood there.
func denial(o *judge.Outcome, modern bool) []byte {
	b := append([]byte(`{"content":[{"type":"text","text":`), jsonrpc.Quote(explain(o))...)
	b = append(b, `}],"isError":true`...)
	if modern {
		b = append(b, `,"resultType":"complete"`...)
	}
	return append(b, '}')
}

func explain(o *judge.Outcome) string {
	var b strings.Builder
	b.WriteString("[bouncer blocked] " + o.Decision.Reason)
	if o.Answer != nil && o.Answer.Why != "" {
		b.WriteString("\n" + nobody(o.Answer.How) + ": " + o.Answer.Why)
	}
	for _, found := range o.Decision.Findings {
		if j := found.Judged; j != nil && found.Verdict == gate.Deny && j.Seen != nil {
			fmt.Fprintf(&b, "\n%s was first seen in what server %q wrote: %s %s", j.Param, j.Seen.Source.Server, destination.Visible(j.Seen.Source.Tool, 60), j.Seen.Source.Kind)
			if plainField(j.Seen.Field) {
				b.WriteString(", " + j.Seen.Field)
			}
		}
	}
	if o.Answer != nil && o.Answer.Ask != "" {
		fmt.Fprintf(&b, "\nhint: a person can approve it with `bouncer approve %s` in a terminal of their own; the same call then passes, once", o.Answer.Ask)
		return b.String()
	}
	if o.Decision.Contract == gate.SinkGate {
		b.WriteString("\nhint: a person can vouch for it under trusted_destinations of this tool in the policy file")
	}
	return b.String()
}

// nobody says whether a person said no, or none said anything (B19).
func nobody(how string) string {
	switch how {
	case approval.Declined, approval.Held:
		return "nobody approved it"
	}
	return "no answer from a person"
}

// plainField reports a field whose names are no sentences: the names in a server's answer are its own words, and would
// stand here as if they were Bouncer's.
func plainField(field string) bool {
	return len(field) <= 60 && strings.Trim(field, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.[]") == ""
}

// requestID reads the request that a notifications/cancelled names. The zero ID when there is none.
func requestID(params []byte) jsonrpc.ID {
	v, err := jsonrpc.DecodeLenient(params)
	if err != nil {
		return jsonrpc.ID{}
	}
	raw, _ := v.Get("requestId")
	id, _ := jsonrpc.ParseID(raw.Raw)
	return id
}
