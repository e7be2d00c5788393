package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-bouncer/bouncer/internal/clientconfig"
)

// entryOf surveys a config with one entry.
func entryOf(t *testing.T, command string, args ...string) Server {
	t.Helper()
	dir := t.TempDir()
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"a": map[string]any{"command": command, "args": args}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	all := Survey(clientconfig.Env{GOOS: "linux", Home: filepath.Join(dir, "home"), Dir: dir, Getenv: func(string) string { return "" }}, "/opt/bouncer")
	if len(all) != 1 || len(all[0].Servers) != 1 {
		t.Fatalf("%q is not one entry: %+v", args, all)
	}
	return all[0].Servers[0]
}

// TestNoFlagHides: an entry that a repository brings along cannot keep the report from telling what weakens it, whatever
// stands before the flag.
func TestNoFlagHides(t *testing.T) {
	const weak = "runs with --audit best-effort"
	for name, before := range map[string][]string{
		"nothing":                   {},
		"a switch":                  {"--no-args"},
		"a switch and a name":       {"--no-args", "--intent", "--name"},
		"a switch and a joined one": {"--no-args", "--name=x"},
		"the end of a note":         {"--intent", "a; b"},
		"quotes":                    {"--intent", `say "`},
		"a quoted rest":             {"--intent", `"; it names no command after -- and has no x, so it cannot start`},
		"another beginning":         {"--intent", `with --audit required; with --`},
		"a line break":              {"--intent", "a\nb"},
		"its own opposite":          {"--intent", "--audit required"},
	} {
		t.Run(name, func(t *testing.T) {
			s := entryOf(t, "/opt/bouncer", slices.Concat([]string{"run", "--name", "a"}, before, []string{"--audit", "best-effort", "--", "npx"})...)
			if !slices.Contains(s.Notes, weak) {
				t.Errorf("%+v does not say %s", s, weak)
			}
		})
	}
}

func TestWrappedNotes(t *testing.T) {
	for _, tt := range []struct {
		command string
		args    string
		want    Server
	}{
		{"/opt/bouncer", "run --name a -- npx", Server{Protection: Wrapped}},
		{"/opt/bouncer", "run --name a --no-args --policy p.yaml --log-keep=1 --otlp http://u:s3cret@x -- npx", Server{Protection: Wrapped,
			Notes: []string{"runs with --no-args", "runs with --policy p.yaml", "runs with --log-keep 1", "runs with --otlp", "and with more than is repeated here: look at the entry"}}},
		{"/opt/bouncer", "run --name a --mask s3cret -- npx", Server{Protection: Wrapped, Notes: []string{"runs with --mask"}}},
		{"bouncer", "run --name a -- npx", Server{Protection: Wrapped, Notes: []string{"by the program called bouncer that its client finds first"}}},
		// What it does is not known: a repository can name any program that is called so.
		{"/tmp/repo/bouncer", "run --name a -- npx", Server{Protection: Unclear, Notes: []string{otherBinary}}},
		{"/tmp/with --audit/bouncer", "run --name a --audit best-effort -- npx", Server{Protection: Unclear, Notes: []string{otherBinary, "runs with --audit best-effort"}}},
		{"/opt/bouncer", "run --name a -- /opt/bouncer run --name a -- npx", Server{Protection: Wrapped, Notes: []string{"wrapped twice"}}},
		{"/opt/bouncer", "run --name a", Server{Protection: Unclear, Notes: []string{cannotStart}}},
	} {
		got := entryOf(t, tt.command, strings.Fields(tt.args)...)
		got.Name, got.Identity = "", nil
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.command, tt.args, diff)
		}
	}
}

// TestGapsAreSeen: a server that is not protected stands in the report however many others are, and no green badge stands
// over it.
func TestGapsAreSeen(t *testing.T) {
	var many []Server
	for i := range 3 * rulesMost {
		many = append(many, Server{Name: fmt.Sprint("wrapped-", i), Protection: Wrapped})
	}
	for name, clients := range map[string][]Config{
		"the last of many": {{Path: "/a", Title: "Cursor", Servers: append(slices.Clone(many), Server{Name: "needle", Protection: Unwrapped})}},
		"in another layout": {{Path: "/a", Title: "Cursor", Servers: many}, {Path: "/b", Title: "VS Code", Servers: many[:1],
			Notes: []string{`it also holds "needle", the layout of others: servers there are not protected`}}},
		"alone, in another layout": {{Path: "/b", Title: "VS Code", Notes: []string{`it also holds "needle", the layout of others: servers there are not protected`}}},
		"unreadable":               {{Path: "/a", Title: "Cursor", Servers: many}, {Path: "/b", Title: "VS Code", Problem: "needle"}},
	} {
		for format, got := range rendered(t, Input{Log: filepath.Join("testdata", "audit.jsonl"), Now: now, Clients: clients}) {
			if !strings.Contains(got, "needle") || !strings.Contains(got, "gaps") || strings.Contains(got, ">protection<") || strings.Contains(got, "**protection**") {
				t.Errorf("%s: the %s report shows no gap: %.1500s", name, format, got)
			}
		}
	}
}
