package demo

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// screen prints the story. It keeps the first error of its writer and prints nothing after it.
type screen struct {
	out    io.Writer
	colour bool
	width  int // of the terminal; 0 when there is none, and nothing is shortened
	err    error
}

func newScreen(out io.Writer, colour bool) *screen {
	s := &screen{out: out, colour: colour}
	if f, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			s.width = max(width, 40)
		}
	}
	return s
}

func (s *screen) printf(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.out, format, args...)
	}
}

// The colours, as terminals number them.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
)

func (s *screen) paint(colour, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

var verdictColours = map[string]string{"allow": green, "ask": yellow, "deny": red}

// intro says what is going to happen, and shows the policy.
func (s *screen) intro(policy string, noLinks bool) {
	s.printf("%s\n\n", s.paint(bold, opening))
	s.printf("A real Bouncer process stands between an agent and a mail server. This is its policy:\n\n")
	s.quote(policy)
	if noLinks {
		s.printf("\nThis account may not make symbolic links, so the step with one is left out.\n")
	}
}

// quote prints text that is not the demo's own, indented, a line a line, with nothing hidden in it.
func (s *screen) quote(text string) {
	for l := range strings.Lines(text) {
		s.printf("%s\n", strings.TrimRight("    | "+destination.Visible(strings.TrimRight(l, "\r\n"), 2000), " "))
	}
}

func (s *screen) chapter(st step) {
	if st.chapter != "" {
		s.printf("\n%s\n", s.paint(bold, st.chapter))
	}
}

// step prints what the log and the client say of one step, and what is wrong with it.
func (s *screen) step(n int, st step, got outcome, problems []string) {
	for i, l := range got.lines {
		what := ""
		if i == 0 {
			what = fmt.Sprintf("%2d %s:", n, st.what)
		}
		s.printf("%-44s %s [%s] %s\n", what, s.paint(verdictColours[l.Verdict], fmt.Sprintf("%-5s", strings.ToUpper(l.Verdict))),
			destination.Visible(l.Contract, 40), l.why())
		if i == 0 {
			s.questions(got.questions)
		}
	}
	s.sightings(got.lines)
	if st.show {
		s.quote(got.text)
	}
	for _, p := range problems {
		s.printf("   %s %s\n", s.paint(red, "NOT AS EXPECTED:"), destination.Visible(p, 2000))
	}
}

func (l line) why() string {
	why := destination.Visible(l.Reason, 2000)
	if l.Verdict == "allow" && l.Origin != "" {
		why += ": recipient " + destination.Visible(l.Origin, 40)
	}
	return why
}

func (s *screen) questions(asked []question) {
	for _, q := range asked {
		s.quote(q.message)
		s.quote("[" + strings.Join(q.options, "]  [") + "]")
		s.printf("      the person picks: %s\n", s.paint(bold, destination.Visible(q.chose, 80)))
	}
}

// sightings prints where a refused address was first seen.
func (s *screen) sightings(lines []line) {
	for _, l := range lines {
		for _, e := range l.Evidence {
			if e.Snippet != "" {
				s.printf("      %s was first seen in what server %s wrote: %s, %s\n", destination.Visible(e.Destination, 80),
					destination.Visible(e.Server, 40), destination.Visible(e.Tool, 40), destination.Visible(e.Field, 80))
			}
		}
	}
}

// audit prints the session's lines of the audit log as they stand there, shortened only on a terminal.
func (s *screen) audit(lines []line) {
	s.printf("\n%s\n", s.paint(bold, "What the audit log says, a line a verdict:"))
	for _, l := range lines {
		raw := l.raw
		if s.width > 0 {
			raw = destination.Visible(raw, s.width-1)
		}
		s.printf("%s\n", s.paint(dim, raw))
	}
}

// summary says what came of it all. The last claim is looked up, not taken for granted.
func (s *screen) summary(all result) {
	s.printf("\n%s\n", s.paint(bold, "Mails that really went out, by the mail server's own record:"))
	for _, l := range all.sent {
		s.printf("  %s to %s: %s\n", destination.Visible(l.ID, 20), destination.Visible(strings.Join(slices.Concat(l.To, l.CC), ", "), 200),
			destination.Visible(l.Subject, 80))
	}
	if !slices.ContainsFunc(all.sent, func(l letter) bool { return slices.Contains(slices.Concat(l.To, l.CC), attacker) }) {
		s.printf("  none to %s\n", attacker)
	}
	count := map[string]int{}
	for _, l := range all.lines {
		count[l.Verdict]++
	}
	tally := fmt.Sprintf("%d verdicts (%d allow, %d ask, %d deny)", len(all.lines), count["allow"], count["ask"], count["deny"])
	if len(all.problems) == 0 {
		s.printf("\n%s\n", s.paint(green, tally+", all as expected."))
		return
	}
	s.printf("\n%s\n", s.paint(red, fmt.Sprintf("%s; %d things were not as expected:", tally, len(all.problems))))
	for _, p := range all.problems {
		s.printf("  %s\n", destination.Visible(p, 2000))
	}
}
