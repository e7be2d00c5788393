package e2e

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// B49: a client that closes its end right after a call is owed the answer.
func TestClientHangsUpAfterCall(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain").open(nil)
	id := h.do("late", 0)
	h.closes(0)
	if got := textOf(t, h.await(id)); got != (answer{"done " + id, false}) {
		t.Errorf("answer %+v", got)
	}
	if log := h.log(); len(log) != 1 || log[0].Verdict != "allow" {
		t.Errorf("the log has %v, want one allow", log)
	}
}

// B49, before anything is pinned: the whole session in one breath.
func TestClientSaysAllAtOnce(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain")
	h.sendAll([]string{
		`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		callLine("1", "do", `{"what":"late"}`),
		callLine("2", "write", `{"path":"/etc/passwd"}`),
	})
	h.closes(0)
	h.await(`"i"`)
	if got := textOf(t, h.await("1")); got != (answer{"done 1", false}) {
		t.Errorf("the allowed call answers %+v", got)
	}
	if got := textOf(t, h.await("2")); !got.IsError || !strings.HasPrefix(got.Text, "[bouncer blocked] path='/etc/passwd' outside") {
		t.Errorf("the denied call answers %+v", got)
	}
	if diff := cmp.Diff([]string{"1"}, h.reached()); diff != "" {
		t.Errorf("reached the server (-want +got):\n%s", diff)
	}
}

// A52: what may have been cut is not a frame, even where what there is has a reading.
func TestClientEndsInsideFrame(t *testing.T) {
	t.Parallel()
	whole := callLine("77", "do", `{}`)
	for name, half := range map[string]string{"half": whole[:len(whole)/2], "whole but for its newline": whole} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := wrap(t, "plain").open(nil)
			h.works()
			if _, err := io.WriteString(h.stdin, half); err != nil {
				t.Fatal(err)
			}
			h.closes(0)
			if diff := cmp.Diff([]string{"2"}, h.reached()); diff != "" {
				t.Errorf("reached the server (-want +got):\n%s", diff)
			}
			log := h.log()
			if len(log) != 2 || log[1].Verdict != "deny" || !strings.Contains(log[1].Reason, "inside a frame") {
				t.Errorf("log: %v", log)
			}
		})
	}
}

const pipelined = 10_000

// pipelineCalls mixes allowed calls (two of three, counted in reach) and denied ones.
func pipelineCalls(n int) (lines, reach []string) {
	for i := range n {
		id := fmt.Sprint(i + 1000)
		if i%3 == 1 {
			lines = append(lines, callLine(id, "write", fmt.Sprintf(`{"path":"/etc/%d"}`, i)))
			continue
		}
		lines = append(lines, callLine(id, "read", fmt.Sprintf(`{"n":%d}`, i)))
		reach = append(reach, id)
	}
	return lines, reach
}

// sendAll writes lines in one write, or fails the test when they are not taken.
func (h *hostile) sendAll(lines []string) {
	h.t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := io.WriteString(h.stdin, strings.Join(lines, "\n")+"\n")
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			h.t.Fatalf("write %d lines: %v\nstderr:\n%s", len(lines), err, shorten(h.stderr()))
		}
	case <-time.After(h.limits.patience):
		h.kill()
		h.t.Fatalf("%d lines were not read within %v", len(lines), h.limits.patience)
	}
}

// Nothing is lost, doubled or mixed up when a client has 10,000 calls in flight, whether it reads meanwhile or not: each
// has its own answer and one line in the log, and the denied ones never reached the server.
func TestClientPipelines(t *testing.T) {
	t.Parallel()
	for _, reads := range []string{"meanwhile", "afterwards"} {
		t.Run("reading "+reads, func(t *testing.T) {
			t.Parallel()
			h := wrap(t, "plain").open(nil)
			h.works() // the tools are pinned: what is tested is the relay, not the queue before it
			lines, reach := pipelineCalls(pipelined)
			if reads == "afterwards" {
				func() {
					h.in.reading.Lock()
					defer h.in.reading.Unlock()
					h.sendAll(lines)
				}()
			} else {
				for _, line := range lines {
					h.send(line)
				}
			}
			h.awaitAnswers(pipelined + 2)
			h.closes(0)
			h.checkPipeline(reach)
		})
	}
}

func (h *hostile) checkPipeline(reach []string) {
	h.t.Helper()
	answered := map[string]string{}
	for _, f := range h.responses() {
		answered[f.id] = f.raw // one that comes twice fails the test in its cleanup
	}
	allowed := map[string]bool{}
	for _, id := range reach {
		allowed[id] = true
	}
	wrong := 0
	for i := range pipelined {
		id := fmt.Sprint(i + 1000)
		want := `"done ` + id + `"`
		if !allowed[id] {
			want = fmt.Sprintf("[bouncer blocked] path='/etc/%d' outside", i)
		}
		if !strings.Contains(answered[id], want) {
			if wrong++; wrong < 5 {
				h.t.Errorf("the answer to %s is %q, want %s in it", id, shorten(answered[id]), want)
			}
		}
	}
	if len(answered) != pipelined+2 || wrong > 0 {
		h.t.Errorf("%d answers, %d of them wrong", len(answered), wrong)
	}
	if diff := cmp.Diff(append([]string{"2"}, reach...), h.reached()); diff != "" {
		h.t.Errorf("reached the server (-want +got):\n%s", shorten(diff))
	}
	count := map[string]int{}
	for _, v := range h.log() {
		count[v.Tool+" "+v.Verdict]++
	}
	want := map[string]int{"do allow": 1, "read allow": len(reach), "write deny": pipelined - len(reach)}
	if diff := cmp.Diff(want, count); diff != "" {
		h.t.Errorf("log (-want +got):\n%s", diff)
	}
}

// B17: the question is withdrawn, the call is never forwarded and never answered, and a late yes changes nothing.
func TestClientCancelsWhatIsAskedAbout(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain").open(map[string]any{"elicitation": map[string]any{}})
	h.send(callLine("50", "send", `{"to":"stranger@elsewhere.example"}`))
	question := h.awaitMethod("elicitation/create")
	h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":50}}`)
	if got := h.awaitMethod("notifications/cancelled"); !strings.Contains(string(got.params), question.id) {
		t.Errorf("what is withdrawn is %s, not the question %s", got.params, question.id)
	}
	h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":"Allow this call"}}}`, question.id))
	h.works()
	h.closes(0)
	for _, f := range h.responses() {
		if f.id == "50" {
			t.Errorf("a cancelled call is answered: %s", f.raw)
		}
	}
	if diff := cmp.Diff([]string{"2"}, h.reached()); diff != "" {
		t.Errorf("reached the server (-want +got):\n%s", diff)
	}
	var got []string
	for _, v := range h.log() {
		if v.Tool == "send" {
			got = append(got, v.Verdict)
		}
	}
	if diff := cmp.Diff([]string{"ask", "deny"}, got); diff != "" {
		t.Errorf("log of the cancelled call (-want +got):\n%s", diff)
	}
}

// The client leaves while a person thinks: nobody is left to say yes.
func TestClientLeavesWhatIsAskedAbout(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain").open(map[string]any{"elicitation": map[string]any{}})
	h.send(callLine("50", "send", `{"to":"stranger@elsewhere.example"}`))
	h.awaitMethod("elicitation/create")
	h.closes(0)
	if got := h.reached(); len(got) != 0 {
		t.Errorf("reached the server: %v", got)
	}
	if log := h.log(); len(log) != 2 || log[1].Verdict != "deny" {
		t.Errorf("log: %v", log)
	}
}

// B02 in the other direction: one request over the limit is refused by its id, and is over.
func TestClientSendsTooBig(t *testing.T) {
	t.Parallel()
	s, bouncer := newSandbox(t), plainBouncer(t)
	h := wrapIn(t, s, bouncer, "plain").open(nil)
	h.send(callLine("60", "do", `{"what":"`+strings.Repeat("x", 65<<20)+`"}`))
	h.wantFault("60", "[bouncer blocked] frame of")
	h.works()
	h.closes(0)
	if diff := cmp.Diff([]string{"2"}, h.reached()); diff != "" {
		t.Errorf("reached the server (-want +got):\n%s", diff)
	}
	if log := h.log(); len(log) != 2 || log[0].Verdict != "deny" {
		t.Errorf("log: %v", log)
	}
}

// B08, B10: a client that is killed says no good-bye. Bouncer and the server are gone soon after, whatever the server
// thinks of it; wrap's end checks both, since both have noted themselves.
func TestClientIsKilled(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"plain", "stubborn", "silent"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			argv := runCommand(t, s, bouncerBinary(t))
			t.Cleanup(func() { noOrphans(t, s) })
			c := start(t, s.with(stubMode+"=launch", launchedMode+"="+scriptedMode+script, quickExit), append([]string{os.Args[0]}, argv...)...)
			h := &hostile{c, t, s}
			if script == "silent" {
				h.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`)
			} else {
				h.open(nil)
				h.do("never", 0)
				h.works()
			}
			eventually(t, "Bouncer and the server run", func() bool { return len(pids(t, s)) == 2 })
			if err := c.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-c.ended // the harness's limits
			if _, torn := logLines(t, filepath.Join(s.bouncer, "audit.jsonl")); torn > 0 {
				t.Errorf("%d torn lines in the log", torn)
			}
		})
	}
}
