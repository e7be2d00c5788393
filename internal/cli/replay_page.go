package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/mcp-bouncer/bouncer/internal/replay"
)

// page prints tables, for a terminal or in Markdown.
type page struct {
	w        io.Writer
	markdown bool
}

// table is rows of cells. The first `left` columns are set to the left in Markdown, the first one always is.
type table struct {
	head []string
	rows [][]string
	left int
}

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

func (p *page) text(format string, args ...any) {
	fmt.Fprintf(p.w, strings.TrimSuffix(format, "\n")+"\n", args...)
}

// table prints a table that has rows.
func (p *page) table(t table) {
	switch {
	case len(t.rows) == 0:
	case p.markdown:
		p.mark(t)
	default:
		fmt.Fprintln(p.w)
		out := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{t.head}, t.rows...) {
			fmt.Fprintln(out, strings.Join(row, "\t"))
		}
		out.Flush()
	}
}

func (p *page) mark(t table) {
	line := make([]string, len(t.head))
	for i := range line {
		line[i] = "---:"
		if i < max(1, t.left) {
			line[i] = "---"
		}
	}
	fmt.Fprintf(p.w, "\n| %s |\n| %s |\n", strings.Join(t.head, " | "), strings.Join(line, " | "))
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = markCell(t.head[i], c)
		}
		fmt.Fprintln(p.w, "| "+strings.Join(cells, " | ")+" |")
	}
}

// quotedColumn is the column whose cells quote what others wrote: a link in it must not become one of the page.
const quotedColumn = "because"

func markCell(column, text string) string {
	if column == quotedColumn && text != "" {
		text = "`" + strings.ReplaceAll(text, "`", "'") + "`"
	}
	return strings.ReplaceAll(text, "|", "\\|")
}

// replayReport is --json.
type replayReport struct {
	Version      int                `json:"version"`
	Kind         string             `json:"kind"`
	Profile      string             `json:"profile"`
	Prompt       bool               `json:"prompt_known"`
	Headless     bool               `json:"headless"`
	Suites       []replay.Summary   `json:"suites"`
	Total        *replay.Summary    `json:"total,omitempty"`
	Criteria     []replay.Criterion `json:"criteria,omitempty"`
	FirstRow     []namedSession     `json:"first_row,omitempty"`
	Honest       []namedSession     `json:"not_free"`    // honest tasks that are refused or asked about
	Open         []namedSession     `json:"not_blocked"` // attacks
	Pipelines    []replay.Summary   `json:"pipelines,omitempty"`
	TracedHonest []namedSession     `json:"traces_not_free,omitempty"`
	Traced       []namedSession     `json:"traces_not_blocked,omitempty"`
}

// namedSession is one session with its outcome.
type namedSession struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
}

func (r replayed) report() replayReport {
	out := replayReport{Version: 1, Kind: r.kind, Profile: string(r.cfg.Profile), Prompt: !r.cfg.NoPrompt, Headless: r.cfg.Headless, Suites: []replay.Summary{}}
	if sums := replay.Summarise(r.runs); len(sums) > 0 {
		last := len(sums) - 1
		out.Suites, out.Total = sums[:last], &sums[last]
		if r.kind == "agentdojo" {
			out.Criteria = replay.Criteria(sums[last], r.cfg.Headless)
			out.FirstRow = sessions(replay.FirstRow(r.runs), func(replay.Run) bool { return true })
		}
	}
	open := func(run replay.Run) bool { return run.Injection != "" && run.Outcome != replay.Blocked }
	busy := func(run replay.Run) bool { return run.Injection == "" && outcomeWord(run) != "ok" }
	out.Honest = sessions(r.runs, busy)
	out.Open = sessions(r.runs, open)
	out.Pipelines = replay.Summarise(r.traced)
	out.TracedHonest = sessions(r.traced, busy)
	out.Traced = sessions(r.traced, open)
	return out
}

func sessions(runs []replay.Run, keep func(replay.Run) bool) []namedSession {
	out := []namedSession{}
	for _, r := range runs {
		if keep(r) {
			out = append(out, namedSession{r.Name(), outcomeWord(r), reasons(r)})
		}
	}
	return out
}
