package report

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

// TestRulesAreTold: what a rule says is what the report says of it, the settings that let something pass above all.
func TestRulesAreTold(t *testing.T) {
	for rule, want := range map[string]string{
		`{}`:                                    "gates nothing but the tool's definition",
		`{exfiltrating: true}`:                  "carries values out; every argument is a destination",
		`{exfiltrating: true, content: [body]}`: "carries values out; a destination is every argument but `body`",
		`{exfiltrating: true, sink_params: [to, cc]}`:                                                        "carries values out to `to`, `cc`",
		`{sinks: [{args: [recipients], kind: email}], content: [subject, body]}`:                             "carries values out to `recipients`; `recipients` is a destination of kind `email`; is text, and no destination: `subject`, `body`",
		`{sinks: [{args: [owner, repo], kind: repo}]}`:                                                       "carries values out to `owner`, `repo`; `owner`, `repo` together are one destination of kind `repo`",
		`{sink_params: [to], exfiltrating: true, trusted_destinations: [$team], deny: [x@evil.example]}`:     "carries values out to `to`; trusts `@corp.example`; refuses `x@evil.example`",
		`{exfiltrating: true, sink_params: [to], on_tainted: allow, on_unproven: deny}`:                      "carries values out to `to`; a destination that is untrusted: **allow**; a destination that is unproven: **deny**",
		`{require_approval: true}`:                                                                           "a person is asked about every call",
		`{consequence: true}`:                                                                                "changes things",
		`{consequence: {named: [file_id], own: [title]}, intent: [delete, "remove"]}`:                        "changes things; the user must have named `file_id`; nobody else may dictate `title`; the user asks for it with `delete`, `remove`",
		`{exfiltrating: true, sink_params: [url], fetch: true, verbatim: allow}`:                             "carries values out to `url`; only reads from its destinations; an address that stands in untrusted text: **allow**",
		`{results: [{path: "participants", label: attributed, kind: email}, {path: ".", label: directory}]}`: "calls the field `participants` of its answer `attributed`; calls the field `.` of its answer `directory`",
		`{extends: pack, max_calls: 3}`:                                                                      "adds to the rule that it stands over; 3 calls a session",
		`{allowed_path_prefixes: [/work], arg_values: {mode: [a]}, arg_patterns: {x: "a+"}}`:                 "paths inside `/work`; `x` matches `a+`; `mode` is one of `a`",
	} {
		set, err := load.Bytes("p.yaml", []byte("version: 1\ndestinations: {team: [\"@corp.example\"]}\ntools:\n  t: "+rule+"\n"))
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if diff := cmp.Diff(want, markdown(joined(says(set.Tools["t"])))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rule, diff)
		}
	}
}

// TestLoosened: settings that let unvouched destinations pass are told at the top, and one by one.
func TestLoosened(t *testing.T) {
	set, err := load.Bytes("p.yaml", []byte(`version: 1
clean_context: allow
first_use: allow
tools:
  a: {exfiltrating: true, sink_params: [to], on_tainted: allow}
  b: {exfiltrating: true, sink_params: [to], on_tainted: deny, on_unproven: ask}
servers:
  mail:
    tools:
      c: {exfiltrating: true, sink_params: [to], on_unproven: allow}
      d: {exfiltrating: true, sink_params: [url], fetch: true, verbatim: allow}
`))
	if err != nil {
		t.Fatal(err)
	}
	got := rendered(t, Input{Log: filepath.Join("testdata", "audit.jsonl"), Now: now, Policy: Policy{Path: "p.yaml", Set: set}})
	for format, text := range got {
		for _, want := range []string{"5 settings of the policy let", "clean_context: allow", "first_use: allow", "on_tainted: allow", "on_unproven: allow", "verbatim: allow"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not tell %s", format, want)
			}
		}
	}
	quiet := rendered(t, Input{Log: filepath.Join("testdata", "audit.jsonl"), Now: now})["md"]
	if strings.Contains(quiet, "loosened") {
		t.Error("nothing is loosened, and the report says so")
	}
}
