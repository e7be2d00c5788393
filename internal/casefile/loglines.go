package casefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// logLine is one line of the audit log, as far as a case looks at it.
type logLine struct {
	raw                                         string
	tool, verdict, reason, contract, id, server string
	origin, answer                              string
}

// logReader reads the audit log as it grows.
type logReader struct {
	path   string
	offset int64
}

// next returns the lines that came since the last call. A line that is not whole is an error: a log that loses half a
// line is a bug that a case must show.
func (r *logReader) next() ([]logLine, error) {
	f, err := os.Open(r.path)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, r.offset, 1<<40))
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	r.offset += int64(len(data))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return nil, errors.New("the audit log ends inside a line")
	}
	var out []logLine
	for raw := range bytes.Lines(data) {
		raw = bytes.TrimSuffix(raw, []byte("\n"))
		if !audit.IsEntry(raw) { // a checkpoint
			continue
		}
		v, err := jsonrpc.Decode(raw)
		if err != nil {
			return nil, fmt.Errorf("the audit log has a line that is no JSON: %w", err)
		}
		l := logLine{raw: string(raw)}
		for name, into := range map[string]*string{"tool": &l.tool, "verdict": &l.verdict, "reason": &l.reason, "contract": &l.contract,
			"id": &l.id, "server": &l.server, "origin": &l.origin, "answer": &l.answer} {
			text, _ := v.Get(name)
			*into = text.Text
		}
		out = append(out, l)
	}
	return out, nil
}
