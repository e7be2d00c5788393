//go:build unix

package e2e

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// person is somebody at a terminal of their own, who runs one command.
type person struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	text strings.Builder
}

func atTerminal(t *testing.T, s sandbox, argv ...string) *person {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.work, s.env
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		t.Fatalf("start %v at a terminal: %v", argv, err)
	}
	p := &person{t: t, cmd: cmd, tty: tty}
	watch := time.AfterFunc(usual.patience, func() { cmd.Process.Kill() })
	t.Cleanup(func() { watch.Stop(); tty.Close() })
	return p
}

// reads waits until text stands on the screen.
func (p *person) reads(text string) {
	p.t.Helper()
	one := make([]byte, 1)
	for !strings.Contains(p.text.String(), text) {
		if _, err := p.tty.Read(one); err != nil {
			p.t.Fatalf("%v ended before %q was to be read:\n%s", p.cmd.Args, text, p.text.String())
		}
		p.text.Write(one)
	}
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.tty, text); err != nil {
		p.t.Fatal(err)
	}
}

// leaves waits for the end and returns the exit code and the whole screen.
func (p *person) leaves() (int, string) {
	p.t.Helper()
	io.Copy(&p.text, p.tty) // ends with an error when the other side has closed
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), p.text.String()
}

var approveID = regexp.MustCompile("`bouncer approve ([a-z2-7]+)`")

// refused returns the id that a denied call names.
func (h *hostile) refused(args map[string]any) string {
	h.t.Helper()
	got := h.call("send", args)
	m := approveID.FindStringSubmatch(got.raw)
	if !isError(h.t, got) || m == nil {
		h.t.Fatalf("not denied with an id: %s", got.raw)
	}
	return m[1]
}

// TestApproveAtATerminal: where the client cannot ask, a person reads the whole question at a terminal of their own. The same call
// then passes, once; a pipe, Enter and a hang-up approve nothing.
func TestApproveAtATerminal(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain").open(nil)
	bouncer := bouncerBinary(t)
	args := map[string]any{"to": "stranger@elsewhere.example"}
	id := h.refused(args)

	piped := exec.Command(bouncer, "approve", id)
	piped.Env, piped.Stdin = h.s.env, strings.NewReader("once\nyes\n")
	if out, err := piped.CombinedOutput(); err == nil || !strings.Contains(string(out), "interactive terminal") {
		t.Errorf("from a pipe: %v\n%s", err, out)
	}
	for _, typed := range []string{"\n\n\n", "y\ny\ny\n", "\x04"} {
		p := atTerminal(t, h.s, bouncer, "approve", id)
		p.reads("Your answer: ")
		p.types(typed)
		if code, screen := p.leaves(); code != 1 || !strings.Contains(screen, "nothing was answered") {
			t.Errorf("typed %q: exit %d\n%s", typed, code, screen)
		}
	}
	if again := h.refused(args); again != id {
		t.Errorf("the same question has two ids, %s and %s", id, again)
	}

	p := atTerminal(t, h.s, bouncer, "approve", id)
	p.reads("Your answer: ")
	for _, want := range []string{"wants to use send (server hostile) to reach stranger@elsewhere.example", "first seen: nowhere", "once", "always"} {
		if !strings.Contains(p.text.String(), want) {
			t.Errorf("the question lacks %q:\n%s", want, p.text.String())
		}
	}
	p.types("once\n")
	if code, screen := p.leaves(); code != 0 {
		t.Fatalf("exit %d\n%s", code, screen)
	}
	if got := h.call("send", map[string]any{"to": "other@elsewhere.example"}); !isError(t, got) {
		t.Errorf("another call passed: %s", got.raw)
	}
	if got := h.call("send", args); isError(t, got) {
		t.Errorf("the approved call: %s", got.raw)
	}
	h.refused(args)
	h.closes(0)
	var got []string
	for _, v := range h.log() {
		got = append(got, v.Verdict+" "+v.Answer)
	}
	want := "ask |deny unsupported|ask |deny unsupported|ask |deny unsupported|ask |allow terminal|ask |deny unsupported"
	if strings.Join(got, "|") != want {
		t.Errorf("log: %q, want %q", strings.Join(got, "|"), want)
	}
}

// TestAlwaysAndNever: an answer for always becomes a line that is shown first, holds for other processes at once, and can be listed
// and taken back; to take back a refusal needs a person.
func TestAlwaysAndNever(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain").open(nil)
	bouncer := bouncerBinary(t)
	send := func(to string) frame { return h.call("send", map[string]any{"to": to}) }

	id := h.refused(map[string]any{"to": "friend@corp.example"})
	p := atTerminal(t, h.s, bouncer, "approve", id)
	p.reads("Your answer: ")
	p.types("always domain\n")
	p.reads(`destination: "@corp.example"`)
	p.types("yes\n")
	if code, screen := p.leaves(); code != 0 {
		t.Fatalf("exit %d\n%s", code, screen)
	}
	if got := send("colleague@corp.example"); isError(t, got) {
		t.Errorf("a colleague's address: %s", got.raw)
	}
	id = h.refused(map[string]any{"to": "eve@evil.example"})
	p = atTerminal(t, h.s, bouncer, "approve", id)
	p.reads("Your answer: ")
	p.types("never\n")
	if code, screen := p.leaves(); code != 0 || !strings.Contains(screen, "denied") {
		t.Fatalf("exit %d\n%s", code, screen)
	}
	if got := send("eve@evil.example"); !isError(t, got) || !strings.Contains(got.raw, "remembered answer") {
		t.Errorf("after never: %s", got.raw)
	}

	var list struct {
		Version   int
		Approvals []struct {
			Answer, Destination string
			Last                *time.Time `json:"last_use"`
		}
	}
	if err := json.Unmarshal([]byte(runIn(t, h.s, bouncer, "approvals", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if list.Version != 1 || len(list.Approvals) != 2 || list.Approvals[0].Last == nil || list.Approvals[1].Last == nil || list.Approvals[1].Answer != "never" {
		t.Errorf("approvals list: %+v", list)
	}
	revoke := exec.Command(bouncer, "approvals", "revoke", "2")
	revoke.Env = h.s.env
	if out, err := revoke.CombinedOutput(); err == nil {
		t.Errorf("a refusal was taken back without a person: %s", out)
	}
	runIn(t, h.s, bouncer, "approvals", "revoke", "1")
	if got := send("colleague@corp.example"); !isError(t, got) {
		t.Errorf("after revoke: %s", got.raw)
	}
	book, err := os.ReadFile(filepath.Join(h.s.bouncer, "approvals.yaml"))
	if err != nil || strings.Contains(string(book), "corp.example") || !strings.Contains(string(book), "eve@evil.example") {
		t.Errorf("approvals.yaml (%v):\n%s", err, book)
	}
	h.closes(0)
}

// TestBrokenApprovals: with a broken list of refusals nothing starts.
func TestBrokenApprovals(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	if err := os.Mkdir(s.bouncer, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.bouncer, "approvals.yaml"), "version: 1\napprovals:\n- {answer: never}\n")
	cmd := exec.Command(bouncerBinary(t), "run", "--name", "x", "--", os.Args[0])
	cmd.Env = s.with(stubMode + "=echo").env
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), "approvals.yaml:3:3") {
		t.Errorf("exit %d\n%s", cmd.ProcessState.ExitCode(), out)
	}
}
