//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCodexWithoutAPerson: codex exec declines every question within milliseconds. No person saw it: it is recorded as that, the
// denial names an id, and after a person's approval the same call passes, once.
func TestCodexWithoutAPerson(t *testing.T) {
	codex := needPackage(t, codexCLI)
	s := newSandbox(t)
	bouncer := bouncerBinary(t)
	mail, dir := filepath.Join(s.home, "mail"), filepath.Join(s.home, ".codex")
	for _, d := range []string{mail, dir} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	exec := func(steps ...step) string {
		t.Helper()
		write(t, filepath.Join(dir, "config.toml"), fmt.Sprintf(`model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = "http://%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[mcp_servers.mail]
command = '%s'
args = ["run", "--name", "mail", "--", '%s', "demo-server", '%s']
env = {BOUNCER_HOME = '%s'}
`, scriptedModel(t, s, steps...), bouncer, bouncer, mail, s.bouncer))
		return runIn(t, s.with("CODEX_HOME="+dir, "SCRIPTED_KEY=none"), append(codex, "exec", "--skip-git-repo-check", "write a mail")...)
	}
	lee := mailTo("lee@random.example", "hello")
	exec(lee, step{Text: "done"})
	waiting := strings.Fields(runIn(t, s, bouncer, "approve"))
	if len(waiting) == 0 || !strings.Contains(strings.Join(waiting, " "), "codex-mcp-client") {
		t.Fatalf("what waits is %q", waiting)
	}
	p := atTerminal(t, s, bouncer, "approve", waiting[0])
	p.reads("Your answer: ")
	p.types("once\n")
	if code, text := p.leaves(); code != 0 {
		t.Fatalf("exit %d\n%s", code, text)
	}
	exec(lee, lee, step{Text: "done"})
	want := "ask,deny unanswered,ask,allow terminal,ask,deny unanswered"
	if got := strings.Join(verdictsOf(t, s, "send_email"), ","); got != want {
		t.Errorf("log: %s, want %s", got, want)
	}
}
