package e2e

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hasty is for stubs that never do what is waited for: the wait is certain to run out, so it may be short.
var hasty = limits{patience: 300 * time.Millisecond, linger: 300 * time.Millisecond}

func isAnswer(f frame) bool { return f.isResponse() }

func TestClientKeepsIDsApart(t *testing.T) {
	c := startStub(t, "echo", usual)
	number, text := `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"1","method":"ping"}`
	c.send(number)
	c.send(text)
	if got := c.await(`"1"`); string(got.result) != text {
		t.Errorf(`response to "1" is %s`, got.raw)
	}
	if got := c.await("1"); string(got.result) != number {
		t.Errorf("response to 1 is %s", got.raw)
	}
	if code := c.close(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestClientAnswersTheServer(t *testing.T) {
	c := startStub(t, "ask", usual)
	c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`)
	question := c.awaitMethod("elicitation/create")
	if question.id != `"s1"` || string(question.params) != `{"message":"sure?"}` {
		t.Errorf("question is %s", question.raw)
	}
	reply := `{"jsonrpc":"2.0","id":"s1","result":{"action":"decline"}}`
	c.send(reply)
	if got := c.await("7"); string(got.result) != reply {
		t.Errorf("answer is %s", got.raw)
	}
}

// What a process writes right before its end is not lost.
func TestClientReadsToTheEnd(t *testing.T) {
	c := startStub(t, "burst", usual)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.await("4999")
	c.close()
	if got := len(c.in.all()); got != 5000 {
		t.Errorf("%d lines, want 5000", got)
	}
}

func TestClientGivesUp(t *testing.T) {
	tests := []struct {
		stub string
		do   func(*client) error
		want string
	}{
		{"mute", func(c *client) error { _, err := c.find("x", isAnswer); return err }, "nothing within"},
		{"die", func(c *client) error { _, err := c.find("x", isAnswer); return err }, "ended first (exit status 3)"},
		{"deaf", func(c *client) error { return c.write(strings.Repeat("x", 8<<20)) }, "not read within"},
		{"deaf", func(c *client) error { _, err := c.end(); return err }, "still running"},
		{"leave", func(c *client) error { _, err := c.end(); return err }, "left a process behind"},
		{"leave-badly", func(c *client) error { _, err := c.end(); return err }, "left a process behind"},
		{"mute", func(c *client) error { return c.write("{\n}") }, "holds a newline"},
	}
	for _, tt := range tests {
		t.Run(tt.stub, func(t *testing.T) {
			t.Parallel()
			l := hasty
			if tt.want == "ended first (exit status 3)" || strings.HasPrefix(tt.stub, "leave") {
				l.patience = usual.patience // it does end, when it gets to run
			}
			c := startStub(t, tt.stub, l)
			c.tolerant = true
			if err := tt.do(c); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestClientSeesProblems(t *testing.T) {
	tests := []struct {
		stub string
		want string // "" for none
		code int
	}{
		{"echo", "", 0},
		{"twice", "answered twice", 0},
		{"noise", "not a message", 0},
		{"torn", "torn last line", 0},
		{"panic", "standard error has panic", 2},
	}
	for _, tt := range tests {
		t.Run(tt.stub, func(t *testing.T) {
			t.Parallel()
			c := startStub(t, tt.stub, usual)
			c.tolerant = true
			if tt.stub != "panic" {
				c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
				c.await("1")
			}
			if code := c.close(); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			got := strings.Join(c.problems(), "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("problems are %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSandboxHidesThePerson(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "of the person")
	t.Setenv("BOUNCER_HOME", "of the person")
	s := newSandbox(t).with(stubMode+"=place", "EXTRA=yes")
	c := start(t, s, os.Args[0])
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	var place struct {
		Dir string
		Env []string
	}
	if err := json.Unmarshal(c.await("1").result, &place); err != nil {
		t.Fatal(err)
	}
	if place.Dir != s.work {
		t.Errorf("runs in %s, want %s", place.Dir, s.work)
	}
	for _, want := range []string{"HOME=" + s.home, "BOUNCER_HOME=" + s.bouncer, "EXTRA=yes"} {
		if !slices.Contains(place.Env, want) {
			t.Errorf("environment lacks %s", want)
		}
	}
	if text := strings.Join(place.Env, "\n"); strings.Contains(text, "of the person") {
		t.Errorf("environment holds the person's own:\n%s", text)
	}
	if _, err := os.Stat(s.bouncer); !os.IsNotExist(err) {
		t.Errorf("the Bouncer home is there already: %v", err)
	}
}

// However the bytes arrive, the frames are the same.
func TestInboxIgnoresChunks(t *testing.T) {
	text := `{"jsonrpc":"2.0","id":1,"result":"é"}` + "\n\nnoise\r\n" + `{"jsonrpc":"2.0","method":"a"}` + "\n{torn"
	read := func(chunks ...string) (raws, problems []string) {
		in := newInbox()
		for _, chunk := range chunks {
			in.Write([]byte(chunk))
		}
		for _, f := range in.all() {
			raws = append(raws, f.raw)
		}
		return raws, in.problems()
	}
	wantRaws, wantProblems := read(text)
	if len(wantRaws) != 4 || len(wantProblems) != 3 {
		t.Fatalf("in one piece: %q, problems %q", wantRaws, wantProblems)
	}
	for i := range len(text) + 1 {
		for j := i; j <= len(text); j++ {
			raws, problems := read(text[:i], text[i:j], text[j:])
			if diff := cmp.Diff([][]string{wantRaws, wantProblems}, [][]string{raws, problems}); diff != "" {
				t.Fatalf("cut at %d and %d (-one piece +cut):\n%s", i, j, diff)
			}
		}
	}
}

func TestInboxHandsOutOnce(t *testing.T) {
	in := newInbox()
	in.Write([]byte(`{"jsonrpc":"2.0","method":"a","params":1}` + "\n" + `{"jsonrpc":"2.0","method":"a","params":2}` + "\n"))
	for _, want := range []string{"1", "2"} {
		f, ok := in.take(func(f frame) bool { return f.method == "a" })
		if !ok || string(f.params) != want {
			t.Errorf("got %q, %t; want params %s", f.raw, ok, want)
		}
	}
	if f, ok := in.take(func(frame) bool { return true }); ok {
		t.Errorf("handed out again: %s", f.raw)
	}
}

func TestInboxIsBounded(t *testing.T) {
	in := newInbox()
	in.size = mostStdout - 3
	in.Write([]byte("too long\n"))
	if got := strings.Join(in.problems(), "\n"); !strings.Contains(got, "9 are lost") {
		t.Errorf("problems are %q", got)
	}
	var text stderrText
	text.Write([]byte(strings.Repeat("x", mostStderr-1)))
	text.Write([]byte("yz"))
	if got := text.String(); !strings.HasSuffix(got, "xy\n... and 1 bytes more") {
		t.Errorf("ends in %q", got[len(got)-40:])
	}
}

func TestParseFrame(t *testing.T) {
	tests := []struct {
		line string
		want string // what is bad, "" for nothing
	}{
		{`{"jsonrpc":"2.0","id":1,"result":null}`, ""},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`, ""},
		{`{"jsonrpc":"2.0","method":"x"}`, ""},
		{`{"jsonrpc":"2.0","id":"a","method":"x"}`, ""},
		{`{"jsonrpc":"2.0","ID":1,"result":{}}`, "nobody"},
		{`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, "neither"},
		{`{"jsonrpc":"2.0","id":1}`, "neither"},
		{`{"jsonrpc":"2.0","id":1,"method":"x","result":{}}`, "in one"},
		{`{"jsonrpc":"2.0","id":1,"method":5}`, "not a name"},
		{`{"id":1,"result":{}}`, "jsonrpc"},
		{`[{"jsonrpc":"2.0","method":"x"}]`, "array"},
		{`{"jsonrpc":"2.0","method":"x"} {}`, "after"},
		{``, "end"},
	}
	for _, tt := range tests {
		got := parseFrame(tt.line).bad
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}
