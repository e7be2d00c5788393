package mcpserver

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// metrics writes the counts of the audit log in the text format of Prometheus. They start anew when the log is rotated,
// as counters may.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	t, err := s.log.read(r.Context())
	if err != nil {
		http.Error(w, "the audit log cannot be read", http.StatusInternalServerError)
		return
	}
	var b strings.Builder
	b.WriteString("# HELP bouncer_info The Bouncer that serves these metrics.\n# TYPE bouncer_info gauge\n")
	fmt.Fprintf(&b, "bouncer_info{version=%s} 1\n", label(s.cfg.Version))
	b.WriteString("# HELP bouncer_verdicts_total Verdicts in the audit log.\n# TYPE bouncer_verdicts_total counter\n")
	for _, k := range slices.SortedFunc(maps.Keys(t.counts), compareKeys) {
		fmt.Fprintf(&b, "bouncer_verdicts_total{verdict=%s,contract=%s,server=%s,tool=%s} %d\n",
			label(k.verdict), label(k.contract), label(k.server), label(k.tool), t.counts[k])
	}
	b.WriteString("# HELP bouncer_audit_unreadable_lines_total Lines of the audit log that cannot be read.\n# TYPE bouncer_audit_unreadable_lines_total counter\n")
	fmt.Fprintf(&b, "bouncer_audit_unreadable_lines_total %d\n", t.unreadable)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write([]byte(b.String()))
}

func compareKeys(a, b countKey) int {
	return cmp.Or(cmp.Compare(a.server, b.server), cmp.Compare(a.tool, b.tool), cmp.Compare(a.verdict, b.verdict), cmp.Compare(a.contract, b.contract))
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// label is a label's value. A server's name must not be able to end it and write a metric of its own.
func label(s string) string { return `"` + labelEscapes.Replace(s) + `"` }
