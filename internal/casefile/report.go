package casefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// Report is how one case went. It passed when there is no Err and no step has a problem.
type Report struct {
	Case  *Case // nil when the file could not be read
	File  string
	Steps []StepReport // those that ran; the first one with problems is the last
	Err   error        // why the case could not be read or run to its end

	Waiting int // how many cases of the directory File were left out because they are pending; 0 for a case
}

// StepReport is what one step wanted and what happened.
type StepReport struct {
	Number   int
	At       policy.Position
	Name     string
	Want     string   // "" for a step that wants nothing
	Got      string   // the verdict that was observed, and after ask what became of the call
	Problems []string // why the step did not pass; empty when it did

	Contract string // as logged
	Origin   string
	Reason   string
	Log      []string // the log's lines of this step
	Server   []string // the frames that the server received
	Client   string   // the response that the client got
	Notes    []string // what the relay told the user's terminal
}

func report(want string, x exchange, o observed, problems []string) StepReport {
	r := StepReport{Want: want, Got: orUnclear(o), Problems: problems, Contract: o.line.contract, Origin: o.line.origin,
		Reason: o.line.reason, Client: string(x.response)}
	for _, l := range x.log {
		r.Log = append(r.Log, l.raw)
	}
	for _, f := range x.atServer {
		r.Server = append(r.Server, string(f.frame))
	}
	return r
}

// Passed reports whether the case did what it says.
func (r Report) Passed() bool {
	return r.Err == nil && r.Case != nil && len(r.Steps) == len(r.Case.steps) &&
		!slices.ContainsFunc(r.Steps, func(s StepReport) bool { return len(s.Problems) > 0 })
}

// RunAll runs the case files at paths, one after the other: a file whatever it is called, a directory's *.yaml and
// *.yml files in sorted order, at any depth. A path without any case, and a case that cannot be read, are Reports with
// an Err, and a directory of pending cases is a Report that counts them: nothing is left out in silence.
func RunAll(ctx context.Context, paths ...string) []Report {
	var out []Report
	for _, path := range paths {
		files, err := Find(path)
		if err != nil {
			out = append(out, Report{File: path, Err: err})
			continue
		}
		for _, file := range files {
			c, err := Load(file)
			if err != nil {
				out = append(out, Report{File: file, Err: err})
				continue
			}
			out = append(out, c.Run(ctx))
		}
		out = append(out, left(path)...)
	}
	return out
}

var errNoCases = errors.New("no case files (*.yaml) in it")

// Find returns the case files at path: path itself, or the *.yaml and *.yml files below it in sorted order, without the
// pending ones. It is an error when there are none.
func Find(path string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && isPending(path, file, d) {
			return fs.SkipDir
		}
		ext := filepath.Ext(file)
		if err == nil && !d.IsDir() && (file == path || ext == ".yaml" || ext == ".yml") {
			files = append(files, file)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = errNoCases
	}
	if err != nil {
		return nil, fmt.Errorf("find cases in %s: %w", path, bare(err))
	}
	slices.Sort(files)
	return files, nil
}

// Render writes a line for every report, what is wrong below the failed ones, and a summary. It reports whether all of
// them passed; no reports at all is no pass.
func Render(w io.Writer, reports []Report) (bool, error) {
	out := &writer{w: w}
	passed, judged := 0, 0
	for _, r := range reports {
		if r.Waiting > 0 {
			out.line("left out %s: %d pending", r.File, r.Waiting)
			continue
		}
		judged++
		if r.Passed() {
			passed++
			out.line("pass %s: %s", r.File, destination.Visible(r.Case.Title, 200))
			continue
		}
		out.failed(r)
	}
	failed := judged - passed
	out.line("%d passed, %d failed", passed, failed)
	return failed == 0 && passed > 0, out.err
}

// writer keeps the first error, so that a closed pipe is reported once.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) line(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format+"\n", args...)
	}
}

func (w *writer) failed(r Report) {
	title := ""
	if r.Case != nil {
		title = ": " + destination.Visible(r.Case.Title, 200)
	}
	w.line("FAIL %s%s", r.File, title)
	for _, s := range r.Steps {
		if len(s.Problems) == 0 {
			continue
		}
		w.line("  %s: step %d, %s", s.At, s.Number, s.Name)
		for _, p := range s.Problems {
			w.line("    %s", p)
		}
		w.evidence(s)
	}
	if r.Err != nil {
		for line := range strings.Lines(r.Err.Error()) {
			w.line("  %s", destination.Visible(strings.TrimSuffix(line, "\n"), 2000))
		}
	}
}

// evidence shows what a failed step left behind. Servers and case files wrote it, so it is made visible.
func (w *writer) evidence(s StepReport) {
	if s.Contract != "" {
		w.line("    contract: %s", destination.Visible(s.Contract, 80))
	}
	if s.Reason != "" {
		w.line("    reason: %s", destination.Visible(s.Reason, 400))
	}
	if s.Origin != "" {
		w.line("    origin: %s", destination.Visible(s.Origin, 80))
	}
	for _, f := range s.Server {
		w.line("    the server received: %s", destination.Visible(f, 400))
	}
	if s.Client != "" {
		w.line("    the client received: %s", destination.Visible(s.Client, 400))
	}
	for _, l := range s.Log {
		w.line("    log: %s", destination.Visible(l, 1000))
	}
	for _, n := range s.Notes {
		w.line("    bouncer: %s", destination.Visible(n, 400))
	}
}
