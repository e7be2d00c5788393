package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/policytest"
)

// TestHeuristicsOnRealTools compares the heuristics with what a person says of the tools of 40 servers. They may differ where
// the file says why; precision and recall are of arguments, a "?" counts as one.
func TestHeuristicsOnRealTools(t *testing.T) {
	byName := map[string]policy.Tool{}
	for _, s := range policytest.Servers(t) {
		for _, tool := range s.Tools {
			byName[s.File+" "+tool.Name] = tool
		}
	}
	data, err := os.ReadFile(filepath.Join("testdata", "reviewed-sinks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	right, extra, missed, tools, servers := 0, 0, 0, 0, map[string]bool{}
	for row := range strings.Lines(string(data)) {
		row = strings.TrimSpace(row)
		if row == "" || row[0] == '#' {
			continue
		}
		row, why, _ := strings.Cut(row, " # ")
		name, want, _ := strings.Cut(row, ": ")
		tool, ok := byName[name]
		if !ok {
			t.Errorf("no tool %s in the captured lists", name)
			continue
		}
		tools++
		server, _, _ := strings.Cut(name, " ")
		servers[server] = true
		got := sinkString(policy.Heuristics(tool))
		switch {
		case got != want && why == "":
			t.Errorf("%s: sinks %s, want %s, or a reason why not", name, got, want)
		case got == want && why != "":
			t.Errorf("%s: the heuristics agree now, so the reason can go", name)
		}
		has, wants := sinkSet(got), sinkSet(want)
		for sink := range has {
			if wants[sink] {
				right++
			} else {
				extra++
				t.Logf("%s: %s is no destination: %s", name, sink, why)
			}
		}
		for sink := range wants {
			if !has[sink] {
				missed++
				t.Logf("%s: %s is missed: %s", name, sink, why)
			}
		}
	}
	t.Logf("%d tools of %d servers: precision %d of %d (%.0f %%), recall %d of %d (%.0f %%)", tools, len(servers),
		right, right+extra, 100*float64(right)/float64(right+extra), right, right+missed, 100*float64(right)/float64(right+missed))
	if tools < 250 || len(servers) < 30 {
		t.Errorf("only %d tools of %d servers were reviewed", tools, len(servers))
	}
}

func sinkSet(text string) map[string]bool {
	out := map[string]bool{}
	for _, s := range strings.Fields(text) {
		if s != "-" {
			out[s] = true
		}
	}
	return out
}

func sinkString(r policy.Rule) string {
	switch {
	case !r.Exfiltrating:
		return "-"
	case len(r.SinkParams) == 0:
		return "?"
	}
	return paramString(r.SinkParams)
}

func paramString(params []policy.Param) string {
	var out []string
	for _, p := range params {
		out = append(out, p.String())
	}
	return strings.Join(out, " ")
}

// Every captured tool gets a rule that says why, and no schema of an honest server is too much to read.
func TestHeuristicsOnEveryCapturedTool(t *testing.T) {
	var tools, exfiltrating, implied, writing, budgeted int
	for _, s := range policytest.Servers(t) {
		for _, tool := range s.Tools {
			r := policy.Heuristics(tool)
			tools++
			if r.Why == "" || r.Layer != policy.Heuristic || r.Tool != tool.Name {
				t.Errorf("%s %s: incomplete rule %+v", s.File, tool.Name, r)
			}
			// GitLab's lists its tools with schemas that say nothing: every argument is judged.
			if lost := s.File == "gitlab-official"; lost != strings.Contains(r.Why, "its input schema") {
				t.Errorf("%s %s: %s", s.File, tool.Name, r.Why)
			}
			if r.Exfiltrating {
				exfiltrating++
				if len(r.SinkParams) == 0 {
					implied++
				}
			}
			if len(r.WriteParams) > 0 {
				writing++
			}
			if r.MaxCalls != nil {
				budgeted++
			}
			for _, p := range r.SinkParams[:min(3, len(r.SinkParams))] { // each looks at the whole schema again
				if !policy.HasArgument(tool, p) {
					t.Errorf("%s %s: sink %s is not in its schema", s.File, tool.Name, p)
				}
			}
		}
	}
	t.Logf("%d tools: %d exfiltrating (%d without a visible destination), %d writing paths, %d with a budget", tools, exfiltrating, implied, writing, budgeted)
	if tools < 1800 {
		t.Errorf("only %d tools", tools)
	}
}
