package mcpserver

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// TestNoKeyIsLeftOut: whatever a rule can say is in the view of it. A view without on_tainted: allow would show a gate where
// there is none.
func TestNoKeyIsLeftOut(t *testing.T) {
	inside := map[string]bool{"Guessed": true, "Declared": true, "Waived": true, // what Bouncer works out for itself
		"Layer": true, "Pack": true, "At": true} // these are the position
	view := reflect.TypeFor[Rule]()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[policy.Rule]()) {
		if _, ok := view.FieldByName(f.Name); !ok && !inside[f.Name] {
			t.Errorf("a rule's %s is not in the view", f.Name)
		}
	}
}

func TestFullRules(t *testing.T) {
	s, _ := newServer(t, `version: 1
clean_context: allow
first_use: allow
destinations: {team: ["@corp.example"]}
tools:
  share:
    sinks: [{args: [owner, repo], kind: repo}]
    content: [body]
    trusted_destinations: [$team]
    deny: [x/y]
    intent: [share]
    consequence: {named: [file_id], own: [title]}
    on_tainted: allow
    on_unproven: deny
    require_approval: true
    extends: pack
    reads: true
    public: {object: [owner, repo], unless: {visibility: [internal]}}
    results: [{path: "participants", label: attributed, kind: email}]
  get: {exfiltrating: true, sink_params: [url], fetch: true, verbatim: ask}
`)
	get := Rule{Tool: "get", Exfiltrating: true, SinkParams: []string{"url"}, Fetch: true, Verbatim: "ask"}
	share := Rule{Tool: "share", Exfiltrating: true, SinkParams: []string{"owner", "repo"}, Sinks: []SinkView{{Args: []string{"owner", "repo"}, Kind: "repo"}},
		Content: []string{"body"}, TrustedDestinations: []string{"@corp.example"}, Deny: []string{"x/y"}, Intent: []string{"share"},
		Consequence: &ConsequenceView{Named: []string{"file_id"}, Own: []string{"title"}}, OnTainted: "allow", OnUnproven: "deny",
		Reads: &ObjectView{Object: []string{}}, Public: &ObjectView{Object: []string{"owner", "repo"}, Unless: map[string][]string{"visibility": {"internal"}}},
		RequireApproval: true, Extends: true, Results: []ResultView{{Path: "participants", Label: "attributed", Kind: "email"}}}
	eachTransport(t, s, func(t *testing.T, c *mcp.ClientSession) {
		var got Policies
		call(t, c, "bouncer_get_active_policies", nil, &got)
		for i := range got.User.Tools {
			got.User.Tools[i].Why, got.User.Tools[i].Position = "", ""
		}
		want := UserView{File: "policy.yaml", CleanContext: true, FirstUse: true, Tools: []Rule{get, share}, Servers: []ScopeView{}}
		if diff := cmp.Diff(want, got.User); diff != "" {
			t.Errorf("the user's policy (-want +got):\n%s", diff)
		}
	})
}
