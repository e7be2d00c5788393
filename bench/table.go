package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// readRows reads rows, one JSON object a line. A label "3:relay" is the label relay in round 3.
func readRows(in io.Reader) ([]row, error) {
	var rows []row
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if number, label, ok := strings.Cut(r.Label, ":"); ok {
			if k, err := strconv.Atoi(number); err == nil {
				r.Round, r.Label = k, label
			}
		}
		if r.Kind == "fail" {
			return nil, fmt.Errorf("line %d: %s failed", n, r.Label)
		}
		rows = append(rows, r)
	}
	return rows, lines.Err()
}

func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	of = slices.Sorted(slices.Values(of))
	if n := len(of); n%2 == 0 {
		return (of[n/2-1] + of[n/2]) / 2
	}
	return of[len(of)/2]
}

// results answers questions about rows.
type results struct{ rows []row }

// pick returns the median of value over the rows of one label that keep accepts, 0 where there are none.
func (rs results) pick(label string, keep func(row) bool, value func(row) float64) float64 {
	var of []float64
	for _, r := range rs.rows {
		if r.Label == label && keep(r) {
			of = append(of, value(r))
		}
	}
	return median(of)
}

// ratio is the median, over the rounds, of the label's value over the base's value in the same round; 0 where no round
// has both. Values of different rounds are never compared: the machine's mood changes between them.
func (rs results) ratio(label, base string, keep func(row) bool, value func(row) float64) float64 {
	var of []float64
	for n := range rs.rounds() {
		in := func(r row) bool { return r.Round == n && keep(r) }
		if mine, theirs := rs.pick(label, in, value), rs.pick(base, in, value); mine > 0 && theirs > 0 {
			of = append(of, mine/theirs)
		}
	}
	return median(of)
}

func (rs results) rounds() map[int]bool {
	seen := map[int]bool{}
	for _, r := range rs.rows {
		seen[r.Round] = true
	}
	return seen
}

// labels returns the labels in the order of known, others behind.
func (rs results) labels(known []string) []string {
	var out []string
	for _, l := range known {
		if slices.ContainsFunc(rs.rows, func(r row) bool { return r.Label == l }) {
			out = append(out, l)
		}
	}
	for _, r := range rs.rows {
		if !slices.Contains(out, r.Label) {
			out = append(out, r.Label)
		}
	}
	return out
}

func p50(r row) float64     { return r.P50 }
func p99(r row) float64     { return r.P99 }
func perSec(r row) float64  { return r.PerSec }
func startMs(r row) float64 { return r.StartMs }

var columns = []string{"program", "p50 us", "p90 us", "p99 us", "p50 / relay", "p99 / relay", "calls/s", "rate / relay"}

// tables lays the rows out: one table for every kind of batch, then one for start and memory.
func (rs results) tables(known []string) []table {
	var out []table
	var done []batch
	labels := rs.labels(known)
	for _, r := range rs.rows {
		b := r.batch
		b.Calls = 0
		if r.Kind != "batch" || slices.Contains(done, b) {
			continue
		}
		done = append(done, b)
		keep := func(r row) bool { return r.Kind == "batch" && r.Size == b.Size && r.Conc == b.Conc }
		t := table{title: fmt.Sprintf("%s answers, %d in flight", bytesName(b.Size), b.Conc), columns: columns}
		for _, l := range labels {
			t.rows = append(t.rows, []string{l,
				number(rs.pick(l, keep, p50)), number(rs.pick(l, keep, func(r row) float64 { return r.P90 })), number(rs.pick(l, keep, p99)),
				number(rs.ratio(l, yardstick, keep, p50)), number(rs.ratio(l, yardstick, keep, p99)),
				number(rs.pick(l, keep, perSec)), number(rs.ratio(l, yardstick, keep, perSec))})
		}
		out = append(out, t)
	}
	return append(out, rs.startTable(labels))
}

func (rs results) startTable(labels []string) table {
	t := table{title: "Start to the first list of tools, and memory without the server's",
		columns: []string{"program", "start ms", "start / Go relay", "start / relay", "idle MB", "after the calls MB"}}
	start := func(r row) bool { return r.Kind == "start" }
	idle := func(r row) bool { return r.IdleKB > 0 }
	after := func(r row) bool { return r.AfterKB > 0 }
	for _, l := range labels {
		t.rows = append(t.rows, []string{l,
			number(rs.pick(l, start, startMs)), number(rs.ratio(l, goYardstick, start, startMs)), number(rs.ratio(l, yardstick, start, startMs)),
			number(rs.pick(l, idle, func(r row) float64 { return float64(r.IdleKB) / 1024 })),
			number(rs.pick(l, after, func(r row) float64 { return float64(r.AfterKB) / 1024 }))})
	}
	return t
}

type table struct {
	title   string
	columns []string
	rows    [][]string
}

// markdown writes t for a page.
func (t table) markdown(w io.Writer) {
	fmt.Fprintf(w, "### %s\n\n| %s |\n|%s\n", t.title, strings.Join(t.columns, " | "), strings.Repeat(" --- |", len(t.columns)))
	for _, r := range t.rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(r, " | "))
	}
	fmt.Fprintln(w)
}

// text writes t for a terminal.
func (t table) text(w io.Writer) {
	fmt.Fprintf(w, "%s\n", t.title)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(t.columns, "\t"))
	for _, r := range t.rows {
		fmt.Fprintln(tw, strings.Join(r, "\t"))
	}
	tw.Flush()
	fmt.Fprintln(w)
}

// number writes three digits that mean something, and a dash where nothing was measured.
func number(x float64) string {
	switch {
	case x == 0:
		return "-"
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

func bytesName(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.Itoa(n>>20) + " MB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.Itoa(n>>10) + " KB"
	}
	return strconv.Itoa(n) + " B"
}
