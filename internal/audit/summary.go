package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Query says what Summarise counts.
type Query struct {
	Filter
	By []string // server, tool, verdict, contract, destination; none is server, tool
}

// Summary counts verdicts. An ask and the allow or deny that answered it are a line each.
type Summary struct {
	By     []string
	First  time.Time // of the lines that were counted
	Last   time.Time
	Lines  int
	Groups []Group // the largest first
}

// Group is the lines that share what they are counted by. Of a call with several destinations each has a share.
type Group struct {
	Keys             []string // one for each of By
	Lines            int
	Allow, Ask, Deny int
	Last             time.Time
}

// groupsMost bounds memory: an agent can name any number of destinations. What is beyond is counted under "(others)".
const groupsMost = 100_000

// Summarise counts the verdicts of the log at path. The error names a word in By that is none, or is that of reading.
func Summarise(path string, q Query) (Summary, error) {
	if len(q.By) == 0 {
		q.By = []string{"server", "tool"}
	}
	for _, by := range q.By {
		if !slices.Contains([]string{"server", "tool", "verdict", "contract", "destination"}, by) {
			return Summary{}, fmt.Errorf("%q is not server, tool, verdict, contract or destination", by)
		}
	}
	s := Summary{By: q.By}
	groups := map[string]*Group{}
	err := Scan(path, q.Filter, func(r Record) {
		s.Lines++
		if s.First.IsZero() || r.Time.Before(s.First) {
			s.First = r.Time
		}
		if r.Time.After(s.Last) {
			s.Last = r.Time
		}
		for _, destination := range destinations(r, q.By) {
			keys := keysOf(r, q.By, destination)
			name := strings.Join(keys, "\x00")
			if groups[name] == nil && len(groups) >= groupsMost {
				keys = slices.Repeat([]string{"(others)"}, len(q.By))
				name = "\x00"
			}
			if groups[name] == nil {
				groups[name] = &Group{Keys: keys}
			}
			groups[name].count(r)
		}
	})
	for _, g := range groups {
		s.Groups = append(s.Groups, *g)
	}
	slices.SortFunc(s.Groups, func(a, b Group) int { return cmp.Or(b.Lines-a.Lines, slices.Compare(a.Keys, b.Keys)) })
	return s, err
}

func (g *Group) count(r Record) {
	g.Lines++
	switch r.Verdict {
	case "allow":
		g.Allow++
	case "ask":
		g.Ask++
	case "deny":
		g.Deny++
	}
	if r.Time.After(g.Last) {
		g.Last = r.Time
	}
}

// destinations lists each destination of r once; "" alone when they are not asked for or there is none.
func destinations(r Record, by []string) []string {
	var all []string
	if slices.Contains(by, "destination") {
		for _, e := range r.Evidence {
			if e.Destination != "" && !slices.Contains(all, e.Destination) {
				all = append(all, e.Destination)
			}
		}
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

func keysOf(r Record, by []string, destination string) []string {
	keys := make([]string, len(by))
	for i, name := range by {
		switch name {
		case "server":
			keys[i] = r.Server
		case "tool":
			keys[i] = r.Tool
		case "verdict":
			keys[i] = r.Verdict
		case "contract":
			keys[i] = r.Contract
		case "destination":
			keys[i] = destination
		}
	}
	return keys
}
