package report

import (
	"cmp"
	"slices"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/gate"
)

// What is shown of a gathering: groups of one tool, and of one contract. The rest is counted.
const (
	shownPerTool     = 10
	shownPerContract = 40
)

// shown returns the groups to show, contract by contract in the order in which they are evaluated, those with most
// lines first; and how many groups and lines of each contract are left out.
func (g *gathering) shown() (all []contractShown) {
	for _, c := range g.byContract {
		s := contractShown{contract: c.contract, leftLines: c.lost}
		slices.SortStableFunc(c.order, func(a, b *group) int { return cmp.Or(b.lines-a.lines, b.last.Compare(a.last)) })
		perTool := map[string]int{}
		for _, one := range c.order {
			tool := one.record.Server + "\x00" + one.record.Tool
			if perTool[tool] >= shownPerTool || len(s.groups) >= shownPerContract {
				s.left++
				s.leftLines += one.lines
				continue
			}
			perTool[tool]++
			s.groups = append(s.groups, one)
		}
		all = append(all, s)
	}
	order := []string{gate.Guard, gate.Pinning, gate.Budget, gate.Constraint, gate.SinkGate, gate.Intent, gate.Consequence, gate.Content, gate.Approval}
	rank := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(all, func(a, b contractShown) int {
		return cmp.Or(rank(a.contract)-rank(b.contract), cmp.Compare(a.contract, b.contract))
	})
	return all
}

type contractShown struct {
	contract  string
	groups    []*group
	left      int // groups that were gathered and are not shown
	leftLines int // lines of those, and of what was not gathered
}

// leftOut says what is left out of one contract's groups, and how to see it.
func (s contractShown) leftOut(verdict string) []block {
	if s.leftLines == 0 {
		return nil
	}
	l := text(own("%s left out here (contract ", plural(s.leftLines, "more line is", "more lines are")), foreign(s.contract), own("); "),
		command("bouncer audit tail -n 1000 --verdict "+verdict), own(" shows them."))
	return []block{{Para: l}}
}

func (r *Report) denials() []block {
	shown := r.verdicts.denials.shown()
	if len(shown) == 0 {
		return []block{para(own("No call was denied, but for tools whose definition had changed, if there are any below."))}
	}
	out := []block{para(own("Calls that say the same are shown once, with their number. None of them reached its server."))}
	for _, c := range shown {
		var cards []card
		for _, g := range c.groups {
			cards = append(cards, denialCard(g))
		}
		out = append(out, block{Cards: cards})
		out = append(out, c.leftOut("deny")...)
	}
	return out
}

func denialCard(g *group) card {
	r := g.record
	head := text(badge("deny", "deny"), own(" "), foreignTo(r.Server, 60), own(" / "), foreignTo(r.Tool, 80), own(" by contract "), foreign(r.Contract))
	if g.lines > 1 {
		head = append(head, own(", %d times", g.lines))
	}
	lines := []line{text(foreignTo(r.Reason, 400))}
	for _, e := range r.Evidence {
		lines = append(lines, evidence(e, r.Reason)...)
	}
	if r.Answer != "" {
		who, words := answered(r.Verdict, r.Answer)
		lines = append(lines, text(own("It was asked about: "), who, own(" %s.", words)))
	}
	last := text(own("%s, in call ", between(g.first, g.last)), foreign(r.ID))
	if g.lines > 1 {
		last = text(own("%s, first in call ", between(g.first, g.last)), foreign(r.ID))
	}
	if r.Client != "" {
		last = append(last, own(" of client "), foreignTo(r.Client, 60))
	}
	return card{head, append(lines, last)}
}

// evidence tells what one piece of evidence says; reason is what stands above it already.
func evidence(e audit.Evidence, reason string) (out []line) {
	if e.Destination == "" {
		if e.Reason != "" && e.Reason != reason {
			out = append(out, text(own("Also: contract "), foreign(e.Contract), own(" objected: "), foreignTo(e.Reason, 300)))
		}
		return out
	}
	l := text(own("Destination "), foreignTo(e.Destination, 300))
	if e.Param != "" {
		l = append(l, own(" in argument "), foreignTo(e.Param, 80))
	}
	out = append(out, append(l, own(" is "), foreign(cmp.Or(e.Origin, "of no known origin"))))
	if e.Server != "" || e.Tool != "" {
		out = append(out, text(own("First seen in what "), foreignTo(e.Server, 60), own(" / "), foreignTo(e.Tool, 80), own(" returned, field "), foreignTo(e.Field, 120),
			own(" of call "), foreignTo(e.Call, 40)))
	}
	if e.Snippet != "" {
		out = append(out, text(own("There it says: "), foreignTo(e.Snippet, 300)))
	}
	return out
}

func (r *Report) definitions() []block {
	shown := r.verdicts.pins.shown()
	if len(shown) == 0 {
		return []block{para(own("No call was denied because a tool was new or had changed since the session began. A definition that changes between two sessions is not noticed."))}
	}
	out := []block{para(own("Calls of tools that were not listed when their session began, or whose definition changed in it. All of them were denied."))}
	for _, c := range shown {
		t := &table{Heads: []string{"When", "Server", "Tool", "What was wrong", "Calls"}, Right: 1}
		for _, g := range c.groups {
			t.Rows = append(t.Rows, []line{text(own("%s", between(g.first, g.last))), text(foreignTo(g.record.Server, 60)), text(foreignTo(g.record.Tool, 80)),
				text(foreignTo(g.record.Reason, 300)), number(g.lines)})
		}
		out = append(out, block{Table: t})
		out = append(out, c.leftOut("deny --contract pinning")...)
	}
	return out
}

func (r *Report) approvals() []block {
	var out []block
	t := &table{Heads: []string{"When", "Server and tool", "Destinations", "Outcome", "Who", "How", "Calls"}, Right: 1}
	lost := 0
	for _, c := range r.verdicts.questions.shown() {
		for _, g := range c.groups {
			who, words := answered(g.record.Verdict, g.record.Answer)
			t.Rows = append(t.Rows, []line{text(own("%s", between(g.first, g.last))), text(foreignTo(g.record.Server, 60), own(" / "), foreignTo(g.record.Tool, 80)),
				asked(g.record), text(verdictBadge(g.record.Verdict)), text(who), text(own("%s", words)), number(g.lines)})
		}
		lost += c.leftLines
	}
	if len(t.Rows) > 0 {
		out = append(out, block{Table: t})
	} else {
		out = append(out, para(own("No question was answered, and nothing went through on an approval.")))
	}
	if lost > 0 {
		out = append(out, para(own("%s left out here.", plural(lost, "more line is", "more lines are"))))
	}
	if n := len(r.verdicts.open) + r.verdicts.openLost; n > 0 {
		out = append(out, para(badge("warn", "open"), own(" %s no outcome in the log: the session was ended meanwhile, or is waiting. Such calls were not forwarded.",
			plural(n, "question has", "questions have"))))
	}
	return out
}

// asked lists the destinations that a question was about.
func asked(r audit.Record) line {
	var all []string
	for _, e := range r.Evidence {
		if e.Destination != "" && !slices.Contains(all, e.Destination) {
			all = append(all, e.Destination)
		}
	}
	if len(all) == 0 {
		return text(own("(names none)"))
	}
	return values(all)
}
