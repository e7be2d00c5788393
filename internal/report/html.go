package report

import (
	_ "embed"
	"html/template"
	"io"
	"sync"
	"unicode/utf8"
)

//go:embed report.html
var page string

// pageTemplate is read when a page is made, not when any other command starts. The page has no script and asks for
// nothing: it says so to the browser as well.
var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("report").Funcs(functions).Parse(page)) })

var functions = template.FuncMap{
	"right": func(t *table, i int) bool { return i >= len(t.Heads)-t.Right },
	"short": func(s string) bool { return utf8.RuneCountInString(s) <= 28 }, // a name that is not to be broken in a narrow column
	"span":  func(t *table, row []line) int { return len(t.Heads) - len(row) + 1 },
}

// HTML writes the report as one page that stands alone. The error is the writer's.
func (r *Report) HTML(w io.Writer) error { return pageTemplate().Execute(w, r.document()) }
