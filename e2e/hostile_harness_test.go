package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hostile is a real `bouncer run` in front of a scripted server.
type hostile struct {
	*client
	t *testing.T
	s sandbox
}

// hostilePolicy lets do and read pass, write only below the directory out, and asks about every destination of send but
// one. Without a policy the heuristics would have their say.
const hostilePolicy = "do: {max_calls: 1000000}\nread: {max_calls: 1000000}\n" +
	"write: {write_params: [path], allowed_path_prefixes: [%q]}\n" +
	"send: {exfiltrating: true, sink_params: [to], trusted_destinations: [ok@team.example]}\n"

// wrap starts Bouncer in front of a script, with more flags. When the test has ended nothing of it may run any more.
func wrap(t *testing.T, script string, flags ...string) *hostile {
	t.Helper()
	return wrapIn(t, newSandbox(t), bouncerBinary(t), script, flags...)
}

func wrapIn(t *testing.T, s sandbox, bouncer, script string, flags ...string) *hostile {
	t.Helper()
	argv := runCommand(t, s, bouncer, flags...)
	t.Cleanup(func() { noOrphans(t, s) }) // after Bouncer's end, which start's cleanup sees to
	return &hostile{start(t, s.with(stubMode+"="+scriptedMode+script, quickExit), argv...), t, s}
}

// quickExit spares programs with the race detector the second that they sleep before they end.
const quickExit = "GORACE=atexit_sleep_ms=0"

// runCommand is the command line of Bouncer in front of this test binary.
func runCommand(t *testing.T, s sandbox, bouncer string, flags ...string) []string {
	t.Helper()
	policy := filepath.Join(s.home, "policy.yaml")
	write(t, policy, fmt.Sprintf(hostilePolicy, filepath.Join(s.work, "out")))
	return append(append([]string{bouncer, "run", "--name", "hostile", "--policy", policy}, flags...), "--", os.Args[0])
}

// open does the handshake, with or without forms.
func (h *hostile) open(capabilities map[string]any) *hostile {
	h.t.Helper()
	decode(h.t, h.initialize(capabilities), &struct{}{})
	return h
}

func callLine(id, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

// do sends a call of the tool do and returns its id without waiting for an answer.
func (h *hostile) do(what string, n int) (id string) {
	h.t.Helper()
	h.nextID++
	id = fmt.Sprint(h.nextID)
	h.send(callLine(id, "do", fmt.Sprintf(`{"what":%q,"n":%d}`, what, n)))
	return id
}

// works fails the test unless a call is answered by the server, as it must be in a session that is alive.
func (h *hostile) works() {
	h.t.Helper()
	id := h.do("echo", 0)
	if got := textOf(h.t, h.await(id)); got != (answer{"done " + id, false}) {
		h.t.Errorf("a call that should just work answers %+v", got)
	}
}

// wantFault fails the test unless the answer to id is a JSON-RPC error with this in its message.
func (h *hostile) wantFault(id, substring string) {
	h.t.Helper()
	if f := h.await(id); !strings.Contains(string(f.fault), substring) {
		h.t.Errorf("the answer to %s is %s, want an error with %q", id, shorten(f.raw), substring)
	}
}

// closes ends the client's input and checks the exit code.
func (h *hostile) closes(want int) {
	h.t.Helper()
	if code := h.close(); code != want {
		h.t.Errorf("exit code %d, want %d\nstderr:\n%s", code, want, shorten(h.stderr()))
	}
}

// ends waits for Bouncer to end by itself and checks that it did not end well.
func (h *hostile) ends(wantCode int, wantStderr string) {
	h.t.Helper()
	select {
	case <-h.ended:
	case <-time.After(h.limits.patience):
		h.t.Fatalf("still running after %v", h.limits.patience)
	}
	if code := h.cmd.ProcessState.ExitCode(); code != wantCode {
		h.t.Errorf("exit code %d, want %d", code, wantCode)
	}
	if text := h.stderr(); !strings.Contains(text, wantStderr) {
		h.t.Errorf("stderr does not say %q:\n%s", wantStderr, shorten(text))
	}
}

// awaitAnswers waits until n responses have come.
func (h *hostile) awaitAnswers(n int) []frame {
	h.t.Helper()
	deadline := time.After(h.limits.patience)
	for {
		var got []frame
		for _, f := range h.in.all() {
			if f.isResponse() {
				got = append(got, f)
			}
		}
		if len(got) >= n {
			return got
		}
		select {
		case <-h.in.arrived:
		case <-h.ended:
			h.t.Fatalf("Bouncer ended with %d of %d answers given (%v)\nstderr:\n%s", len(got), n, h.cmd.ProcessState, shorten(h.stderr()))
		case <-deadline:
			h.t.Fatalf("%d of %d answers within %v", len(got), n, h.limits.patience)
		}
	}
}

// reached is the ids of the calls that reached the server, in order.
func (h *hostile) reached() []string {
	h.t.Helper()
	var ids []string
	for _, line := range noted(h.t, h.s, "calls") {
		ids = append(ids, strings.Fields(line)[0])
	}
	return ids
}

// noted is the lines of a file that the scripted server writes; none when it is not there.
func noted(t testing.TB, s sandbox, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.work, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
}

// eventually waits until cond holds: for what no pipe announces, like the end of somebody else's child.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

// pids is the processes that noted themselves.
func pids(t testing.TB, s sandbox) []int {
	t.Helper()
	var list []int
	for _, line := range noted(t, s, "pids") {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pid)
	}
	return list
}

// noOrphans waits for the end of every process that noted itself, and kills what is left.
func noOrphans(t testing.TB, s sandbox) {
	t.Helper()
	for _, pid := range pids(t, s) {
		deadline := time.Now().Add(20 * time.Second)
		for running(pid) && time.Now().Before(deadline) {
			time.Sleep(5 * time.Millisecond)
		}
		if running(pid) {
			t.Errorf("process %d is left behind", pid)
			killOne(pid)
		}
	}
}

func killOne(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}

// logged is one verdict in the log.
type logged struct{ ID, Tool, Verdict, Reason, Contract, Answer string }

// logLines reads the log: its verdicts, and how many lines are no JSON objects. Lines that are no verdicts (the log's
// own seals) are left out.
func logLines(t testing.TB, path string) (verdicts []logged, torn int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var v logged
		if len(lines.Bytes()) == 0 {
			continue // see blankLines
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			torn++
			t.Logf("a line of the log is torn: %s", shorten(lines.Text()))
		} else if v.Verdict != "" {
			verdicts = append(verdicts, v)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return verdicts, torn
}

func (h *hostile) log() []logged {
	h.t.Helper()
	verdicts, torn := logLines(h.t, filepath.Join(h.s.bouncer, "audit.jsonl"))
	if torn > 0 {
		h.t.Errorf("%d torn lines in the log", torn)
	}
	return verdicts
}
