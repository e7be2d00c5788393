package ui

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// page is what page.html shows.
type page struct {
	Base      string
	Said      string // what became of the last click
	Questions []question
	Verdicts  []audit.Record
	Approvals []approval.Entry
	Broken    string // why the approvals cannot be shown
	Servers   []Server
	Version   string
}

type question struct {
	approval.Pending
	Always []choice
	Never  []choice
	Text   string
}

// choice is an answer that is kept, with the lines that it becomes.
type choice struct {
	Scope approval.Scope
	Label string
	Lines []string
}

// latest is how many verdicts the page shows.
const latest = 40

var labels = map[approval.Scope]string{"": "this destination, for this tool", approval.ThisKind: "this destination, for every tool of this server",
	approval.ThisDomain: "every address at this domain, for this tool"}

func (u *UI) index(w http.ResponseWriter, r *http.Request) {
	u.cfg.Pending.Attend() // without the script a page counts as open for a moment
	p := page{Base: u.Path(), Said: said[r.URL.Query().Get("said")], Version: u.cfg.Version}
	if all, err := u.cfg.Pending.List(); err != nil {
		p.Said = err.Error()
	} else {
		for _, each := range all {
			p.Questions = append(p.Questions, asked(each))
		}
	}
	lines, err := audit.Tail(u.cfg.Log, latest)
	for _, line := range slices.Backward(lines) {
		if rec, ok := audit.ReadRecord(line); ok {
			p.Verdicts = append(p.Verdicts, rec)
		}
	}
	if err != nil && len(lines) == 0 {
		p.Verdicts = nil
	}
	if book, err := u.cfg.Book(); err != nil {
		p.Broken = err.Error()
	} else if p.Approvals, err = book.Entries(); err != nil {
		p.Broken = err.Error()
	}
	p.Servers = u.cfg.Servers()
	u.render(w, "page.html", p)
}

func asked(p approval.Pending) question {
	q := question{Pending: p, Text: p.Message()}
	keep := func(c approval.Choice, scope approval.Scope) choice {
		out := choice{Scope: scope, Label: labels[scope]}
		for _, e := range p.Entries(c, scope) {
			out.Lines = append(out.Lines, e.Line())
		}
		return out
	}
	for _, scope := range p.Scopes() {
		q.Always = append(q.Always, keep(approval.Always, scope))
	}
	if p.Offers(approval.Never) {
		q.Never = append(q.Never, keep(approval.Never, ""))
	}
	return q
}

func (u *UI) render(w http.ResponseWriter, name string, data any) {
	var b bytes.Buffer
	if err := u.pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "bouncer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(b.Bytes())
}

// said are the sentences that a page may begin with; the address names one, and cannot bring another along.
var said = map[string]string{
	"approved": "Approved. The same call passes when it is made again.",
	"denied":   "Denied.",
	"gone":     "That question does not wait any more: it was answered or has expired.",
	"changed":  "That question has changed since it was shown. Look at it again.",
	"failed":   "The answer could not be kept. The terminal says why.",
	"none":     "That is none of the question's answers.",
	"revoked":  "Taken back.",
}

func (u *UI) back(w http.ResponseWriter, r *http.Request, word string) {
	http.Redirect(w, r, u.Path()+"?said="+url.QueryEscape(word), http.StatusSeeOther)
}

// answer takes the answer to one question. The form names the question by its key too, so that nobody answers another than the one
// that they read.
func (u *UI) answer(w http.ResponseWriter, r *http.Request) {
	choice, known := approval.ParseChoice(r.PostFormValue("choice"))
	scope, scoped := approval.ParseScope(r.PostFormValue("scope"))
	p, err := u.cfg.Pending.Get(r.PostFormValue("id"))
	switch {
	case err != nil:
		u.back(w, r, "gone")
		return
	case p.Key != r.PostFormValue("key"):
		u.back(w, r, "changed")
		return
	case !known || !scoped || !p.Offers(choice) || !slices.Contains(append(p.Scopes(), ""), scope):
		u.back(w, r, "none")
		return
	}
	book, err := u.cfg.Book()
	if err == nil || choice != approval.Always && choice != approval.Never {
		err = u.cfg.Pending.Answer(book, p, approval.Given{ID: p.ID, Key: p.Key, Choice: choice, Scope: scope, By: approval.ByPage}, time.Now())
	}
	switch {
	case err != nil:
		u.back(w, r, "failed")
	case choice.Approves():
		u.back(w, r, "approved")
	default:
		u.back(w, r, "denied")
	}
}

// revoke takes a remembered answer back, if it is still the one that was shown.
func (u *UI) revoke(w http.ResponseWriter, r *http.Request) {
	book, err := u.cfg.Book()
	if err != nil {
		u.back(w, r, "failed")
		return
	}
	entries, err := book.Entries()
	n, numberErr := strconv.Atoi(r.PostFormValue("number"))
	if err != nil || numberErr != nil || n < 1 || n > len(entries) || entries[n-1].Line() != r.PostFormValue("line") {
		u.back(w, r, "changed")
		return
	}
	if err := book.Revoke(n, entries[n-1]); err != nil {
		u.back(w, r, "failed")
		return
	}
	u.back(w, r, "revoked")
}

// told is the story of one call, and each of its destinations' way.
type told struct {
	Base  string
	ID    string
	Lines []audit.Record
	Text  string
	Ways  []way
}

// way is how a destination came to be where it is: from a source, through the agent, into an argument.
type way struct {
	audit.Evidence
	Sink audit.Record
}

func (u *UI) story(w http.ResponseWriter, r *http.Request, id string) {
	lines, err := audit.Find(u.cfg.Log, id)
	if err != nil || len(lines) == 0 {
		http.Error(w, "bouncer: the log has no verdict "+destination.Visible(id, 40), http.StatusNotFound)
		return
	}
	t := told{Base: u.Path(), ID: id, Lines: lines, Text: audit.Story(lines)}
	last := lines[len(lines)-1]
	for _, ev := range last.Evidence {
		if ev.Destination != "" {
			t.Ways = append(t.Ways, way{ev, last})
		}
	}
	u.render(w, "story.html", t)
}
