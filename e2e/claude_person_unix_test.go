//go:build unix

package e2e

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// claudeHome makes a home in which Claude Code asks nothing before it starts, with the demo's mail server behind Bouncer.
func claudeHome(t *testing.T, flags ...string) (s sandbox, config string) {
	t.Helper()
	s = newSandbox(t)
	bouncer := bouncerBinary(t)
	writeJSON(t, filepath.Join(s.home, ".claude.json"), map[string]any{"hasCompletedOnboarding": true,
		"customApiKeyResponses": map[string]any{"approved": []string{"none"}, "rejected": []string{}},
		"projects":              map[string]any{s.work: map[string]any{"hasTrustDialogAccepted": true}}})
	mail := filepath.Join(s.home, "mail")
	if err := os.Mkdir(mail, 0o700); err != nil {
		t.Fatal(err)
	}
	config = filepath.Join(s.home, "mcp.json")
	args := append(append([]string{"run", "--name", "mail"}, flags...), "--", bouncer, "demo-server", mail)
	writeJSON(t, config, map[string]any{"mcpServers": map[string]any{"mail": map[string]any{
		"command": bouncer, "args": args, "env": map[string]string{"BOUNCER_HOME": s.bouncer}}}})
	return s.with("ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "TERM=xterm-256color"), config
}

// screen is a client in a terminal, and a person in front of it.
type screen struct {
	t   *testing.T
	cmd *exec.Cmd
	tty *os.File

	mu   sync.Mutex
	grew chan struct{}
	text string // what was written, without colours, moves and spaces
	read int    // how much of it the person has read
	raw  []byte
}

var moves = regexp.MustCompile("\x1b(\\[[0-9;?<>=]*[a-zA-Z~]|\\][^\a\x1b]*(\a|\x1b\\\\)|[()][A-Z0-9]|[=>78]|P[^\x1b]*\x1b\\\\)|[\\s\u00a0]")

func onScreen(t *testing.T, s sandbox, argv ...string) *screen {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.work, s.env
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 60, Cols: 180})
	if err != nil {
		t.Fatalf("start %v at a terminal: %v", argv, err)
	}
	sc := &screen{t: t, cmd: cmd, tty: tty, grew: make(chan struct{}, 1)}
	go sc.watch()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the whole terminal
		cmd.Wait()
		tty.Close()
		if t.Failed() {
			sc.mu.Lock()
			defer sc.mu.Unlock()
			t.Logf("the screen:\n%s", sc.text[max(0, len(sc.text)-4000):])
		}
	})
	return sc
}

func (sc *screen) watch() {
	buf := make([]byte, 32<<10)
	for {
		n, err := sc.tty.Read(buf)
		sc.mu.Lock()
		sc.raw = append(sc.raw, buf[:n]...)
		sc.text = moves.ReplaceAllString(string(sc.raw), "")
		sc.mu.Unlock()
		select {
		case sc.grew <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// reads waits until text is written behind what was read before.
func (sc *screen) reads(text string) {
	sc.t.Helper()
	text = moves.ReplaceAllString(text, "")
	deadline := time.After(usual.patience)
	for {
		sc.mu.Lock()
		at := strings.Index(sc.text[min(sc.read, len(sc.text)):], text)
		if at >= 0 {
			sc.read += at + len(text)
			sc.mu.Unlock()
			return
		}
		sc.mu.Unlock()
		select {
		case <-sc.grew:
		case <-deadline:
			sc.t.Fatalf("%q does not come up on the screen", text)
		}
	}
}

// types presses keys one by one: a client takes what comes at once for pasted text.
func (sc *screen) types(keys ...string) {
	sc.t.Helper()
	for _, k := range keys {
		if _, err := io.WriteString(sc.tty, k); err != nil {
			sc.t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond) // a person's pace, which is also what tells them from a program
	}
}

const (
	keyRight, keyDown = "\x1b[C", "\x1b[B"
	keyEnter, keyEsc  = "\r", "\x1b"
)

// verdictsOf returns "verdict answer" of every call to a tool, in order.
func verdictsOf(t *testing.T, s sandbox, tool string) (out []string) {
	t.Helper()
	all, _ := logLines(t, filepath.Join(s.bouncer, "audit.jsonl"))
	for _, v := range all {
		if v.Tool == tool {
			out = append(out, strings.TrimSpace(v.Verdict+" "+v.Answer))
		}
	}
	return out
}

func mailTo(to, body string) step {
	return step{Tool: "mcp__mail__send_email", Input: map[string]any{"to": []string{to}, "subject": "s", "body": body}}
}

// TestClaudeAsksAPerson: the real Claude Code shows the question. A yes for the session lets this call and the next one through, and
// neither Decline nor Esc lets anything.
func TestClaudeAsksAPerson(t *testing.T) {
	client := claude(t)
	s, config := claudeHome(t)
	model := scriptedModel(t, s, mailTo("robin@random.example", "one"), mailTo("robin@random.example", "two"), step{Text: "firstdone"},
		mailTo("sam@random.example", "three"), step{Text: "seconddone"}, mailTo("kim@random.example", "four"), step{Text: "thirddone"})
	settings := filepath.Join(s.home, "settings.json")
	writeJSON(t, settings, map[string]any{"permissions": map[string]any{"allow": []string{"mcp__mail__send_email"}}})
	sc := onScreen(t, s.with("ANTHROPIC_BASE_URL=http://"+model), client, "--mcp-config", config, "--strict-mcp-config", "--settings", settings)
	sc.reads("Claude Code v")
	serverStarted(t, s)

	ask := func(prompt, to string) {
		sc.types(prompt, keyEnter)
		sc.reads("requests your input")
		sc.reads("wants to use send_email (server mail) to reach " + to)
		sc.reads("first seen: nowhere")
	}
	ask("write to robin", "robin@random.example")
	sc.types(keyRight)
	sc.reads("Deny")
	sc.types(keyDown, keyDown, keyEnter)
	sc.reads("Allow for this session")
	sc.types(keyEnter)
	sc.reads("firstdone")
	ask("write to sam", "sam@random.example")
	sc.types(keyDown, keyRight, keyEnter) // past the field, from Accept to Decline
	sc.reads("seconddone")
	ask("write to kim", "kim@random.example")
	sc.types(keyEsc)
	sc.reads("thirddone")

	want := "ask,ask,allow person,allow,ask,ask,deny declined,ask,ask,deny cancelled"
	if got := strings.Join(verdictsOf(t, s, "send_email"), ","); got != want {
		t.Errorf("log: %s, want %s", got, want)
	}
}

// serverStarted waits until the client has listed the tools: before that it knows none that the model could call.
func serverStarted(t *testing.T, s sandbox) {
	t.Helper()
	for until := time.Now().Add(usual.patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(s.bouncer, "sessions", "*", "*.seg")); len(found) > 0 {
			time.Sleep(time.Second) // from the list to the client's own table there is nothing to be seen from outside
			return
		}
	}
	t.Fatal("the server did not start")
}

// printed runs Claude Code without a terminal and returns what it printed.
func printed(t *testing.T, s sandbox, client, config string, steps ...step) string {
	t.Helper()
	model := scriptedModel(t, s, steps...)
	return runIn(t, s.with("ANTHROPIC_BASE_URL=http://"+model), client, "-p", "write a mail", "--mcp-config", config, "--strict-mcp-config",
		"--allowedTools", "mcp__mail__send_email,Bash", "--output-format", "stream-json", "--verbose")
}

// TestClaudeWithoutAPerson: claude -p closes every question at once. No person saw it, so it is no refusal: the denial names an id, a
// person approves that at a terminal, and the call made again passes, once. The agent's own shell cannot approve.
func TestClaudeWithoutAPerson(t *testing.T) {
	client := claude(t)
	s, config := claudeHome(t)
	bouncer := bouncerBinary(t)
	lee := mailTo("lee@random.example", "hello")
	first := printed(t, s, client, config, lee, step{Text: "done"})
	m := approveID.FindStringSubmatch(first)
	if m == nil || !strings.Contains(first, "no answer from a person") {
		t.Fatalf("the model was not told an id:\n%s", first)
	}
	id := m[1]
	shell := func(command string) step {
		return step{Tool: "Bash", Input: map[string]any{"command": "export BOUNCER_HOME=" + s.bouncer + "; " + command, "description": "x"}}
	}
	second := printed(t, s, client, config, shell(bouncer+" approve "+id), shell("yes once | "+bouncer+" approve "+id), lee, step{Text: "done"})
	if n := strings.Count(second, "interactive terminal"); n < 2 {
		t.Errorf("the agent's shell was refused %d times, want twice:\n%s", n, second)
	}
	p := atTerminal(t, s, bouncer, "approve", id)
	p.reads("Your answer: ")
	p.types("once\n")
	if code, text := p.leaves(); code != 0 {
		t.Fatalf("exit %d\n%s", code, text)
	}
	third := printed(t, s, client, config, lee, lee, step{Text: "done"})
	if !strings.Contains(third, "sent-") {
		t.Errorf("the approved call did not pass:\n%s", third)
	}
	want := "ask,ask,deny unanswered,ask,ask,deny unanswered,ask,allow terminal,ask,ask,deny unanswered"
	if got := strings.Join(verdictsOf(t, s, "send_email"), ","); got != want {
		t.Errorf("log: %s, want %s", got, want)
	}
}
