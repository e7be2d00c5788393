package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const codexCLI = "@openai/codex"

// TestCodexUsesWrappedServers: the real Codex reads the TOML that init wrote, lists what stands in it, and calls a tool
// through it. Undo gives the file back to the byte.
func TestCodexUsesWrappedServers(t *testing.T) {
	codex, server := needPackage(t, codexCLI), needPackage(t, filesystemServer)
	s := newSandbox(t)
	docs := filepath.Join(s.work, `my "docs" here`)
	if err := os.Mkdir(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(docs, "note.txt")
	if err := os.WriteFile(note, []byte("hello from behind"), 0o600); err != nil {
		t.Fatal(err)
	}
	model := scriptedModel(t, s, step{Tool: "mcp__files__read_text_file", Input: map[string]any{"path": note}}, step{Text: "all done"})
	dir := filepath.Join(s.home, ".codex")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config.toml")
	before := fmt.Sprintf(`# mine
model = "scripted" # keep
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[mcp_servers.files]
command = '%s'
args = [
  '%s', # the server
  '%s',
]
tool_timeout_sec = 30.0

[mcp_servers.bare]
command = '%s'
enabled = false
[mcp_servers.bare.env]
TOKEN = "t0ken"

[model_providers.scripted]
name = "scripted"
base_url = "http://%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
`, server[0], server[1], docs, server[0], model)
	if err := os.WriteFile(config, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	s = s.with("CODEX_HOME="+dir, "SCRIPTED_KEY=none")

	bouncer := bouncerBinary(t)
	if said := runIn(t, s, bouncer, "init", "--client", "codex", "--yes"); !strings.Contains(said, "BOUNCER_HOME is set") {
		t.Errorf("init does not say what Codex will not pass on:\n%s", said)
	}
	list := runIn(t, s, append(codex, "mcp", "list")...)
	if !strings.Contains(list, "files") || strings.Count(list, bouncer) != 2 {
		t.Errorf("codex mcp list says:\n%s", list)
	}
	said := runIn(t, s, append(codex, "exec", "--skip-git-repo-check", "read my note")...)
	if !strings.Contains(said, "all done") {
		t.Errorf("codex exec says:\n%s", said)
	}
	// Codex hands few variables on, so that what it starts does not learn of BOUNCER_HOME.
	log, err := os.ReadFile(filepath.Join(s.home, ".bouncer", "audit.jsonl"))
	if err != nil || !strings.Contains(string(log), `"tool": "read_text_file"`) || !strings.Contains(string(log), `"verdict": "allow"`) {
		t.Errorf("the call did not go through Bouncer (%v):\n%s\ncodex exec said:\n%s", err, log, said)
	}
	if status := runIn(t, s, bouncer, "status"); strings.Count(status, "wrapped  ") != 2 {
		t.Errorf("status says:\n%s", status)
	}
	changed, err := os.ReadFile(config) // Codex may have added lines of its own by now
	if err != nil {
		t.Fatal(err)
	}
	runIn(t, s, bouncer, "init", "--client", "codex", "--undo", "--yes")
	after, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(after), before) || strings.Contains(string(after), bouncer) || !strings.Contains(string(changed), bouncer) {
		t.Errorf("after undo the config is\n%s", after)
	}
}
