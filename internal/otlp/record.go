package otlp

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// The shapes of OTLP/JSON, as far as they are used. 64-bit numbers are strings there.
type (
	exportRequest struct {
		ResourceLogs []resourceLogs `json:"resourceLogs"`
	}
	resourceLogs struct {
		Resource  resource    `json:"resource"`
		ScopeLogs []scopeLogs `json:"scopeLogs"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeLogs struct {
		Scope      scope    `json:"scope"`
		LogRecords []record `json:"logRecords"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	record struct {
		Time       string      `json:"timeUnixNano,omitempty"`
		Observed   string      `json:"observedTimeUnixNano"`
		Severity   int         `json:"severityNumber"`
		Word       string      `json:"severityText"`
		Event      string      `json:"eventName"`
		Body       value       `json:"body"`
		Attributes []attribute `json:"attributes"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String *string `json:"stringValue,omitempty"`
		Int    *string `json:"intValue,omitempty"`
		Array  *array  `json:"arrayValue,omitempty"`
	}
	array struct {
		Values []value `json:"values"`
	}
)

// textMost and destinationsMost bound what one record holds of what others wrote.
const (
	textMost         = 1000
	destinationsMost = 20
)

// severities are those of OpenTelemetry. A denial is Bouncer doing its work, and still what an alert is made of.
var severities = map[string]int{"allow": 9, "ask": 10, "deny": 13}

// ours reads a line if it is a verdict of this session. The bytes are looked at first: most lines are other sessions'.
func ours(line, mark []byte, session string) (audit.Record, bool) {
	if !bytes.Contains(line, mark) {
		return audit.Record{}, false
	}
	r, ok := audit.ReadRecord(line)
	return r, ok && r.Session == session
}

// recordOf is a verdict as it is exported: no arguments, no snippet of what was read. Reason and destinations are
// masked as they are in the log, since that is where they come from.
func recordOf(r audit.Record) record {
	out := record{Observed: nano(time.Now()), Severity: severities[r.Verdict], Word: cut(r.Verdict), Event: "bouncer.verdict"}
	if !r.Time.IsZero() {
		out.Time = nano(r.Time)
	}
	show := func(s string) string { return destination.Visible(s, 300) }
	out.Body = text(fmt.Sprintf("%s %s/%s: %s", show(r.Verdict), show(r.Server), show(r.Tool), show(r.Reason)))
	for _, a := range []struct{ key, value string }{
		{"verdict", r.Verdict}, {"contract", r.Contract}, {"reason", r.Reason}, {"server", r.Server}, {"tool", r.Tool}, {"call.id", r.ID},
		{"origin", r.Origin}, {"client", r.Client}, {"answer", r.Answer},
	} {
		if a.value != "" {
			out.Attributes = append(out.Attributes, attribute{"bouncer." + a.key, text(cut(a.value))})
		}
	}
	micros := strconv.FormatInt(r.Latency.Microseconds(), 10)
	out.Attributes = append(out.Attributes, attribute{"bouncer.latency_us", value{Int: &micros}})
	if all := destinationsOf(r); len(all) > 0 {
		out.Attributes = append(out.Attributes, attribute{"bouncer.destinations", value{Array: &array{all}}})
	}
	return out
}

func destinationsOf(r audit.Record) (all []value) {
	seen := map[string]bool{"": true}
	for _, e := range r.Evidence {
		if !seen[e.Destination] && len(all) < destinationsMost {
			seen[e.Destination] = true
			all = append(all, text(cut(e.Destination)))
		}
	}
	return all
}

func text(s string) value { return value{String: &s} }

func cut(s string) string {
	if len(s) > textMost {
		s = s[:textMost] + "..."
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func nano(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
