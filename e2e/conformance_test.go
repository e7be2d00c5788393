package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const conformanceSuite = "@modelcontextprotocol/conformance"

// conforming are the scenarios of the official suite that bouncer serve has to pass.
var conforming = []string{
	"server-initialize", "logging-set-level", "ping", "completion-complete", "tools-list", "resources-list", "prompts-list",
	"dns-rebinding-protection",
}

// foreignScenarios are those that do not apply, by the reason: a piece of the row of docs/serve.md that has to name them.
var foreignScenarios = map[string][]string{
	"the suite's own tools": {
		"tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content",
		"tools-call-with-logging", "tools-call-error", "tools-call-with-progress", "tools-call-sampling", "tools-call-elicitation",
		"json-schema-2020-12", "elicitation-sep1034-defaults", "elicitation-sep1330-enums",
	},
	"the suite's own resources": {"resources-read-text", "resources-read-binary", "resources-templates-read"},
	"the suite's own prompts": {
		"prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image",
	},
	"no subscriptions": {"resources-subscribe", "resources-unsubscribe"},
	"no sessions":      {"server-sse-polling", "server-sse-multiple-streams"},
}

var (
	scenarioLine = regexp.MustCompile(`(?m)^  - ([a-z0-9-]+)`)
	passedLine   = regexp.MustCompile(`(?m)^Passed: ([1-9]\d*)/([1-9]\d*), 0 failed, 0 warnings`)
)

// TestEveryScenarioIsPlaced: each server scenario of the suite is either run, or said in docs/serve.md not to apply.
func TestEveryScenarioIsPlaced(t *testing.T) {
	t.Parallel()
	suite := needProgram(t, conformanceSuite, "conformance")
	listed := runs(t, newSandbox(t), append(suite, "list", "--server")...)
	var have []string
	for _, m := range scenarioLine.FindAllStringSubmatch(listed.stdout, -1) {
		have = append(have, m[1])
	}
	if listed.code != 0 || len(have) < len(conforming) {
		t.Fatalf("%d scenarios are listed: %v", len(have), listed)
	}
	placed := slices.Concat(slices.Collect(maps.Values(foreignScenarios))...)
	placed = append(placed, conforming...)
	slices.Sort(have)
	slices.Sort(placed)
	if diff := cmp.Diff(placed, have); diff != "" {
		t.Errorf("scenarios (-placed here +listed by the suite):\n%s", diff)
	}

	page, err := os.ReadFile(filepath.Join(repoRoot(), "docs", "serve.md"))
	if err != nil {
		t.Fatal(err)
	}
	for reason, scenarios := range foreignScenarios {
		row := ""
		for _, line := range strings.Split(string(page), "\n") {
			if strings.HasPrefix(line, "|") && strings.Contains(line, reason) {
				row = line
			}
		}
		for _, scenario := range scenarios {
			if !strings.Contains(row, "`"+scenario+"`") {
				t.Errorf("docs/serve.md does not say that %s does not apply, under %q", scenario, reason)
			}
		}
	}
	for _, scenario := range conforming {
		if !strings.Contains(string(page), "`"+scenario+"`") {
			t.Errorf("docs/serve.md does not say that %s is passed", scenario)
		}
	}
}

// TestConformance: bouncer serve passes the scenarios of the official suite that apply to it.
func TestConformance(t *testing.T) {
	t.Parallel()
	suite := needProgram(t, conformanceSuite, "conformance")
	url := serveHTTP(t, newSandbox(t))
	for _, scenario := range conforming {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			got := runs(t, newSandbox(t), append(suite, "server", "--url", url, "--scenario", scenario)...)
			m := passedLine.FindStringSubmatch(got.stdout)
			if got.code != 0 || m == nil || m[1] != m[2] { // a scenario that checked nothing ends with 0 as well
				t.Errorf("%s: %v", scenario, got)
			}
		})
	}
}
