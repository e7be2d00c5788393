package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// law checks what holds of any input whatever: it is refused, or wrapping it touches entries alone, once, and can be
// taken back to the byte.
func law(t *testing.T, data []byte) { t.Helper(); lawOf(t, "mcp.json", data) }

// lawOf is law for a file of that name, whose ending says its format.
func lawOf(t *testing.T, name string, data []byte) {
	t.Helper()
	planText := func(text []byte, o Options) (*Change, error) { return planAs(name, text, o) }
	before := bytes.Clone(data)
	c, err := planText(data, testOptions())
	if err != nil {
		if r := (*Refused)(nil); !errors.As(err, &r) {
			t.Fatalf("error %v is not a refusal", err)
		}
		if _, err := planText(data, undoOptions()); err == nil {
			t.Fatalf("wrap refuses what undo takes: %q", data)
		}
		return
	}
	wrapped := c.result()
	c.Diff()
	again, err := planText(wrapped, testOptions())
	if err != nil {
		t.Fatalf("wrapped text is refused: %v\n%s", err, wrapped)
	}
	if again.Edits() != 0 {
		t.Errorf("wrapped twice:\n%s", wrapped)
	}
	checkOutside(t, c, again)
	for i := range c.Entries {
		if c.Entries[i].Reason == errNotReversible.Error() {
			t.Errorf("entry %q is wrapped in a way that cannot be taken back", c.Entries[i].was)
		}
		if c.Entries[i].State == Wrapped {
			checkEntry(t, &c.Entries[i], &again.Entries[i])
		}
	}
	undo, err := planText(wrapped, undoOptions())
	if err != nil {
		t.Fatalf("undo of wrapped text is refused: %v", err)
	}
	if !slices.ContainsFunc(c.Entries, hadSentinel) {
		if back := undo.result(); !bytes.Equal(back, data) {
			t.Errorf("undo is not the identity: %s", cmp.Diff(string(data), string(back)))
		}
		if first, err := planText(data, undoOptions()); err != nil || first.Edits() != 0 {
			t.Errorf("undo of what was never wrapped: %v, %d edits", err, first.Edits())
		}
	}
	if !bytes.Equal(before, data) {
		t.Error("the input was written to")
	}
}

// hadSentinel reports an entry that undo rightly edits though it was not wrapped here.
func hadSentinel(e Entry) bool {
	if e.form.inline && behind(e.found, testBouncer) {
		return true
	}
	if e.parts != nil {
		return false
	}
	v, err := hujson.Parse(e.was)
	_, has := member(v, Sentinel)
	return err != nil || has
}

// checkOutside compares every byte outside the edited entries.
func checkOutside(t *testing.T, a, b *Change) {
	t.Helper()
	if len(a.Entries) != len(b.Entries) {
		t.Fatalf("%d entries became %d", len(a.Entries), len(b.Entries))
	}
	outside := func(c *Change, edited []bool) []byte {
		var out []byte
		at := 0
		for i := range c.Entries {
			if e := &c.Entries[i]; edited[i] {
				out = append(out, c.doc.text[at:e.from]...)
				at = e.from + len(e.was)
			}
		}
		return append(out, c.doc.text[at:]...)
	}
	var edited []bool
	for i := range a.Entries {
		edited = append(edited, a.Entries[i].edited())
	}
	if got, want := outside(b, edited), outside(a, edited); !bytes.Equal(got, want) {
		t.Errorf("bytes outside the entries changed: %s", cmp.Diff(string(want), string(got)))
	}
}

// checkEntry checks what a wrapped entry starts, and that its other members are as they were. now is the entry as it is
// read from the wrapped file.
func checkEntry(t *testing.T, e, now *Entry) {
	t.Helper()
	old, _ := readShape(e.value, e.form)
	is, reason := readShape(now.value, now.form)
	if reason != "" || is.command != testBouncer || is.dash < 0 {
		t.Fatalf("entry starts %q %q (%s)", is.command, is.args, reason)
	}
	if diff := cmp.Diff(append([]string{old.command}, old.args...), is.args[is.dash+1:]); diff != "" {
		t.Errorf("other argv: %s", diff)
	}
	if e.parts != nil {
		return // whose bytes checkOutside has compared, and prove what they say
	}
	a, err1 := hujson.Parse(e.was)
	b, err2 := hujson.Parse(e.is)
	if err1 != nil || err2 != nil {
		t.Fatalf("entry does not parse: %v, %v", err1, err2)
	}
	for _, m := range a.Value.(*hujson.Object).Members {
		name := textOf(m.Name)
		if name == e.form.key || name == "args" {
			continue
		}
		kept, ok := member(b, name)
		if !ok || !bytes.Equal(e.was[m.Value.StartOffset:m.Value.EndOffset], e.is[kept.Value.StartOffset:kept.Value.EndOffset]) {
			t.Errorf("member %q was changed", name)
		}
	}
}

func TestGeneratedConfigs(t *testing.T) {
	wrapped := 0
	for seed := range uint64(1000) {
		g := newGenerator(seed)
		text := g.file()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c, err := planText(text, testOptions())
			if err != nil {
				t.Fatalf("generated config is refused: %v\n%s", err, text)
			}
			wrapped += c.Edits()
			law(t, text)
			if t.Failed() {
				t.Logf("%s", text)
			}
		})
	}
	if wrapped < 800 {
		t.Errorf("the generator made only %d entries that are wrapped", wrapped)
	}
}

func TestGeneratedLayouts(t *testing.T) {
	for _, l := range layouts {
		wrapped := 0
		for seed := range uint64(200) {
			g := newGenerator(seed)
			g.layout = l.key
			text := g.file()
			t.Run(fmt.Sprint(l.key, seed), func(t *testing.T) {
				c, err := planText(text, testOptions())
				if err != nil {
					t.Fatalf("generated config is refused: %v\n%s", err, text)
				}
				for _, e := range c.Entries {
					if e.State == Wrapped && e.block == l.key && l.inline == bytes.Contains(e.is, []byte(Sentinel)) {
						t.Errorf("%s: wrapped as %s", l.key, e.is)
					}
				}
				wrapped += c.Edits()
				law(t, text)
				if t.Failed() {
					t.Logf("%s", text)
				}
			})
		}
		if wrapped < 100 {
			t.Errorf("%s: the generator made only %d entries that are wrapped", l.key, wrapped)
		}
	}
}

func FuzzWrap(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(newGenerator(seed).file())
	}
	for _, text := range []string{
		"", "\xef\xbb\xbf", "//", "[", `{"mcpServers":{"a":{"command":"x","args":[/*c*/]}}}`,
		`{"mcpServers":{"a":{"command":"x","args":null,},},}`, "{\"mcpServers\":{\"a\":{\"command\":\"x\"// c\n}}}",
		`{"projects":{"/p":{"mcpServers":{"":{"command":"x"}}}}}`, "\xff\xfe{\x00", "{//\r}\n}",
		`{"mcpServers":{"--":{"command":"--","args":["--"]}}}`,
		`{"mcp":{"a":{"command":["x",/*c*/]}},"servers":{"":{"command":"x"}}}`, `{"context_servers":{"a":{"command":{"path":"x","args":null}}}}`,
		`{"mcpServers":{"a":{"command":"bouncer","args":["run","--name","--","--","x"],"x-bouncer-upstream":{"command":"x"}}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { law(t, data) })
}

// generator writes random configs, in random spellings.
type generator struct {
	layout                  string // in JSON
	r                       *rand.Rand
	eol, indent             string
	comments, commas, lines bool
}

func newGenerator(seed uint64) *generator {
	g := &generator{r: rand.New(rand.NewPCG(seed, 1))}
	g.eol = pick(g, "\n", "\n", "\r\n")
	g.indent = pick(g, "  ", "\t", "    ", "")
	g.comments, g.commas, g.lines = g.r.IntN(3) == 0, g.r.IntN(3) == 0, g.r.IntN(3) > 0
	return g
}

func pick[T any](g *generator, from ...T) T { return from[g.r.IntN(len(from))] }

func (g *generator) file() []byte {
	if g.layout == "" {
		g.layout = "mcpServers"
	}
	members := []string{g.pair(g.layout, g.servers(1))}
	for range g.r.IntN(3) {
		members = append(members, g.pair(fmt.Sprintf("k%d", len(members)), g.value(1)))
	}
	if g.r.IntN(3) == 0 {
		blocks := []string{}
		for i := range g.r.IntN(3) {
			blocks = append(blocks, g.pair(fmt.Sprintf("/p%d", i), g.object(2, g.pair("history", g.value(3)), g.pair("mcpServers", g.servers(3)))))
		}
		members = append(members, g.pair("projects", g.object(1, blocks...)))
	}
	g.r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	text := g.space() + g.object(0, members...) + pick(g, "", g.eol, g.eol+g.eol)
	if g.comments {
		text += pick(g, "", "// the end", "/* the end */")
	}
	if g.r.IntN(5) == 0 {
		text = "\xef\xbb\xbf" + text
	}
	return []byte(text)
}

func (g *generator) servers(depth int) string {
	var out []string
	for i := range g.r.IntN(4) {
		name := pick(g, "files", "--", "", "b\\u00fc", "x\\ny", "__proto__", "a b", "${X}", "日本")
		out = append(out, g.pair(fmt.Sprintf("%s%s", name, strings.Repeat("'", i)), g.entry(depth+1)))
	}
	return g.object(depth, out...)
}

func (g *generator) entry(depth int) string {
	switch {
	case g.layout == "mcp" && g.r.IntN(2) == 0: // opencode's
		words := []string{g.str()}
		for range g.r.IntN(4) {
			words = append(words, g.str())
		}
		return g.object(depth, g.pair("type", `"local"`), g.pair("command", g.list(depth+1, "[", "]", words)), g.pair("environment", `{"K": "v"}`))
	case g.layout == "context_servers" && g.r.IntN(2) == 0: // Zed's old one
		inner := []string{g.pair("path", g.str())}
		if g.r.IntN(3) > 0 {
			inner = append(inner, g.pair("args", g.list(depth+2, "[", "]", []string{g.str()})))
		}
		return g.object(depth, g.pair("command", g.object(depth+1, inner...)), g.pair("settings", "{}"))
	}
	members := []string{g.pair("command", g.str())}
	switch g.r.IntN(6) {
	case 0:
	case 1:
		members = append(members, g.pair("args", "null"))
	default:
		var args []string
		for range g.r.IntN(5) {
			args = append(args, g.str())
		}
		members = append(members, g.pair("args", g.list(depth+1, "[", "]", args)))
	}
	if g.r.IntN(2) == 0 {
		members = append(members, g.pair("env", g.object(depth+1, g.pair("K", g.str()))))
	}
	if g.r.IntN(3) == 0 {
		members = append(members, g.pair("x-odd", g.value(depth+1)))
	}
	if g.r.IntN(8) == 0 {
		members[0] = g.pair("url", g.str())
	}
	g.r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return g.object(depth, members...)
}

func (g *generator) str() string {
	return `"` + pick(g, "npx", "-y", "--", "a b", `q\"q`, `C:\\x\\y`, "${V:-${W}}", "日本語", `\u00e9\ud83d\ude00`, "<a&b>", "run", `\/`, "'", "// no", "{", "]", ",") + `"`
}

func (g *generator) value(depth int) string {
	switch g.r.IntN(7) {
	case 0:
		return pick(g, "1.50", "1E3", "725653563933458432", "-0")
	case 1:
		return pick(g, "true", "false", "null")
	case 2, 3:
		return g.str()
	case 4:
		if depth < 6 {
			return g.list(depth, "[", "]", []string{g.value(depth + 1), g.value(depth + 1)})
		}
		return "[]"
	default:
		if depth < 6 {
			return g.object(depth, g.pair("mcpServers", g.value(depth+1)), g.pair("command", g.value(depth+1)))
		}
		return "{}"
	}
}

func (g *generator) pair(name, value string) string {
	return `"` + name + `"` + pick(g, "", "", g.space()) + ":" + pick(g, " ", " ", "", g.space()) + value
}

func (g *generator) object(depth int, members ...string) string {
	return g.list(depth, "{", "}", members)
}

func (g *generator) list(depth int, open, end string, items []string) string {
	lines := g.lines && g.r.IntN(4) > 0
	var b strings.Builder
	b.WriteString(open)
	for i, item := range items {
		if lines {
			b.WriteString(g.eol + strings.Repeat(g.indent, depth+1))
		} else if i > 0 {
			b.WriteString(pick(g, " ", " ", "", "\t"))
		}
		b.WriteString(g.remark() + item + g.remark())
		if i+1 < len(items) || g.commas && g.r.IntN(2) == 0 {
			b.WriteString("," + g.remark())
		}
	}
	if lines {
		b.WriteString(g.eol + strings.Repeat(g.indent, depth))
	}
	return b.String() + pick(g, "", "", " ") + g.remark() + end
}

func (g *generator) remark() string {
	if !g.comments || g.r.IntN(4) > 0 {
		return ""
	}
	return pick(g, "/* c */", " /* \"a\": { */ ", "// it's, [here]"+g.eol, "/**/")
}

func (g *generator) space() string { return pick(g, "", " ", "\t", g.eol) + g.remark() }
