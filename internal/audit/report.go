package audit

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Finding is one thing that is wrong with a log, or worth saying of it.
type Finding struct {
	Kind   string // changed, missing, repeated, moved, inserted, truncated, signature, file; of notes: unfinished, unsealed, removed, unchained, heads
	File   string // base name of the file
	Line   int    // from 1; 0 when the place is the end or the whole of the file
	Writer string // "" when the line does not say
	Seq    uint64 // the line's number among its writer's, 0 when the line does not say
	Last   uint64 // of a range of missing lines, its end
	What   string
}

// Report is what Verify says.
type Report struct {
	Files       []string
	Lines       int // lines in all
	Entries     int // verdicts among them
	Checkpoints int // with a valid signature
	Writers     int
	Key         string    // name and hash of the public key that signatures were checked with, "" when there was none
	Findings    []Finding // what is wrong
	Notes       []Finding // what is not wrong but limits what the report says
}

// Clean reports whether nothing was found.
func (r Report) Clean() bool { return len(r.Findings) == 0 }

// String is the finding in one line, foreign text made visible.
func (f Finding) String() string {
	where := destination.Visible(f.File, 200)
	if f.Line > 0 {
		where += ":" + strconv.Itoa(f.Line)
	}
	who := ""
	switch {
	case f.Writer != "" && f.Last > f.Seq:
		who = fmt.Sprintf(" (writer %s, seq %d to %d)", f.Writer, f.Seq, f.Last)
	case f.Writer != "" && f.Seq > 0:
		who = fmt.Sprintf(" (writer %s, seq %d)", f.Writer, f.Seq)
	case f.Writer != "":
		who = fmt.Sprintf(" (writer %s)", f.Writer)
	}
	return fmt.Sprintf("%s: %s%s: %s", where, f.Kind, who, destination.Visible(f.What, 300))
}

func (v *verify) finding(kind string, at position, writer string, seq uint64, format string, args ...any) *Finding {
	v.report.Findings = append(v.report.Findings, Finding{Kind: kind, File: filepath.Base(at.file), Line: at.line, Writer: writer, Seq: seq, What: fmt.Sprintf(format, args...)})
	return &v.report.Findings[len(v.report.Findings)-1]
}

func (v *verify) note(kind string, at position, writer string, seq uint64, format string, args ...any) {
	v.report.Notes = append(v.report.Notes, Finding{Kind: kind, File: filepath.Base(at.file), Line: at.line, Writer: writer, Seq: seq, What: fmt.Sprintf(format, args...)})
}
