package report

import (
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/audit"
)

// limitsLink is where the limits are written down in full.
const limitsLink = "https://github.com/mcp-bouncer/bouncer/blob/main/docs/limits.md"

// document says what the report says, in the order in which a reviewer asks.
func (r *Report) document() document {
	d := document{Title: "Bouncer review pack", Lead: r.lead()}
	if r.noLog { // that nothing is known of must not read like that nothing happened
		d.Sections = []section{
			{"protection", "What is protected", r.protection()},
			{"policy", "Policies in force", r.policies()},
			{"limits", "What this report cannot say", limits()},
		}
		return d
	}
	d.Sections = []section{
		{"protection", "What is protected", r.protection()},
		{"policy", "Policies in force", r.policies()},
		{"verdicts", "Verdicts over time", r.overTime()},
		{"denials", "Denials and their evidence", r.denials()},
		{"approvals", "Questions and approvals", r.approvals()},
		{"definitions", "Changed tool definitions", r.definitions()},
		{"chain", "Is the log whole?", r.chainBlocks()},
		{"limits", "What this report cannot say", limits()},
	}
	return d
}

func (r *Report) lead() []block {
	period := text(own("All verdicts that the log holds"))
	if !r.in.Since.IsZero() {
		period = text(own("Verdicts since %s UTC", when(r.in.Since)))
	}
	period = append(period, own("; made %s UTC by Bouncer ", when(r.in.Now)), foreign(r.in.Version), own("; all times are UTC."))
	if r.noLog {
		return []block{{Para: period}, para(badge("bad", "no log"), own(" There is no log at "), foreign(r.in.Log),
			own(": nothing was recorded, which does not mean that nothing happened."))}
	}
	protected, all, unread, others := 0, 0, 0, 0
	for _, c := range r.in.Clients {
		if c.Problem != "" {
			unread++
		}
		if len(c.Notes) > 0 {
			others++
		}
		for _, s := range c.Servers {
			all++
			if s.Protection == Wrapped {
				protected++
			}
		}
	}
	c := r.verdicts.total
	list := []line{
		append(chainBadge(r), own(" "), foreign(r.in.Log)),
		append(protectedBadge(protected, all, unread+others), protectedWords(protected, all)),
		text(badge("deny", "deny"), own(" %d, ", c.Deny), badge("ask", "ask"), own(" %d, ", c.Ask), badge("allow", "allow"), own(" %d", c.Allow)),
	}
	if unread > 0 {
		list[1] = append(list[1], own("; %s could not be read", plural(unread, "file", "files")))
	}
	if others > 0 {
		list[1] = append(list[1], own("; %s more servers in a layout that is not wrapped", plural(others, "file holds", "files hold")))
	}
	if c.Other > 0 {
		list = append(list, text(badge("bad", "odd"), own(" %s with a verdict that Bouncer does not give", plural(c.Other, "line", "lines"))))
	}
	if r.in.Policy.Problem != "" {
		list = append(list, text(badge("bad", "policy"), own(" the policy cannot be loaded, so no server starts with it")))
	}
	if n := len(r.in.Policy.loosened()); n > 0 {
		list = append(list, text(badge("warn", "loosened"), own(" %s destinations pass that nobody vouched for, without a question", plural(n, "setting of the policy lets", "settings of the policy let"))))
	}
	return []block{{Para: period}, {List: list}}
}

func protectedWords(protected, all int) span {
	switch {
	case all == 0:
		return own(" stand in the configs of this machine, as far as Bouncer knows them")
	case protected == 1:
		return own(" 1 of %s in the configs of this machine stands behind Bouncer", plural(all, "server", "servers"))
	}
	return own(" %d of %s in the configs of this machine stand behind Bouncer", protected, plural(all, "server", "servers"))
}

func protectedBadge(protected, all, unknown int) line {
	switch {
	case protected < all || unknown > 0:
		return text(badge("bad", "gaps"))
	case all == 0:
		return text(badge("warn", "no servers"))
	}
	return text(badge("good", "protection"))
}

func chainBadge(r *Report) line {
	switch {
	case r.chainErr != nil:
		return text(badge("bad", "log unreadable"))
	case !r.chain.Clean():
		return text(badge("bad", "log not whole"), own(" %s in", plural(len(r.chain.Findings), "finding", "findings")))
	case r.chain.Checkpoints == 0:
		return text(badge("warn", "log not signed"), own(" no line of it is sealed by a signature:"))
	}
	return text(badge("good", "log whole"), own(" chain and signatures hold in"))
}

func (r *Report) protection() []block {
	if len(r.in.Clients) == 0 {
		return []block{para(own("No config file of a client that Bouncer knows is on this machine. Servers that clients start from elsewhere are not listed here."))}
	}
	t := &table{Heads: []string{"Client and file", "Server", "State", "Notes"}}
	var rest [][]line // what is protected comes last: a repository's config with hundreds of entries must not push a gap out
	for _, c := range r.in.Clients {
		file := text(own("%s ", c.Title), foreign(c.Path))
		add := func(worst bool, cells ...line) {
			row := append([]line{file}, cells...)
			if worst {
				t.Rows = append(t.Rows, row)
			} else {
				rest = append(rest, row)
			}
		}
		if c.Problem != "" {
			add(true, text(own("(all)")), text(badge("bad", "unknown")), text(foreignTo(c.Problem, 300)))
		}
		if len(c.Notes) > 0 {
			add(true, text(own("(others)")), text(badge("bad", "not protected")), notes(c.Notes))
		}
		for _, s := range c.Servers {
			name := text(foreign(s.Name))
			if s.Project != "" {
				name = append(name, own(" in project "), foreign(s.Project))
			}
			add(s.Protection != Wrapped, name, text(protectionBadge(s.Protection)), notes(s.Notes))
		}
		if len(c.Servers) == 0 && c.Problem == "" && len(c.Notes) == 0 {
			add(false, text(own("(none)")), nil, nil)
		}
	}
	t.Rows = append(t.Rows, rest...)
	return []block{{Table: cut(t, rulesMost)},
		para(own("Remote servers have no command that Bouncer could stand in front of. Clients that Bouncer does not know, and the client's own tools, are not seen at all."))}
}

// cut bounds the rows of a table and says how many are left out.
func cut(t *table, most int) *table {
	if more := len(t.Rows) - most; more > 0 {
		t.Rows = append(t.Rows[:most], []line{text(own("... and %d more", more))})
	}
	return t
}

func cutList(all []line, most int) []line {
	if more := len(all) - most; more > 0 {
		all = append(all[:most:most], text(own("... and %d more", more)))
	}
	return all
}

// notesMost is how many notes stand beside one server.
const notesMost = 30

func notes(all []string) (out line) {
	for i, note := range all {
		if i == notesMost {
			return append(out, own("; and %d more: look at the entry", len(all)-i))
		}
		if i > 0 {
			out = append(out, own("; "))
		}
		out = append(out, foreignTo(note, 300))
	}
	return out
}

func protectionBadge(p Protection) span {
	switch p {
	case Wrapped:
		return badge("good", "wrapped")
	case Remote:
		return badge("bad", "remote, not protected")
	case Unwrapped:
		return badge("bad", "not protected")
	}
	return badge("warn", "unclear")
}

func (r *Report) policies() []block {
	p := r.in.Policy
	var out []block
	switch {
	case p.Problem != "":
		out = append(out, para(badge("bad", "invalid"), own(" "), foreign(p.Path), own(" cannot be loaded, and no server starts with it: "), foreignTo(p.Problem, 600)))
	case p.Path == "":
		out = append(out, para(own("There is no policy of the user: packs and heuristics decide, and nothing but them confines a path or trusts a destination.")))
	default:
		profile := string(p.Set.Profile)
		if profile == "" {
			profile = "standard, since it names none"
		}
		out = append(out, para(own("The user's file is "), foreign(p.Path), own(" (profile: %s). An entry that runs with ", profile),
			command("--policy"), own(" or "), command("--profile"), own(" has its own, named above.")))
	}
	if rules := p.userRules(); len(rules) > 0 {
		t := &table{Heads: []string{"Line", "Tool", "For", "What it says"}}
		for _, s := range rules {
			about := text(own("every server"))
			if s.server != "" {
				about = text(foreign(s.server))
			}
			t.Rows = append(t.Rows, []line{number(s.rule.At.Line), text(foreign(s.rule.Tool)), about, joined(says(s.rule))})
		}
		out = append(out, block{Table: cut(t, rulesMost)})
	}
	if loose := p.loosened(); len(loose) > 0 {
		out = append(out, para(badge("warn", "loosened"), own(" These let destinations pass that nobody vouched for, and nobody is asked:")), block{List: cutList(loose, rulesMost)})
	}
	if len(p.Packs) > 0 {
		out = append(out, para(own("Curated packs, which decide where the user's file has no rule and the configured package is one of theirs:")),
			block{Table: &table{Heads: []string{"Pack", "Packages", "Tools", "Gated"}, Right: 2, Rows: p.packLines()}})
	}
	return append(out, r.toolTable()...)
}

func joined(all []line) (out line) {
	for i, l := range all {
		if i > 0 {
			out = append(out, own("; "))
		}
		out = append(out, l...)
	}
	return out
}

// toolsMost is how many tools are listed with their counts.
const toolsMost = 60

func (r *Report) toolTable() []block {
	if len(r.tools.Groups) == 0 {
		return nil
	}
	t := &table{Heads: []string{"Server", "Tool", "Rule that decides", "Allow", "Ask", "Deny"}, Right: 3}
	for _, g := range r.tools.Groups[:min(len(r.tools.Groups), toolsMost)] {
		t.Rows = append(t.Rows, []line{text(foreignTo(g.Keys[0], 60)), text(foreignTo(g.Keys[1], 80)), r.decides(g.Keys[0], g.Keys[1]),
			number(g.Allow), number(g.Ask), number(g.Deny)})
	}
	out := []block{para(own("Tools in the log, and the rule that decides about each as the policy stands now (the log does not keep the policy of then):")), {Table: t}}
	if more := len(r.tools.Groups) - toolsMost; more > 0 {
		out = append(out, para(own("%d more tools are left out; see ", more), command("bouncer audit summary --by server,tool"), own(".")))
	}
	return out
}

func (r *Report) overTime() []block {
	v := &r.verdicts
	all, unit, older := v.hours.periods()
	if len(all) == 0 {
		return []block{para(own("No verdicts."))}
	}
	t := &table{Heads: []string{"By " + unit.name + " (UTC)", "Allow", "Ask", "Deny"}, Right: 3}
	for _, p := range all {
		if p.sum() > 0 {
			t.Rows = append(t.Rows, []line{text(own("%s", p.From.Format(unit.layout))), number(p.Allow), number(p.Ask), number(p.Deny)})
		}
	}
	out := []block{para(own("From %s. A question and what it came to are a line each.", between(v.first, v.last)))}
	if c := newChart(all, unit); c != nil {
		out = append(out, block{Chart: c})
	}
	out = append(out, block{Table: t})
	if older > 0 {
		out = append(out, para(own("%s left out: older than the periods that fit here.", plural(older, "line is", "lines are"))))
	}
	if v.timeless+v.hours.lost > 0 {
		out = append(out, para(badge("warn", "odd"), own(" %s left out: no readable time, or too many different ones.", plural(v.timeless+v.hours.lost, "line is", "lines are"))))
	}
	return out
}

func (r *Report) chainBlocks() []block {
	if r.chainErr != nil {
		return []block{para(badge("bad", "log unreadable"), own(" "), foreignTo(r.chainErr.Error(), 400))}
	}
	c := r.chain
	head := append(chainBadge(r), own(" %s with %s: %s of %s, %s, key ", plural(len(c.Files), "file", "files"), plural(c.Lines, "line", "lines"),
		plural(c.Entries, "chained verdict", "chained verdicts"), plural(c.Writers, "process", "processes"), plural(c.Checkpoints, "valid signature", "valid signatures")), foreign(c.Key), own("."))
	out := []block{{Para: head}}
	out = append(out, findings("What is wrong:", c.Findings, 50)...)
	out = append(out, findings("Worth knowing, and not wrong:", c.Notes, 20)...)
	return append(out, para(own("To check it yourself: "), command("bouncer audit verify"), own(". Whoever holds the signing key can write a log that verifies; compare the key with a copy that is kept elsewhere.")))
}

func findings(title string, all []audit.Finding, most int) []block {
	if len(all) == 0 {
		return nil
	}
	kinds := map[string]int{}
	var order []string
	for _, f := range all {
		if kinds[f.Kind]++; kinds[f.Kind] == 1 {
			order = append(order, f.Kind)
		}
	}
	slices.Sort(order)
	var list []line
	for _, kind := range order { // a flood of one kind must not hide another
		shown, share := 0, max(1, most/len(order))
		for _, f := range all {
			if f.Kind == kind && shown < share {
				list = append(list, text(foreignTo(f.String(), 400)))
				shown++
			}
		}
		if more := kinds[kind] - shown; more > 0 {
			list = append(list, text(own("... and %d more of kind ", more), foreign(kind)))
		}
	}
	return []block{para(own("%s", title)), {List: list}}
}

func limits() []block {
	return []block{
		{List: []line{
			text(own("Bouncer sees what goes through the servers that it wraps. An agent's shell, its built-in tools, remote servers and unwrapped ones leave no line here.")),
			text(own("A call that was allowed may have carried anything: destinations are judged, and of contents at most the links, addresses and accounts in them. Servers themselves are not vetted.")),
			text(own("The log says what its writer wrote. Code that runs as the same user can reach the log and its key.")),
			text(own("Arguments of calls are left out. "), command("bouncer audit show ID"), own(" tells one call's whole story.")),
			text(own("Secrets of known shapes are masked when a line is written; one of no known shape under a harmless name is not.")),
			text(own("Config files are those of the clients that "), command("bouncer init"), own(" knows, in this user's home and in the working directory.")),
		}},
		para(own("The whole list: "), span{Text: "docs/limits.md", Link: limitsLink}, own(".")),
	}
}

// answered says who answered a question, as far as the log can tell (D15).
func answered(verdict, answer string) (who span, words string) {
	known := map[string]struct{ kind, who, words string }{
		"person":      {"ask", "person", "chose yes in the client's form"},
		"declined":    {"warn", "person or client", "declined; whether a person or the client did, the log cannot tell"},
		"cancelled":   {"warn", "nobody", "closed without an answer"},
		"timeout":     {"warn", "nobody", "nobody answered in time"},
		"unsupported": {"warn", "nobody", "the client could not ask"},
		"malformed":   {"warn", "nobody", "the client's answer was none of the choices"},
		"withdrawn":   {"warn", "nobody", "the call was cancelled while it was asked"},
		"":            {"ask", "earlier yes", "went through on an approval given earlier in the session"},
	}
	if k, ok := known[answer]; ok {
		if verdict == "deny" && answer == "person" {
			k.words += ", and another contract denied it all the same"
		}
		return badge(k.kind, k.who), k.words
	}
	if strings.HasPrefix(answer, "remembered") {
		return badge("ask", "remembered"), "a remembered answer"
	}
	return foreign(answer), "an answer that this version does not know"
}
