package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// limits bound every wait on a process.
type limits struct {
	patience time.Duration // for an answer, a write, the end
	linger   time.Duration // for its pipes to close after its end: what it started may hold them for ever
}

// usual is long because machines are slow; no test that passes ever waits it out.
var usual = limits{patience: 3 * time.Minute, linger: 30 * time.Second}

// client speaks MCP with a process over its pipes, in raw lines. Every wait ends: with what was waited for, when the
// process ends, or when patience does. Its methods belong to one goroutine.
type client struct {
	t        testing.TB
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	in       *inbox
	errs     *stderrText
	ended    chan struct{} // closed when the process has ended and all it wrote is in
	held     bool          // something it started held its pipes; valid when ended is closed
	nextID   int
	limits   limits
	tolerant bool // problems do not fail the test; set it where the process is meant to misbehave
}

// start runs a command in the sandbox's directory and environment. When the test ends the process is ended too, and what
// it did wrong fails the test: see problems.
func start(t testing.TB, s sandbox, argv ...string) *client {
	t.Helper()
	return startWithin(t, usual, s, argv...)
}

func startWithin(t testing.TB, l limits, s sandbox, argv ...string) *client {
	t.Helper()
	c := &client{t: t, in: newInbox(), errs: &stderrText{}, ended: make(chan struct{}), limits: l}
	c.cmd = exec.Command(argv[0], argv[1:]...)
	c.cmd.Dir, c.cmd.Env = s.work, s.env
	ownGroup(c.cmd)
	// Pipes of our own: exec's forget that something held them when the exit code is not 0.
	outRead, outWrite := pipe(t)
	errRead, errWrite := pipe(t)
	c.cmd.Stdout, c.cmd.Stderr = outWrite, errWrite
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	err = c.cmd.Start()
	outWrite.Close()
	errWrite.Close()
	if err != nil {
		outRead.Close()
		errRead.Close()
		t.Fatalf("start %v: %v", argv, err)
	}
	go c.follow(outRead, errRead)
	t.Cleanup(c.cleanup)
	return c
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// follow reads what the process writes until it has ended and its pipes are closed.
func (c *client) follow(stdout, stderr *os.File) {
	var copies sync.WaitGroup
	copies.Go(func() { io.Copy(c.in, stdout) })
	copies.Go(func() { io.Copy(c.errs, stderr) })
	copied := make(chan struct{})
	go func() {
		copies.Wait()
		close(copied)
	}()
	c.cmd.Wait() // its outcome is in ProcessState
	select {
	case <-copied:
	case <-time.After(c.limits.linger):
		c.held = true
		killGroup(c.cmd)
	}
	stdout.Close() // ends the copies, should a pipe still be open
	stderr.Close()
	<-copied
	close(c.ended)
}

func (c *client) cleanup() {
	if _, err := c.end(); err != nil && !c.tolerant {
		c.t.Errorf("%v: %v", c.cmd.Args, err)
	}
	if !c.tolerant {
		for _, p := range c.problems() {
			c.t.Errorf("%v: %s", c.cmd.Args, p)
		}
	}
	if c.t.Failed() {
		c.t.Logf("stderr of %v:\n%s", c.cmd.Args, c.stderr())
	}
}

// problems lists what the process did that is wrong in every test: see inbox.problems, and races and panics in its
// standard error. Call it when the process has ended.
func (c *client) problems() []string {
	list := c.in.problems()
	text := c.stderr()
	for _, sign := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: "} {
		if strings.HasPrefix(text, sign) || strings.Contains(text, "\n"+sign) {
			list = append(list, "standard error has "+sign)
		}
	}
	return list
}

// send writes one line as it is.
func (c *client) send(line string) {
	c.t.Helper()
	if err := c.write(line); err != nil {
		c.t.Fatalf("send %s: %v\nstderr:\n%s", shorten(line), err, c.stderr())
	}
}

// write is send with an error. A process that does not read is killed, or the write would stay behind.
func (c *client) write(line string) error {
	if strings.Contains(line, "\n") {
		return errors.New("a line holds a newline")
	}
	done := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c.stdin, line+"\n")
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(c.limits.patience):
		return errors.Join(fmt.Errorf("not read within %v", c.limits.patience), c.kill())
	}
}

// find waits for the first matching frame that no earlier call has handed out.
func (c *client) find(what string, match func(frame) bool) (frame, error) {
	deadline := time.NewTimer(c.limits.patience)
	defer deadline.Stop()
	for {
		if f, ok := c.in.take(match); ok {
			return f, nil
		}
		select {
		case <-c.in.arrived:
		case <-c.ended:
			if f, ok := c.in.take(match); ok { // it came with the end
				return f, nil
			}
			return frame{}, fmt.Errorf("%s: the process ended first (%v)", what, c.cmd.ProcessState)
		case <-deadline.C:
			return frame{}, fmt.Errorf("%s: nothing within %v", what, c.limits.patience)
		}
	}
}

// await returns the response to a request. The id is its raw JSON token, since 1 and "1" are different requests.
func (c *client) await(id string) frame {
	c.t.Helper()
	return c.must("response to "+id, func(f frame) bool { return f.isResponse() && f.id == id })
}

// awaitMethod returns the next request or notification of that name from the process.
func (c *client) awaitMethod(method string) frame {
	c.t.Helper()
	return c.must(method, func(f frame) bool { return f.method == method })
}

func (c *client) must(what string, match func(frame) bool) frame {
	c.t.Helper()
	f, err := c.find(what, match)
	if err == nil {
		return f
	}
	var seen strings.Builder
	for _, f := range c.in.all() {
		fmt.Fprintln(&seen, shorten(f.raw))
	}
	c.t.Fatalf("%v\nall that came:\n%sstderr:\n%s", err, &seen, c.stderr())
	return frame{}
}

// request sends a request with an id of its own and returns the response.
func (c *client) request(method string, params any) frame {
	c.t.Helper()
	c.nextID++
	id := fmt.Sprint(c.nextID)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, id, c.encode(method), c.encode(params)))
	return c.await(id)
}

// call is a tools/call; see request.
func (c *client) call(tool string, args map[string]any) frame {
	c.t.Helper()
	return c.request("tools/call", map[string]any{"name": tool, "arguments": args})
}

// initialize does the handshake of the 2025-11-25 protocol and returns the server's answer. Capabilities may be nil.
func (c *client) initialize(capabilities map[string]any) frame {
	c.t.Helper()
	if capabilities == nil {
		capabilities = map[string]any{}
	}
	answer := c.request("initialize", map[string]any{
		"protocolVersion": "2025-11-25",
		"capabilities":    capabilities,
		"clientInfo":      map[string]any{"name": "bouncer-e2e", "version": "0"},
	})
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return answer
}

func (c *client) encode(v any) string {
	c.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(data)
}

// stderr returns what the process wrote there so far.
func (c *client) stderr() string { return c.errs.String() }

// close ends the process's input and waits for it, as a client that goes away does. It returns the exit code; a process
// that has to be killed fails the test.
func (c *client) close() int {
	c.t.Helper()
	code, err := c.end()
	if err != nil {
		c.t.Fatalf("close: %v\nstderr:\n%s", err, c.stderr())
	}
	return code
}

// end is close with an error. It returns when the process is gone, whatever it takes.
func (c *client) end() (int, error) {
	c.stdin.Close() // an error means that it is closed already
	select {
	case <-c.ended:
	case <-time.After(c.limits.patience):
		err := errors.Join(fmt.Errorf("still running %v after its input ended", c.limits.patience), c.kill())
		<-c.ended // bounded by linger
		return -1, err
	}
	if c.held {
		return -1, errors.New("left a process behind that held its pipes")
	}
	return c.cmd.ProcessState.ExitCode(), nil
}

func (c *client) kill() error {
	select {
	case <-c.ended:
		return nil
	default:
		return killGroup(c.cmd)
	}
}
