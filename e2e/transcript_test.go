package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answer is the text of a tool result, and whether it is an error.
type answer struct {
	Text    string
	IsError bool
}

func textOf(t *testing.T, f frame) answer {
	t.Helper()
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	decode(t, f, &result)
	if len(result.Content) != 1 {
		t.Fatalf("%d blocks of content: %s", len(result.Content), shorten(f.raw))
	}
	return answer{result.Content[0].Text, result.IsError}
}

func writeJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// verdict is the part of a log line that the first version showed.
type verdict struct{ Tool, Verdict, Reason, Contract string }

// named checks what every line must say besides: which call, session and server it is of.
func named(t *testing.T, line []byte) {
	t.Helper()
	var v struct{ ID, Session, Server, Time string }
	if err := json.Unmarshal(line, &v); err != nil || v.ID == "" || v.Session == "" || v.Server == "" || v.Time == "" {
		t.Errorf("the line does not say what it is about (%v): %s", err, line)
	}
}

func auditLog(t *testing.T, s sandbox) (out []verdict) {
	t.Helper()
	f, err := os.Open(filepath.Join(s.bouncer, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var v verdict
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		if v.Verdict == "" { // a checkpoint
			continue
		}
		named(t, lines.Bytes())
		out = append(out, v)
	}
	return out
}

// TestFirstTranscript is the live transcript of the first version, verdict for verdict and reason for reason, in front of the
// real filesystem server: a wrapped config entry, a policy with a prefix and a budget, four writes.
func TestFirstTranscript(t *testing.T) {
	server := needPackage(t, filesystemServer)
	s := newSandbox(t)
	out := filepath.Join(s.work, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	config, policy := filepath.Join(s.work, "mcp-config.json"), filepath.Join(s.work, "user-policy.yaml")
	writeJSON(t, config, map[string]any{"mcpServers": map[string]any{"filesystem": map[string]any{
		"command": "bouncer", "args": []string{"run", "--config", config, "--upstream-name", "filesystem"},
		"x-bouncer-upstream": map[string]any{"command": server[0], "args": append(server[1:], s.work)},
	}}})
	write(t, policy, "write_file:\n  write_params: [path]\n  allowed_path_prefixes: [\""+out+"\"]\n  max_calls: 2\n")

	c := start(t, s, bouncerBinary(t), "run", "--config", config, "--upstream-name", "filesystem", "--policy", policy)
	c.initialize(nil)
	if names := toolNames(t, c.request("tools/list", map[string]any{})); len(names) != 14 {
		t.Errorf("%d tools are re-exported, want the server's 14: %q", len(names), names)
	}
	file := func(name string) map[string]any {
		return map[string]any{"path": filepath.Join(out, name), "content": "hello"}
	}
	outside := "[bouncer blocked] path='/etc/bouncer_should_not_write.txt' outside allowed prefixes ['" + out + "']"
	spent := "[bouncer blocked] call budget 2 for 'write_file' exceeded"
	for _, step := range []struct {
		name string
		args map[string]any
		want answer
	}{
		{"b write_file to /etc", map[string]any{"path": "/etc/bouncer_should_not_write.txt", "content": "nope"}, answer{outside, true}},
		{"c write #1 into out", file("note1.txt"), answer{"Successfully wrote to " + filepath.Join(out, "note1.txt"), false}},
		{"c write #2 into out", file("note2.txt"), answer{spent, true}},
		{"c write #3 into out", file("note3.txt"), answer{spent, true}},
	} {
		if diff := cmp.Diff(step.want, textOf(t, c.call("write_file", step.args))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if bad := isError(t, c.call("read_text_file", map[string]any{"path": filepath.Join(out, "note1.txt")})); bad {
		t.Error("a tool without a rule of the user is blocked")
	}
	if code := c.close(); code != 0 {
		t.Errorf("exit code %d", code)
	}

	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 1 || entries[0].Name() != "note1.txt" {
		t.Errorf("on disk: %v %v, want note1.txt alone", entries, err)
	}
	want := []verdict{
		{"write_file", "deny", outside[len("[bouncer blocked] "):], "constraint"},
		{"write_file", "allow", "no contract objected", "default"},
		{"write_file", "deny", spent[len("[bouncer blocked] "):], "budget"},
		{"write_file", "deny", spent[len("[bouncer blocked] "):], "budget"},
		{"read_text_file", "allow", "no contract objected", "default"},
	}
	if diff := cmp.Diff(want, auditLog(t, s)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// TestSymlinkEscape: A73 with a real link and the real server, which would follow it inside its own directory.
func TestSymlinkEscape(t *testing.T) {
	server := needPackage(t, filesystemServer)
	s := newSandbox(t)
	for _, dir := range []string{"out", "private"} {
		if err := os.Mkdir(filepath.Join(s.work, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../private", filepath.Join(s.work, "out", "link")); err != nil {
		t.Skip(err)
	}
	policy := filepath.Join(s.home, "policy.yaml")
	write(t, policy, "write_file:\n  write_params: [path]\n  allowed_path_prefixes: [\""+filepath.Join(s.work, "out")+"\"]\n")
	c := start(t, s, append([]string{bouncerBinary(t), "run", "--name", "files", "--policy", policy, "--"}, append(server, s.work)...)...)
	c.initialize(nil)
	got := textOf(t, c.call("write_file", map[string]any{"path": filepath.Join(s.work, "out", "link", "x"), "content": "x"}))
	if !got.IsError || got.Text[:len("[bouncer blocked]")] != "[bouncer blocked]" {
		t.Errorf("the write through the link answers %+v", got)
	}
	if entries, _ := os.ReadDir(filepath.Join(s.work, "private")); len(entries) != 0 {
		t.Errorf("the link was written through: %v", entries)
	}
	c.close()
}
