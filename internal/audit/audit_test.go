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
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("AUDIT_TEST_WRITER"); path != "" { // a second process that appends to the same file
		size, _ := strconv.ParseInt(os.Getenv("AUDIT_TEST_SIZE"), 10, 64)
		log, err := Open(path, Options{MaxSize: size, Keep: 1000, Every: 20})
		for i := 0; err == nil && (i < 500 || os.Getenv("AUDIT_TEST_FOREVER") != ""); i++ {
			err = log.Append(Entry{Tool: fmt.Sprint(os.Getpid()), Args: []byte(fmt.Sprintf(`{"n":%d,"pad":%q}`, i, strings.Repeat("x", i%500)))})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := log.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func openTest(t *testing.T) (*Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "home", "audit.jsonl")
	log, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log, path
}

func mustBeClean(t *testing.T, path string) Report {
	t.Helper()
	r, err := Verify(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Errorf("verify: %s", f)
	}
	return r
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
	log, path := openTest(t)
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
		`"client": "c\n1", "answer": "person", "latency_us": 1500`
	got := lines(t, path)
	if len(got) != 1 {
		t.Fatalf("%d lines, want 1", len(got))
	}
	chain := regexp.MustCompile(`^, "after": \{"size": 0, "line": ""\}, "opened": "bouncer audit writer\\nwriter ([a-z2-7]{16})\\nafter 0 -\\n\\n\x{2014} bouncer-audit [A-Za-z0-9+/=]{92}\\n", "v": 1, "writer": "([a-z2-7]{16})", "seq": 1, "at": 0, "prev": ""\}$`)
	rest, ok := strings.CutPrefix(got[0], want)
	if m := chain.FindStringSubmatch(rest); !ok || m == nil || m[1] != m[2] {
		t.Errorf("line:\n%s\nwant:\n%s...", got[0], want)
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
	log, path := openTest(t)
	huge := []byte(`[` + strings.Repeat(`"x",`, argsLimit/4) + `""]`)
	for _, args := range [][]byte{nil, huge, []byte(`{"body":"` + strings.Repeat("x", argsLimit) + `"}`)} {
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
	if len(got[2]) > 1000 || !strings.Contains(got[2], `"args": {"body":"[omitted: 65536 bytes, sha256 `) {
		t.Errorf("a huge string is logged as %.200s", got[2])
	}

	bare, err := Open(filepath.Join(t.TempDir(), "audit.jsonl"), Options{NoArgs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	if err := bare.Append(Entry{Args: []byte(`{"a":1}`)}); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, bare.path); !strings.Contains(got[0], `"args": null,`) {
		t.Errorf("with NoArgs: %s", got[0])
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
		if line == "" || !IsEntry([]byte(line)) { // a writer that looked while another wrote ends a line too many
			continue
		}
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
	mustBeClean(t, path)
}

// TestFollowsTheName: a log that was moved away or removed is begun anew under its name.
func TestFollowsTheName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed on Windows")
	}
	log, path := openTest(t)
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
	if r, err := Verify(path); err != nil || r.Clean() {
		t.Errorf("Verify of a log whose beginning is gone: %+v, %v", r, err)
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

// TestCannotWrite: a full disk is an error of Append, unless the line is there but for its end; and the next line that fits
// stands whole on its own line.
func TestCannotWrite(t *testing.T) {
	log, path := openTest(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(log.Append(Entry{Tool: "1"}))
	for _, room := range []int{0, 1, 17, 300, -1} { // -1: all but the line end
		disk := log.write
		log.write = func(b []byte) (int, error) {
			n := room
			if room < 0 {
				n = len(b) - 1
			}
			n, _ = disk(b[:n])
			return n, syscall.ENOSPC
		}
		if err := log.Append(Entry{Tool: "full"}); errors.Is(err, syscall.ENOSPC) == (room < 0) {
			t.Errorf("Append on a disk with room for %d = %v", room, err)
		}
		log.write = disk
		if room%2 == 1 { // another process comes first
			other, err := Open(path)
			must(err)
			must(other.Append(Entry{Tool: "other"}))
			must(other.Close())
		}
		must(log.Append(Entry{Tool: "again"}))
	}
	must(log.Close())
	again := 0
	for _, line := range lines(t, path) {
		if json.Valid([]byte(line)) && strings.HasPrefix(line, `{"tool": "again"`) {
			again++
		}
	}
	if again != 5 {
		t.Errorf("%d lines after a full disk stand whole, want 5", again)
	}
	if r := mustBeClean(t, path); len(r.Notes) != 3 {
		t.Errorf("notes %v, want the three unfinished lines", r.Notes)
	}
	if err := log.Append(Entry{}); err == nil {
		t.Error("Append on a closed log is no error")
	}
	if _, err := Open(filepath.Join("/dev/null", "audit.jsonl")); err == nil {
		t.Error("Open below a file is no error")
	}
	if _, err := Open("/dev/full"); err == nil {
		t.Error("Open of a device is no error")
	}
}

func TestTail(t *testing.T) {
	log, path := openTest(t)
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
	line := Entry{Tool: "t\x1b[2J", Server: "s", Verdict: "deny", Contract: "c", Reason: "r\nforged", ID: "i", Time: time.Unix(0, 0)}.append(nil, newMasker(nil), false)
	got := Describe(append(line, '}'), false)
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
	if err := log.Append(e); err != nil {
		b.Fatal(err)
	}
	chain := log.chain
	line := chain.finish(e.append(nil, log.mask, false), 0, 1000000)
	bare, err := os.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	for round := range 3 {
		b.Run(fmt.Sprintf("chained/%d", round), func(b *testing.B) {
			for b.Loop() {
				if err := log.Append(e); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("bare/%d", round), func(b *testing.B) {
			for b.Loop() {
				if _, err := bare.Write(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestBuffer: buffered lines are written together, in order, before whatever comes after them; and when they cannot be,
// Flush says so although something else tried first.
func TestBuffer(t *testing.T) {
	log, path := openTest(t)
	for _, tool := range []string{"1", "2", "3"} {
		log.Buffer(Entry{Tool: tool})
	}
	if err := log.Append(Entry{Tool: "4"}); err != nil {
		t.Fatal(err)
	}
	log.Buffer(Entry{Tool: "5"})
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := log.Flush(); err != nil {
		t.Fatal(err)
	}
	for i, line := range lines(t, path) {
		if !strings.HasPrefix(line, fmt.Sprintf(`{"tool": "%d"`, i+1)) {
			t.Errorf("line %d is %.40s", i+1, line)
		}
	}

	disk, full := log.write, errors.New("full")
	log.write = func([]byte) (int, error) { return 0, full }
	log.Buffer(Entry{Tool: "lost"})
	if err := log.Append(Entry{Tool: "too"}); !errors.Is(err, full) {
		t.Errorf("Append = %v", err)
	}
	log.write = disk
	if err := log.Flush(); !errors.Is(err, full) {
		t.Errorf("Flush = %v, but a buffered line was lost", err)
	}
	log.Buffer(Entry{Tool: "6"})
	if err := log.Flush(); err != nil {
		t.Errorf("the log did not recover: %v", err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := Verify(path)
	if err != nil || !report.Clean() {
		t.Errorf("verify: %+v, %v", report, err)
	}
}

// TestBufferHalfWritten: of lines that were written together, those that the disk took whole count.
func TestBufferHalfWritten(t *testing.T) {
	log, path := openTest(t)
	if err := log.Append(Entry{Tool: "0"}); err != nil {
		t.Fatal(err)
	}
	disk := log.write
	log.write = func(b []byte) (int, error) {
		n, _ := disk(b[:len(b)*2/3])
		return n, errors.New("full")
	}
	for _, tool := range []string{"1", "2", "3"} {
		log.Buffer(Entry{Tool: tool})
	}
	if log.Flush() == nil {
		t.Error("half of the lines are written, and Flush is nil")
	}
	log.write = disk
	if err := log.Append(Entry{Tool: "4"}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := Verify(path)
	if err != nil || !report.Clean() {
		t.Errorf("verify: %+v, %v", report, err)
	}
}
