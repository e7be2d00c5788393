package audit

import (
	"time"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Record is a verdict as it was read from the log. Nothing in it was verified, and its texts are foreign: they go
// through destination.Visible before a person sees them.
type Record struct {
	Entry
	Line []byte // as it stands in the log
}

// ReadRecord reads one line. ok is false when it is no verdict: a checkpoint, a file's first line, or no JSON at all.
func ReadRecord(line []byte) (r Record, ok bool) {
	v, err := jsonrpc.DecodeLenient(line)
	if err != nil || v.Kind != jsonrpc.Object {
		return r, false
	}
	if _, ok := v.Get("tool"); !ok {
		return r, false
	}
	r.Line = line
	r.Tool, r.Verdict, r.Reason, r.Contract = text(v, "tool"), text(v, "verdict"), text(v, "reason"), text(v, "contract")
	r.ID, r.Session, r.Server, r.Origin = text(v, "id"), text(v, "session"), text(v, "server"), text(v, "origin")
	r.Client, r.Answer = text(v, "client"), text(v, "answer")
	r.Time, _ = time.Parse(timeLayout, text(v, "time"))
	r.Latency = time.Duration(max(0, integer(v, "latency_us"))) * time.Microsecond
	args, _ := v.Get("args")
	r.Args = args.Raw
	evidence, _ := v.Get("evidence")
	for _, e := range evidence.Elems {
		r.Evidence = append(r.Evidence, Evidence{
			Contract: text(e, "contract"), Param: text(e, "param"), Destination: text(e, "destination"), Kind: text(e, "kind"),
			Origin: text(e, "origin"), Server: text(e, "seen_server"), Tool: text(e, "seen_tool"), Call: text(e, "seen_call"),
			Field: text(e, "seen_field"), Snippet: text(e, "snippet"), Match: text(e, "match"), Reason: text(e, "reason"),
		})
	}
	return r, true
}

// IsEntry reports whether a line is a verdict, rather than a checkpoint or a file's first line. It looks at the
// beginning only: a torn verdict is one too.
func IsEntry(line []byte) bool {
	for _, other := range []string{`{"checkpoint"`, `{"segment"`} {
		if len(line) >= len(other) && string(line[:len(other)]) == other {
			return false
		}
	}
	return true
}

// Filter says which verdicts are wanted. What is empty wants them all.
type Filter struct {
	Server, Tool, Verdict, Contract string
	Since                           time.Time
}

// Match reports whether r is wanted.
func (f Filter) Match(r Record) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	return is(f.Server, r.Server) && is(f.Tool, r.Tool) && is(f.Verdict, r.Verdict) && is(f.Contract, r.Contract) && (f.Since.IsZero() || !r.Time.Before(f.Since))
}

// wants is Match for a line; a line that cannot be read is wanted when everything is.
func (f Filter) wants(line []byte) bool {
	if !IsEntry(line) || len(line) == 0 {
		return false
	}
	if f == (Filter{}) {
		return true
	}
	r, ok := ReadRecord(line)
	return ok && f.Match(r)
}
