package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("AUDIT_TEST_WRITER"); path != "" { // a second process that appends to the same file
		log, err := Open(path)
		for i := 0; err == nil && i < 500; i++ {
			err = log.Append(Entry{Tool: fmt.Sprint(os.Getpid()), Args: []byte(fmt.Sprintf(`{"n":%d,"pad":%q}`, i, strings.Repeat("x", i)))})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func open(t *testing.T) (*Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "home", "audit.jsonl")
	log, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log, path
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// TestLine: the seed's five fields stand first, in its order and spelling.
func TestLine(t *testing.T) {
	log, path := open(t)
	err := log.Append(Entry{
		Tool: "write_file", Args: []byte(`{"path":"/etc/x","n":9007199254740993}`), Verdict: "deny", Contract: "constraint",
		Reason: "path='/etc/x' outside allowed prefixes ['./out']", ID: "abc", Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		Session: "s1", Server: "files", Origin: "untrusted", Client: "c\n1", Answer: "person", Latency: 1500 * time.Microsecond,
		Evidence: []Evidence{{Contract: "sink_gate", Param: "to", Destination: "a@b.example", Kind: "email", Origin: "untrusted",
			Server: "mail", Tool: "read", Call: "x", Field: "content[0].text", Snippet: "s", Match: "exact", Reason: "r"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"tool": "write_file", "args": {"path":"/etc/x","n":9007199254740993}, "verdict": "deny", "reason": "path='/etc/x' outside allowed prefixes ['./out']", "contract": "constraint", ` +
		`"id": "abc", "time": "2026-01-02T03:04:05.000006Z", "session": "s1", "server": "files", "origin": "untrusted", ` +
		`"evidence": [{"contract": "sink_gate", "param": "to", "destination": "a@b.example", "kind": "email", "origin": "untrusted", "seen_server": "mail", "seen_tool": "read", "seen_call": "x", "seen_field": "content[0].text", "snippet": "s", "match": "exact", "reason": "r"}], ` +
		`"client": "c\n1", "answer": "person", "latency_us": 1500}`
	got := lines(t, path)
	if len(got) != 1 || got[0] != want {
		t.Errorf("line:\n%s\nwant:\n%s", got, want)
	}
	if !json.Valid([]byte(got[0])) {
		t.Error("the line is not JSON")
	}
	if runtime.GOOS != "windows" {
		file, _ := os.Stat(path)
		dir, _ := os.Stat(filepath.Dir(path))
		if file.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700 {
			t.Errorf("modes are %v and %v, want 0600 in 0700", file.Mode(), dir.Mode())
		}
	}
}

func TestNoArgsAndHugeArgs(t *testing.T) {
	log, path := open(t)
	huge := []byte(`{"body":"` + strings.Repeat("x", argsLimit) + `"}`)
	for _, args := range [][]byte{nil, huge} {
		if err := log.Append(Entry{Args: args}); err != nil {
			t.Fatal(err)
		}
	}
	got := lines(t, path)
	if !strings.Contains(got[0], `"args": null,`) {
		t.Errorf("absent arguments are logged as %s", got[0])
	}
	if len(got[1]) > 1000 || !strings.Contains(got[1], fmt.Sprintf(`{"bouncer:omitted": {"bytes": %d, "sha256": "`, len(huge))) {
		t.Errorf("huge arguments are logged as %.200s", got[1])
	}
}

// TestSeveralProcesses: B50, five processes append to one file and no line is torn or lost.
func TestSeveralProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var writers []*exec.Cmd
	for range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), "AUDIT_TEST_WRITER="+path)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, cmd)
	}
	for _, cmd := range writers {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	next := map[string]int{}
	for _, line := range lines(t, path) {
		var e struct {
			Tool string
			Args struct{ N int }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("torn line %.80q: %v", line, err)
		}
		if e.Args.N != next[e.Tool] {
			t.Fatalf("process %s: line %d came where %d was due", e.Tool, e.Args.N, next[e.Tool])
		}
		next[e.Tool]++
	}
	if len(next) != 5 {
		t.Errorf("lines of %d processes, want 5", len(next))
	}
}

// TestFollowsTheName: a log that was moved away or removed is begun anew under its name.
func TestFollowsTheName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed on Windows")
	}
	log, path := open(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(log.Append(Entry{Tool: "1"}))
	must(os.Rename(path, path+".1"))
	must(log.Append(Entry{Tool: "2"}))
	must(os.RemoveAll(filepath.Dir(path)))
	must(log.Append(Entry{Tool: "3"}))
	if got := lines(t, path); len(got) != 1 || !strings.HasPrefix(got[0], `{"tool": "3"`) {
		t.Errorf("after rotation and removal the log holds %q", got)
	}
}

// TestTornLine: a line that a crash left unfinished stays alone on its line.
func TestTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, []byte(`{"tool": "old"`), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Append(Entry{Tool: "new"}); err != nil {
		t.Fatal(err)
	}
	got := lines(t, path)
	if len(got) != 2 || got[0] != `{"tool": "old"` || !json.Valid([]byte(got[1])) {
		t.Errorf("log holds %q", got)
	}
}

// TestCannotWrite: a full disk is an error of Append, and the next line that fits stands whole on its own line.
func TestCannotWrite(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	log := &Log{path: "/dev/full"}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	log.file = full
	if err := log.Append(Entry{Tool: "x"}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Append on a full disk = %v, want ENOSPC", err)
	}
	log.Close()
	if err := log.Append(Entry{}); err == nil {
		t.Error("Append on a closed log is no error")
	}
	if _, err := Open(filepath.Join("/dev/null", "audit.jsonl")); err == nil {
		t.Error("Open below a file is no error")
	}
}

func TestTail(t *testing.T) {
	log, path := open(t)
	for i := range 300 {
		if err := log.Append(Entry{Tool: fmt.Sprint(i), Args: []byte(`"` + strings.Repeat("y", 997) + `"`)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{0, 1, 100, 300, 1000} {
		got, err := Tail(path, n)
		if err != nil {
			t.Fatal(err)
		}
		want := min(n, 300)
		if len(got) != want {
			t.Fatalf("Tail(%d) = %d lines", n, len(got))
		}
		for i, line := range got {
			if !bytes.HasPrefix(line, []byte(fmt.Sprintf(`{"tool": "%d",`, 300-want+i))) {
				t.Fatalf("Tail(%d)[%d] = %.40s", n, i, line)
			}
		}
	}
	if _, err := Tail(path+"x", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Tail of no file = %v", err)
	}
}

// TestDescribe: A59, what servers and clients wrote cannot steer the terminal.
func TestDescribe(t *testing.T) {
	line := Entry{Tool: "t\x1b[2J", Server: "s", Verdict: "deny", Contract: "c", Reason: "r\nforged", ID: "i", Time: time.Unix(0, 0)}.append(nil)
	got := Describe(bytes.TrimSpace(line), false)
	if strings.ContainsAny(got, "\x1b\n") || !strings.HasPrefix(got, "1970-01-01 00:00:00  i  deny   s/t") {
		t.Errorf("Describe = %q", got)
	}
	if got := Describe([]byte("torn\x1b"), true); strings.Contains(got, "\x1b") {
		t.Errorf("Describe of a torn line = %q", got)
	}
}

func BenchmarkAppend(b *testing.B) {
	log, err := Open(filepath.Join(b.TempDir(), "audit.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	e := Entry{Tool: "send_email", Args: []byte(`{"to":"a@corp.example","body":"hello"}`), Verdict: "allow", Reason: "no contract objected",
		Contract: "default", ID: "abcdefgh", Time: time.Now(), Session: "abcdefgh", Server: "mail", Client: "client 1.0"}
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			if err := log.Append(e); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare write", func(b *testing.B) {
		line := e.append(nil)
		for b.Loop() {
			log.file.Write(line)
		}
	})
}
