package mcpserver

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

func TestResources(t *testing.T) {
	s, home := newServer(t, "version: 1\nprofile: strict\ntools:\n  my_tool: {max_calls: 3}\n")
	writeLog(t, home, entries()...)
	eachTransport(t, s, func(t *testing.T, c *mcp.ClientSession) {
		var uris []string
		for r, err := range c.Resources(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			uris = append(uris, r.URI)
			if r.MIMEType != "application/json" || r.Title == "" || r.Description == "" {
				t.Errorf("%+v", r)
			}
		}
		for r, err := range c.ResourceTemplates(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			uris = append(uris, r.URITemplate)
		}
		if d := cmp.Diff([]string{"bouncer://audit/summary", "bouncer://policies/builtin", "bouncer://policies/effective", "bouncer://audit/{id}"}, uris); d != "" {
			t.Error(d)
		}
		var builtin Builtin
		read(t, c, "bouncer://policies/builtin", &builtin)
		var packs []string
		for _, p := range builtin.Packs {
			packs = append(packs, p.Name)
			if len(p.Tools) == 0 || len(p.Packages) == 0 {
				t.Errorf("pack %s is empty", p.Name)
			}
		}
		for _, want := range []string{"filesystem", "email", "bash", "http"} {
			if !slices.Contains(packs, want) {
				t.Errorf("no pack %s in %s", want, packs)
			}
		}
		var effective Effective
		read(t, c, "bouncer://policies/effective", &effective)
		if effective.Profile != "strict" || len(effective.User.Tools) != 1 || effective.User.File != "policy.yaml" || !slices.Equal(effective.Packs, packs) {
			t.Errorf("%+v", effective)
		}
		var summary Summary
		read(t, c, "bouncer://audit/summary", &summary)
		if summary.Verdicts != 4 || len(summary.Recent) != 4 {
			t.Errorf("%+v", summary)
		}
	})
}

func TestAuditEntry(t *testing.T) {
	s, home := newServer(t, "")
	c := connect(t, s, "memory")
	missing := func(uri string) {
		t.Helper()
		if res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s was read: %+v", uri, res.Contents[0])
		}
	}
	missing("bouncer://audit/abcd2345") // no log yet
	writeLog(t, home, entries()...)
	var entry Entry
	read(t, c, "bouncer://audit/abcd2345", &entry)
	if len(entry.Lines) != 2 || entry.Lines[0].Verdict != "ask" || entry.Lines[1].Answer != "timeout" {
		t.Errorf("%+v", entry)
	}
	if strings.Contains(string(mustJSON(entry)), "secret text") {
		t.Error("the arguments of the call are shown")
	}
	read(t, c, "bouncer://audit/efgh2345", &entry)
	if len(entry.Lines) != 1 || len(entry.Lines[0].Evidence) != 1 || entry.Lines[0].Evidence[0].Snippet == "" {
		t.Errorf("%+v", entry)
	}
	clean(t, string(mustJSON(entry)))
	for _, id := range []string{"nosuchid", "..%2f..%2fetc", "a%20b", strings.Repeat("a", 65), "send_email"} {
		missing("bouncer://audit/" + id)
	}
	missing("bouncer://policies/other")
}

// TestRuleSchema: the schema that is shown has the keys that the loader takes, no more and no fewer, and both think the
// same of a rule.
func TestRuleSchema(t *testing.T) {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal([]byte(ruleSchema), &schema); err != nil {
		t.Fatal(err)
	}
	examples := map[string]string{"exfiltrating": "true", "sink_params": `["to"]`, "trusted_destinations": `["@corp.example"]`, "write_params": `["path"]`,
		"allowed_path_prefixes": `["/tmp"]`, "arg_patterns": `{"id": "[a-z]+"}`, "arg_values": `{"kind": ["a", 1]}`, "max_calls": "3"}
	if d := cmp.Diff(slices.Sorted(maps.Keys(examples)), slices.Sorted(maps.Keys(schema.Properties))); d != "" {
		t.Error(d)
	}
	for key, value := range examples {
		rule := `{"` + key + `": ` + value + `}`
		if _, err := load.Bytes("x", []byte(`{"tool": `+rule+`}`)); err != nil {
			t.Errorf("the loader refuses %s: %v", rule, err)
		}
		validate(t, []byte(ruleSchema), []byte(rule))
	}
	// A key that the loader learns has to be shown: it names all of its keys when it meets a near miss of one.
	for key := range schema.Properties {
		_, err := load.Bytes("x", []byte(`tool: {`+key+`x: 1}`))
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("the loader does not know %s: %v", key, err)
		}
	}
}

// TestLogChanges: the counts follow a log that grows, is rotated, is cut, or holds what is no entry.
func TestLogChanges(t *testing.T) {
	s, home := newServer(t, "")
	path := filepath.Join(home, "audit.jsonl")
	lines := func(want, unreadable int) { // verdicts and unreadable lines
		t.Helper()
		got, err := s.summary(t.Context(), 10)
		if err != nil || got.Verdicts != want || got.Unreadable != unreadable {
			t.Errorf("%d verdicts, %d unreadable (%v), wanted %d and %d", got.Verdicts, got.Unreadable, err, want, unreadable)
		}
	}
	write := func(n int) {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Repeat(`{"verdict":"allow","tool":"x"}`+"\n", n)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines(0, 0)
	write(4)
	lines(4, 0)
	lines(4, 0)
	appendText(t, path, `{"verdict":"deny","tool":"half`)
	lines(4, 0)
	appendText(t, path, `"}`+"\n")
	lines(5, 0)
	appendText(t, path, strings.Repeat("x", maxLine+10)+"\n"+`{"verdict":"allow","tool":"after"}`+"\n")
	lines(6, 1)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	lines(0, 0)
	write(1)
	lines(1, 0)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	lines(0, 0)
	write(4)
	lines(4, 0)
	os.Remove(path)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.summary(t.Context(), 1); err == nil {
		t.Error("a directory is read as a log")
	}
}

// TestNamesWithoutEnd: an agent that calls ever new tools cannot make the counts grow without end, and none is lost.
func TestNamesWithoutEnd(t *testing.T) {
	s, home := newServer(t, "")
	var text strings.Builder
	const n = maxCounts + 500
	for i := range n {
		text.WriteString(`{"verdict":"deny","contract":"pinning","server":"s","tool":"t` + strings.Repeat("x", i%7) + string(mustJSON(i)) + `"}` + "\n")
	}
	if err := os.WriteFile(filepath.Join(home, "audit.jsonl"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := s.summary(t.Context(), 1)
	if err != nil || len(got.ByTool) > maxCounts+1 || got.ByVerdict["deny"] != n || got.ByTool[others] != 500 {
		t.Errorf("%d tools, %d denied, %d others, %v", len(got.ByTool), got.ByVerdict["deny"], got.ByTool[others], err)
	}
}

func TestCompletion(t *testing.T) {
	s, home := newServer(t, "version: 1\nservers: {crm: {tools: {x: {}}}}\n")
	writeLog(t, home, entries()...)
	prompt := func(name string) *mcp.CompleteReference {
		return &mcp.CompleteReference{Type: "ref/prompt", Name: name}
	}
	eachTransport(t, s, func(t *testing.T, c *mcp.ClientSession) {
		for _, row := range []struct {
			ref             *mcp.CompleteReference
			argument, typed string
			want            []string
		}{
			{prompt(promptReview), "server_name", "file", []string{"filesystem", "files"}},
			{prompt(promptReview), "server_name", "@modelcontextprotocol/server-file", []string{"@modelcontextprotocol/server-filesystem"}},
			{prompt(promptReview), "server_name", "cr", []string{"crm"}},
			{prompt(promptGenerate), "server_name", "gmail, SLA", []string{"gmail,slack"}},
			{prompt(promptGenerate), "risk_level", "s", []string{"standard", "strict"}},
			{prompt(promptGenerate), "risk_level", "x", []string{}},
			{prompt(promptGenerate), "other", "", []string{}},
			{&mcp.CompleteReference{Type: "ref/resource", URI: uriEntry}, "id", "", []string{"ijkl2345", "efgh2345", "abcd2345"}},
		} {
			res, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: row.ref, Argument: mcp.CompleteParamsArgument{Name: row.argument, Value: row.typed}})
			if err != nil {
				t.Fatalf("%s %q: %v", row.argument, row.typed, err)
			}
			if d := cmp.Diff(row.want, res.Completion.Values); d != "" {
				t.Errorf("%s %q: %s", row.argument, row.typed, d)
			}
		}
	})
}
