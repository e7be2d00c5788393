package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// show runs policy show over a list of tools and a policy, and returns its exit code and what it printed.
func show(t *testing.T, list, rules string, args ...string) (int, string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cmd := newPolicyShow()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{"--tools", write("shop.json", list), "--policy", write("p.yaml", rules)}, args...))
	err := cmd.Execute()
	if err == nil {
		return exitDone, out.String()
	}
	var coded *exitError
	if !errors.As(err, &coded) {
		return exitUsage, err.Error()
	}
	return coded.code, err.Error()
}

const shopTools = `{"serverInfo":{"name":"shop"},"tools":[
	{"name":"send_invoice","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"text":{"type":"string"},"copy":{"type":"boolean"}}}},
	{"name":"remove_order","inputSchema":{"type":"object","properties":{"order":{"type":"string"}},"required":["order"]}},
	{"name":"get_page","inputSchema":{"type":"object","properties":{"url":{"type":"string"},"depth":{"type":"integer"}}}},
	{"name":"odd","inputSchema":{}}]}`

// TestPolicyShow: for every argument what it is, by which rule, and why.
func TestPolicyShow(t *testing.T) {
	code, text := show(t, shopTools, "version: 1\ntools:\n  remove_order: {consequence: {named: [order]}, max_calls: 1}\n", "--json")
	if code != exitDone {
		t.Fatal(code, text)
	}
	var got struct {
		Version int
		Servers []shown
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, tool := range got.Servers[0].Tools {
		for _, a := range tool.Arguments {
			lines = append(lines, strings.Join([]string{tool.Rule.Tool, string(tool.Layer), a.Name, string(a.Use), a.Why}, "|"))
		}
	}
	want := []string{
		"send_invoice|heuristic|to|sink|names a recipient",
		"send_invoice|heuristic|text|content|goes along with a call that sends: links, addresses and accounts in it are looked at",
		"send_invoice|heuristic|copy|nothing|cannot hold a destination",
		"remove_order|user|order|named|the user's policy says so",
		"get_page|heuristic|url|sink|names an address on the network",
		"get_page|heuristic|depth|content|goes along with a call that sends: links, addresses and accounts in it are looked at",
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Error(d)
	}
	odd := got.Servers[0].Tools[3]
	if odd.Schema == "" || !odd.Rule.Exfiltrating || got.Version != 1 || got.Servers[0].Profile != policy.Standard {
		t.Errorf("%+v", odd)
	}
}

// TestPolicyShowText: what a person reads has the rule's place.
func TestPolicyShowText(t *testing.T) {
	code, text := show(t, shopTools, "version: 1\nprofile: strict\ntools:\n  remove_order: {consequence: {named: [order]}, max_calls: 1}\n", "--tool", "remove_order")
	for _, want := range []string{"server shop, profile strict", "remove_order: changes things", "p.yaml:4:3", "order  named", "max_calls: 1"} {
		if code != exitDone || !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "send_invoice") {
		t.Error("a tool that was not asked for:", text)
	}
}

// TestPolicyShowRefuses: what is no list of tools is an error, not an empty answer.
func TestPolicyShowRefuses(t *testing.T) {
	for _, c := range []struct {
		list, rules, want string
		code              int
		args              []string
	}{
		{`{"tools":{}}`, "", "no list of tools", exitInvalid, nil},
		{`{`, "", "shop.json", exitInvalid, nil},
		{shopTools, "x: {nope: 1}", "nope", exitInvalid, nil},
		{shopTools, "", `no tool is called "nope"`, exitFailed, []string{"--tool", "nope"}},
		{shopTools, "", "--tools has the tools already", exitUsage, []string{"--", "some-server"}},
		{shopTools, "", "profile", exitUsage, []string{"--profile", "lax"}},
	} {
		if code, text := show(t, c.list, c.rules, c.args...); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%v: exit %d, %s", c.args, code, text)
		}
	}
}
