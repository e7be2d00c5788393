package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
)

var update = flag.Bool("update", false, "write the golden files anew")

var now = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)

// rendered is a report in both formats.
func rendered(t *testing.T, in Input) map[string]string {
	t.Helper()
	r, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name, render := range map[string]func(io.Writer) error{"md": r.Markdown, "html": r.HTML} {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			t.Fatal(err)
		}
		out[name] = b.String()
	}
	return out
}

// TestGolden: a report of a fixed log, word for word.
func TestGolden(t *testing.T) {
	set, err := load.File(filepath.Join("testdata", "policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	in := Input{
		Log: filepath.Join("testdata", "audit.jsonl"), Now: now, Version: "1.2.3",
		Policy: Policy{Path: "policy.yaml", Set: set.WithPacks(packs.All()), Packs: packs.All()[:2]},
		Clients: []Config{
			{Path: "/home/ann/.cursor/mcp.json", Title: "Cursor", Servers: []Server{
				{Name: "mail", Protection: Wrapped, Identity: []string{"@gongrzhe/server-gmail-autoauth-mcp"}},
				{Name: "files", Protection: Unwrapped, Notes: []string{"autoApprove: the client will not ask for these: read_file"}},
				{Name: "linear", Protection: Remote}}},
			{Path: "/home/ann/.claude.json", Title: "Claude Code", Problem: "it is not valid JSON"}},
	}
	for name, got := range rendered(t, in) {
		path := filepath.Join("testdata", "report."+name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got = strings.ReplaceAll(got, `testdata\audit.jsonl`, "testdata/audit.jsonl")
		if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// hostile is what a stranger would like a reviewer to see, or a browser to do.
var hostile = []string{
	"<script>alert(1)</script>", "</code></p><img src=x onerror=alert(1)>", "](https://evil.example)", "[ok](https://evil.example/approve)",
	"![x](https://evil.example/pixel.png)", "`](https://evil.example)`", "`` ` ``<b>bold</b>", "| cell | **deny** | \n# All is well\n", "\r\n## Denials\r\n",
	"\x1b[31mred\x1b[0m", "abc\u202etxt.exe", "zero\u200bwidth", "https://evil.example/?q=1", "www.evil.example", "mail a@evil.example", "<https://evil.example>",
	"&lt;script&gt;", "\u2028line", "\xff\xfe", "<!--", "<style>*{display:none}</style>", "javascript:alert(1)", "{{.Title}}", "$\\href{https://evil.example}{x}$",
	"\\`<i>", "|", "   ", "\u2067rtl", "<svg onload=alert(1)>", "' onmouseover='alert(1)", strings.Repeat("A", 10_000),
}

// TestHostileText: whatever a stranger wrote is text in both formats: no element, link or heading is made of it, and
// nothing of it hides.
func TestHostileText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Log: path, Now: now, Version: hostile[0], Policy: Policy{Path: hostile[1], Problem: strings.Join(hostile[:20], " ")}}
	for i, h := range hostile {
		for _, verdict := range []string{"allow", "deny", "ask", h} {
			for _, contract := range []string{"sink_gate", "pinning", h} {
				e := audit.Entry{Tool: h, Server: h, Verdict: verdict, Contract: contract, Reason: h, ID: h, Session: h, Origin: h, Client: h, Answer: h, Time: now.Add(-time.Duration(i) * time.Hour)}
				e.Evidence = []audit.Evidence{{Contract: h, Param: h, Destination: h, Kind: h, Origin: h, Server: h, Tool: h, Call: h, Field: h, Snippet: h, Match: h, Reason: h}}
				if err := log.Append(e); err != nil {
					t.Fatal(err)
				}
			}
		}
		in.Clients = append(in.Clients, Config{Path: h, Title: "Cursor", Problem: h, Notes: []string{h},
			Servers: []Server{{Name: h, Project: h, Protection: Unclear, Notes: []string{h, h}}}})
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hostile { // lines that verify quotes
		fmt.Fprintln(f, h)
	}
	f.Close()
	for name, got := range rendered(t, in) {
		for _, bad := range []string{"\x1b", "\u202e", "\u200b", "\u2028", "\u2067", "\r", "\xff"} {
			if strings.Contains(got, bad) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
		if len(got) > 1<<20 {
			t.Errorf("%s has %d bytes", name, len(got))
		}
		if name == "md" {
			checkMarkdown(t, got)
		} else {
			checkHTML(t, got)
		}
	}
}

var inlineCode = regexp.MustCompile("`[^`]*`")

// checkMarkdown demands that outside of code spans there is nothing but the report's own words.
func checkMarkdown(t *testing.T, got string) {
	t.Helper()
	for _, l := range strings.Split(got, "\n") {
		bare := inlineCode.ReplaceAllString(l, "")
		if i := strings.IndexAny(strings.ReplaceAll(bare, "[docs/limits.md]("+limitsLink+")", ""), "<>[]!`\\$&@"); i >= 0 {
			t.Errorf("markdown outside of code: %.300s", l)
		}
		if strings.Contains(bare, "evil") || strings.Contains(bare, "alert") {
			t.Errorf("foreign text outside of code: %.300s", l)
		}
		if strings.HasPrefix(l, "|") && strings.Count(inlineCode.ReplaceAllString(l, ""), "|") != strings.Count(l, "|") {
			t.Errorf("a cell ends inside code: %.300s", l)
		}
		if strings.HasPrefix(l, "#") && strings.Contains(l, "All is well") {
			t.Errorf("a heading was injected: %s", l)
		}
	}
}

// checkHTML reads the page as a browser does, and demands that it has the template's elements and no way out.
func checkHTML(t *testing.T, got string) {
	t.Helper()
	allowed := " html head meta title style body h1 h2 p ul li code a nav div section span table thead tbody tr th td svg line text rect "
	tokens := html.NewTokenizer(strings.NewReader(got))
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return
		}
		token := tokens.Token()
		if kind == html.CommentToken {
			t.Errorf("a comment: %s", token.Data)
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		if !strings.Contains(allowed, " "+token.Data+" ") {
			t.Errorf("element %s", token)
		}
		for _, a := range token.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "style":
				t.Errorf("attribute %s", token)
			case a.Key == "href" && a.Val != limitsLink && !strings.HasPrefix(a.Val, "#"):
				t.Errorf("link %s", token)
			}
		}
	}
}

// TestStandsAlone: the page has no script, and nothing in it makes a browser ask for anything.
func TestStandsAlone(t *testing.T) {
	got := rendered(t, Input{Log: filepath.Join("testdata", "audit.jsonl"), Now: now})["html"]
	for _, bad := range []string{"<script", "@import", "url(", "<link", "src=", "<iframe"} {
		if strings.Contains(got, bad) {
			t.Errorf("it holds %s", bad)
		}
	}
	for _, good := range []string{"default-src 'none'", "@media print", "prefers-color-scheme: dark", "size: A4"} {
		if !strings.Contains(got, good) {
			t.Errorf("it lacks %s", good)
		}
	}
}

// writeLog writes a log without a chain, quickly.
func writeLog(t *testing.T, entries func(add func(map[string]any))) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	entries(func(e map[string]any) {
		line := map[string]any{"args": nil, "contract": "sink_gate", "server": "mail", "time": now.Format("2006-01-02T15:04:05.000000Z"), "session": "s"}
		for k, v := range e {
			line[k] = v
		}
		tool, _ := json.Marshal(line["tool"])
		delete(line, "tool")
		rest, _ := json.Marshal(line)
		fmt.Fprintf(&b, `{"tool": %s, %s`+"\n", tool, rest[1:])
	})
	if _, err := f.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFlood: a long log makes a report of a sane size, in which a flood of one kind hides no other kind, and what is
// left out is counted.
func TestFlood(t *testing.T) {
	const flood = 2_500
	path := writeLog(t, func(add func(map[string]any)) {
		for i := range flood {
			add(map[string]any{"tool": "send", "verdict": "deny", "reason": fmt.Sprint("flood ", i), "id": fmt.Sprint(i), "client": strings.Repeat("c", 500)})
			add(map[string]any{"tool": fmt.Sprint("made-up-", i), "verdict": "deny", "contract": "pinning", "reason": "not pinned", "id": fmt.Sprint("p", i)})
			add(map[string]any{"tool": "ask", "verdict": "ask", "reason": "who?", "id": fmt.Sprint("q", i), "time": fmt.Sprintf("%04d-01-01T00:00:00.000000Z", 1+i%9000)})
		}
		for range 5 {
			add(map[string]any{"tool": "write", "verdict": "deny", "contract": "constraint", "reason": "the needle", "id": "n"})
			add(map[string]any{"tool": "other", "verdict": "deny", "reason": "the second needle", "id": "m"})
		}
		for i := range 40 {
			add(map[string]any{"tool": "z", "verdict": "deny", "contract": fmt.Sprint("contract", i), "reason": "x", "id": "m"})
		}
	})
	for name, got := range rendered(t, Input{Log: path, Now: now}) {
		if len(got) > 256<<10 {
			t.Errorf("%s has %d bytes", name, len(got))
		}
		for _, want := range []string{"the needle", "the second needle", ", 5 times", fmt.Sprintf("%d more lines are left out", flood-10), fmt.Sprintf("%d questions have no outcome", flood)} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
}

// TestEveryDenialCounts: shown lines and lines left out make up all denials.
func TestEveryDenialCounts(t *testing.T) {
	var g gathering
	n := 0
	for tool := range 300 {
		for reason := range 15 {
			for range 1 + tool%3 {
				g.add(audit.Record{Entry: audit.Entry{Tool: fmt.Sprint(tool), Contract: fmt.Sprint("c", tool%20), Verdict: "deny"}}, fmt.Sprint(tool, "/", reason))
				n++
			}
		}
	}
	sum := 0
	for _, c := range g.shown() {
		sum += c.leftLines
		for _, one := range c.groups {
			sum += one.lines
		}
	}
	if sum != n {
		t.Errorf("%d lines are accounted for, of %d", sum, n)
	}
}

// TestChain: a log that is whole is called so, and one that was changed is not.
func TestChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := log.Append(audit.Entry{Tool: "send", Verdict: "deny", Contract: "sink_gate", Reason: "no", ID: "a", Time: now}); err != nil {
			t.Fatal(err)
		}
	}
	log.Close()
	if got := rendered(t, Input{Log: path, Now: now})["md"]; !strings.Contains(got, "**log whole**") {
		t.Errorf("a whole log: %s", got)
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.Replace(data, []byte(`"deny"`), []byte(`"deni"`), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := rendered(t, Input{Log: path, Now: now})["md"]
	if strings.Contains(got, "**log whole**") || !strings.Contains(got, "**log not whole**") || !strings.Contains(got, "changed") {
		t.Errorf("a changed log: %s", got)
	}
}

// TestNoLog: no log is not the same as no denials.
func TestNoLog(t *testing.T) {
	got := rendered(t, Input{Log: filepath.Join(t.TempDir(), "none.jsonl"), Now: now})["md"]
	if !strings.Contains(got, "**no log**") || strings.Contains(got, "**log whole**") || strings.Contains(got, "No call was denied") {
		t.Error(got)
	}
	if _, err := Build(Input{Log: t.TempDir(), Now: now}); err == nil {
		t.Error("a directory passes for a log")
	}
}

// TestSince: what is older is left out, of counts too.
func TestSince(t *testing.T) {
	path := writeLog(t, func(add func(map[string]any)) {
		add(map[string]any{"tool": "old", "verdict": "deny", "reason": "long ago", "time": "2025-01-01T00:00:00.000000Z"})
		add(map[string]any{"tool": "new", "verdict": "deny", "reason": "today"})
	})
	got := rendered(t, Input{Log: path, Now: now, Since: now.AddDate(0, 0, -1)})["md"]
	if strings.Contains(got, "long ago") || !strings.Contains(got, "today") || !strings.Contains(got, "**deny** 1,") {
		t.Error(got)
	}
}
