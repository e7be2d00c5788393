package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the report as GitHub Flavored Markdown. The error is the writer's.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	d := r.document()
	fmt.Fprintf(&b, "# %s\n", d.Title)
	blocks(&b, d.Lead)
	for _, s := range d.Sections {
		fmt.Fprintf(&b, "\n## %s\n", s.Title)
		blocks(&b, s.Blocks)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func blocks(b *strings.Builder, all []block) {
	for _, one := range all {
		if one.Chart != nil { // the table that follows says the same
			continue
		}
		b.WriteByte('\n')
		switch {
		case one.Table != nil:
			one.Table.markdown(b)
		case one.Cards != nil:
			for _, c := range one.Cards {
				fmt.Fprintf(b, "- %s\n", markdown(c.Head))
				for _, l := range c.Lines {
					fmt.Fprintf(b, "  - %s\n", markdown(l))
				}
			}
		case one.List != nil:
			for _, l := range one.List {
				fmt.Fprintf(b, "- %s\n", markdown(l))
			}
		default:
			fmt.Fprintf(b, "%s\n", markdown(one.Para))
		}
	}
}

func (t *table) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "| %s |\n|", strings.Join(t.Heads, " | "))
	for i := range t.Heads {
		if i >= len(t.Heads)-t.Right {
			b.WriteString(" ---: |")
		} else {
			b.WriteString(" --- |")
		}
	}
	b.WriteByte('\n')
	for _, row := range t.Rows {
		b.WriteByte('|')
		for _, cell := range row {
			fmt.Fprintf(b, " %s |", markdown(cell))
		}
		b.WriteByte('\n')
	}
}

func markdown(l line) string {
	var b strings.Builder
	for _, s := range l {
		switch {
		case s.Code:
			b.WriteString(codeSpan(s.Text))
		case s.Link != "":
			fmt.Fprintf(&b, "[%s](%s)", s.Text, s.Link)
		case s.Kind != "":
			fmt.Fprintf(&b, "**%s**", s.Text)
		default:
			b.WriteString(s.Text)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// inCode spells out the two characters that could end a code span, or the table cell that it stands in. Backslash
// escapes would not do: renderers turn the addresses in escaped text into links.
var inCode = strings.NewReplacer("`", `\u{60}`, "|", `\u{7c}`)

// codeSpan shows a text in which nothing is Markdown. It has no line breaks: see foreign.
func codeSpan(s string) string {
	if strings.TrimSpace(s) == "" {
		return "(blank)"
	}
	return "`" + inCode.Replace(s) + "`"
}
