package upstream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"testing"
	"time"
)

// The test binary is its own server: with this variable set it plays one of the roles instead of running tests.
const roleVar = "BOUNCER_UPSTREAM_TEST_ROLE"

// patience is how long a test waits for something that is certain to happen. It is a bound on hanging, not a measure.
const patience = 20 * time.Second

var roles = map[string]func(){
	"report": func() { // what the server sees of its start
		dir, _ := os.Getwd()
		_ = json.NewEncoder(os.Stdout).Encode(report{Args: os.Args, Env: os.Environ(), Dir: dir})
	},
	"echo":  func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"exit3": func() { os.Exit(3) },
	"flood": func() {
		line := []byte(strings.Repeat("x", 99) + "\n")
		out := bufio.NewWriterSize(os.Stderr, 1<<16)
		for range floodLines {
			_, _ = out.Write(line)
		}
		_ = out.Flush()
		fmt.Println("flooded")
	},
	"last-words": func() {
		fmt.Fprint(os.Stderr, "first\nsecond without newline")
		os.Exit(1)
	},
	"deaf": func() { // closes its stdin and lives on
		_ = os.Stdin.Close()
		fmt.Println("closed")
		sleepForever()
	},
	"mute": func() { // closes its stdout and lives on until its stdin ends
		_ = os.Stdout.Close()
		_, _ = io.Copy(io.Discard, os.Stdin)
	},
	"stubborn": func() { // neither EOF nor a polite signal ends it
		signal.Ignore(politeSignals...)
		fmt.Println("ready")
		sleepForever()
	},
	"silent": sleepForever,
	"idle": func() {
		fmt.Println("ready")
		sleepForever()
	},
}

const floodLines = 100_000 // of 100 bytes: 10 MB

type report struct {
	Args, Env []string
	Dir       string
}

func TestMain(m *testing.M) {
	if name := os.Getenv(roleVar); name != "" {
		role, ok := roles[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such role:", name)
			os.Exit(99)
		}
		role()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// sleepForever is not select{}: the runtime would call that a deadlock, and the role would exit.
func sleepForever() {
	for {
		time.Sleep(time.Hour)
	}
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func roleEnv(role string, more ...string) []string {
	// Under the race detector a process sleeps a second before it exits, unless told not to.
	return append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", roleVar+"="+role), more...)
}

// start starts a role and stops it with the test.
func start(t *testing.T, role string, stderr io.Writer, change func(*Spec)) *Process {
	t.Helper()
	spec := Spec{Command: self(t), Env: roleEnv(role), StderrPrefix: "[t] ", Grace: patience}
	if change != nil {
		change(&spec)
	}
	p, err := Start(spec, stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopNow(t, p) })
	return p
}

// stopNow ends p without grace.
func stopNow(t *testing.T, p *Process) {
	t.Helper()
	if err := p.Stop(cancelled()); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// readLine reads one line of the server's stdout.
func readLine(t *testing.T, p *Process) string {
	t.Helper()
	line := make(chan string, 1)
	go func() {
		s, _ := bufio.NewReader(p.Stdout()).ReadString('\n')
		line <- s
	}()
	select {
	case s := <-line:
		return s
	case <-time.After(patience):
		t.Fatal("no line on stdout")
		return ""
	}
}

// await fails the test when event does not come.
func await(t *testing.T, event <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(patience):
		t.Fatalf("%s: nothing happened", what)
	}
}

// eventually polls, with a deadline that only failure reaches.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: still not so", what)
		}
	}
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
