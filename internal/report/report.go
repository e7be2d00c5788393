// Package report makes the review pack of `bouncer audit report`: what is protected, by which rules, what was decided, what
// was refused and on what evidence, who said yes, and whether the log is whole. It reads the log, the policy and the config
// files of clients, and writes one self-contained text, as Markdown or as HTML.
//
// It must not decide anything, change a file that it reads, start or reach anything, or show a text of others as anything
// but quoted, escaped text: what a stranger wrote to an agent ends up in front of the very person who reviews the agent.
// Arguments of calls are left out, since a review pack is handed on.
package report

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/audit"
)

// Input says what a report is about. Log and Now are required.
type Input struct {
	Log     string    // path of the log
	Since   time.Time // verdicts before it are left out; zero takes all
	Now     time.Time
	Version string // of Bouncer
	Clients []Config
	Policy  Policy
}

// Report is everything that a report says. Markdown and HTML render it.
type Report struct {
	in       Input
	noLog    bool
	verdicts verdicts
	tools    audit.Summary
	chain    audit.Report
	chainErr error // the log could not be verified at all
}

// Build reads the log and returns the report. A log that is not there is reported as such; the error is that of reading
// one that is: half a log must not pass for a quiet one.
func Build(in Input) (*Report, error) {
	r := &Report{in: in, verdicts: newVerdicts()}
	filter := audit.Filter{Since: in.Since}
	err := audit.Scan(in.Log, filter, r.verdicts.add)
	if errors.Is(err, fs.ErrNotExist) {
		r.noLog = true
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if r.tools, err = audit.Summarise(in.Log, audit.Query{Filter: filter, By: []string{"server", "tool"}}); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	r.chain, r.chainErr = audit.Verify(in.Log)
	return r, nil
}
