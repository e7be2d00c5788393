package report

import (
	"crypto/sha256"
	"io"
	"strconv"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/gate"
)

// counts are verdicts, counted. Other is a word that is no verdict of Bouncer's.
type counts struct{ Allow, Ask, Deny, Other int }

func (c *counts) add(verdict string) {
	switch verdict {
	case "allow":
		c.Allow++
	case "ask":
		c.Ask++
	case "deny":
		c.Deny++
	default:
		c.Other++
	}
}

func (c *counts) plus(o counts) {
	c.Allow, c.Ask, c.Deny, c.Other = c.Allow+o.Allow, c.Ask+o.Ask, c.Deny+o.Deny, c.Other+o.Other
}

func (c counts) sum() int { return c.Allow + c.Ask + c.Deny + c.Other }

// verdicts is what one pass over the log gathers. An agent can fill the log with lines of its choice, so everything in
// it is bounded, and what a bound leaves out is counted.
type verdicts struct {
	total       counts
	first, last time.Time
	timeless    int // lines whose time cannot be read
	hours       hours
	denials     gathering
	pins        gathering
	questions   gathering
	open        map[string]audit.Record // questions without an outcome yet, by id
	openLost    int
}

// openMost is how many open questions are held; the log has few, since a person answers them.
const openMost = 2_000

func newVerdicts() verdicts {
	return verdicts{hours: hours{counts: map[int64]counts{}}, open: map[string]audit.Record{}}
}

func (v *verdicts) add(r audit.Record) {
	r.Line, r.Args = nil, nil // they belong to the reader's buffer, and no report shows them
	v.total.add(r.Verdict)
	if r.Time.IsZero() {
		v.timeless++
	} else {
		if v.first.IsZero() || r.Time.Before(v.first) {
			v.first = r.Time
		}
		if r.Time.After(v.last) {
			v.last = r.Time
		}
		v.hours.add(r.Time, r.Verdict)
	}
	if r.Verdict == "deny" {
		if r.Contract == gate.Pinning {
			v.pins.add(r, r.Server, r.Tool, r.Reason)
		} else {
			v.denials.add(r, r.Server, r.Tool, r.Reason, r.Origin, r.Answer)
		}
	}
	v.question(r)
}

// question follows what became of what a person was asked.
func (v *verdicts) question(r audit.Record) {
	switch {
	case r.Verdict == "ask":
		if len(v.open) >= openMost {
			v.openLost++
			return
		}
		v.open[r.ID] = brief(r)
		return
	case r.Answer != "":
		if _, held := v.open[r.ID]; !held && v.openLost > 0 {
			v.openLost-- // one of those that were only counted
		}
		delete(v.open, r.ID)
	case r.Verdict == "allow" && r.Origin == string(gate.Approved): // on an earlier yes
	default:
		return
	}
	v.questions.add(r, r.Server, r.Tool, r.Verdict, r.Answer, destinationsOf(r))
}

func destinationsOf(r audit.Record) string {
	var all []byte
	for _, e := range r.Evidence {
		all = strconv.AppendQuote(all, e.Destination)
	}
	return string(all)
}

// The bounds of a gathering: groups of one tool, groups of one contract, and contracts. Each tool of each contract has
// room of its own, so that a flood of one kind of denial does not push another kind out of the report.
const (
	perTool     = 100
	perContract = 2_000
	contracts   = 16
)

// gathering groups lines that say the same.
type gathering struct {
	byContract map[string]*contractGroups
}

type contractGroups struct {
	contract string
	groups   map[[32]byte]*group
	order    []*group
	tools    map[string]int // groups of each tool
	lost     int            // lines for which there was no room
}

// group is lines that say the same; record is the first of them.
type group struct {
	record      audit.Record
	first, last time.Time
	lines       int
}

// add counts r. parts are what tells a group from another one.
func (g *gathering) add(r audit.Record, parts ...string) {
	if g.byContract == nil {
		g.byContract = map[string]*contractGroups{}
	}
	name := r.Contract
	c := g.byContract[name]
	if c == nil {
		if len(g.byContract) >= contracts {
			name = "(others)"
		}
		if c = g.byContract[name]; c == nil {
			c = &contractGroups{contract: name, groups: map[[32]byte]*group{}, tools: map[string]int{}}
			g.byContract[name] = c
		}
	}
	c.add(r, digest(parts))
}

func (c *contractGroups) add(r audit.Record, key [32]byte) {
	if known := c.groups[key]; known != nil {
		known.lines++
		if r.Time.Before(known.first) {
			known.first = r.Time
		}
		if r.Time.After(known.last) {
			known.last = r.Time
		}
		return
	}
	tool := r.Server + "\x00" + r.Tool
	if len(c.order) >= perContract || c.tools[tool] >= perTool {
		c.lost++
		return
	}
	c.tools[tool]++
	made := &group{record: brief(r), first: r.Time, last: r.Time, lines: 1}
	c.groups[key] = made
	c.order = append(c.order, made)
}

func digest(parts []string) (sum [32]byte) {
	h := sha256.New()
	for _, part := range parts {
		io.WriteString(h, strconv.Itoa(len(part))+":"+part)
	}
	h.Sum(sum[:0])
	return sum
}

// evidenceMost is how many pieces of evidence are shown of one line.
const evidenceMost = 3

// brief is r with what a report shows of its evidence: the pieces that decided stand first.
func brief(r audit.Record) audit.Record {
	all := r.Evidence
	r.Evidence = nil
	for _, deciding := range []bool{true, false} {
		for _, e := range all {
			if (e.Contract == r.Contract && e.Reason == r.Reason) == deciding && len(r.Evidence) < evidenceMost {
				r.Evidence = append(r.Evidence, e)
			}
		}
	}
	return r
}
