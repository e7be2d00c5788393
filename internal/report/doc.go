package report

import (
	"fmt"
	"strconv"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// document is what both formats render: they say the same, and each escapes in one place.
type document struct {
	Title    string
	Lead     []block
	Sections []section
}

type section struct {
	ID     string // of the HTML element
	Title  string
	Blocks []block
}

// block is one of: a paragraph, a list, a table, cards, a chart.
type block struct {
	Para  line
	List  []line
	Table *table
	Cards []card
	Chart *chart
}

type table struct {
	Heads []string
	Right int // so many columns at the end are numbers
	Rows  [][]line
}

// card is one matter with details below it.
type card struct {
	Head  line
	Lines []line
}

// line is text without a line break.
type line []span

// span is a piece of a line. What is Foreign or Code is shown in code type; what is neither was written in this package.
type span struct {
	Text string
	Code bool   // foreign text, or something to type
	Kind string // allow, ask, deny, good, bad, warn: how a badge looks
	Link string
}

// own is text of this package.
func own(format string, a ...any) span { return span{Text: fmt.Sprintf(format, a...)} }

// foreign is text that somebody else wrote: made visible and cut here, so that no way leads around it.
func foreign(s string) span { return foreignTo(s, 200) }

func foreignTo(s string, limit int) span {
	if s == "" {
		return span{Text: "(none)"}
	}
	return span{Text: destination.Visible(s, limit), Code: true}
}

// command is something to type.
func command(s string) span { return span{Text: s, Code: true} }

func badge(kind, text string) span { return span{Text: text, Kind: kind} }

// verdictBadge is a badge for Bouncer's own words, and foreign text for anything else that stands in their place.
func verdictBadge(verdict string) span {
	switch verdict {
	case "allow", "ask", "deny":
		return badge(verdict, verdict)
	}
	return foreign(verdict)
}

func text(spans ...span) line { return line(spans) }

func number(n int) line { return line{{Text: strconv.Itoa(n)}} }

func para(spans ...span) block { return block{Para: line(spans)} }

// when is a moment as reports show it.
func when(t time.Time) string {
	if t.IsZero() {
		return "at an unreadable time"
	}
	return t.UTC().Format(time.DateTime)
}

func between(first, last time.Time) string {
	switch {
	case first.Equal(last):
		return when(first)
	case first.UTC().Format(time.DateOnly) == last.UTC().Format(time.DateOnly):
		return when(first) + " to " + last.UTC().Format(time.TimeOnly)
	}
	return when(first) + " to " + when(last)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
