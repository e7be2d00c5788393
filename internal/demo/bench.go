package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	serverName = "mail"
	// protocol is the newest version in which a question reaches the client as a request of its own.
	protocol = "2025-11-25"
	// exitFor is how long the child has for each way of ending it: by the end of its input, by a signal, by force.
	exitFor = 2 * time.Second
)

// bench is the stage of the real demo: a client, Bouncer as a child process, and what both leave on disk.
type bench struct {
	dir     string // the mail server's directory
	audit   *tail
	person  *person
	client  *mcp.ClientSession
	stderr  *capture
	noLinks bool // this account cannot make symbolic links
}

// prepare makes the mail server's directory: a place where writing is allowed, one where it is not, and a link from
// the first to the second.
func (b *bench) prepare() error {
	for _, name := range []string{"notes", "private"} {
		if err := os.MkdirAll(filepath.Join(b.dir, name), 0o700); err != nil {
			return err
		}
	}
	err := os.Symlink(filepath.Join("..", "private"), filepath.Join(b.dir, "notes", "shared"))
	if err != nil && runtime.GOOS == "windows" {
		b.noLinks, err = true, nil
	}
	return err
}

// start starts Bouncer around the mail server and connects to it. The child dies with ctx.
func (b *bench) start(ctx context.Context, self, policy, home string) error {
	cmd := exec.CommandContext(ctx, self, "run", "--name", serverName, "--policy", policy, "--", self, "demo-server", b.dir)
	cmd.Dir = b.dir // where relative paths start, for the server and for Bouncer alike
	cmd.Env = append(environ(), "BOUNCER_HOME="+home)
	cmd.WaitDelay = exitFor // whatever holds on to its pipes is not waited for
	b.person, b.stderr = &person{}, &capture{}
	cmd.Stderr = b.stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "demo-agent", Version: "1.0"}, &mcp.ClientOptions{ElicitationHandler: b.person.elicit})
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: exitFor},
		&mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		return fmt.Errorf("start bouncer: %w%s", err, b.stderr.tail())
	}
	b.client = session
	return nil
}

// environ is this process's environment without any setting of Bouncer: the demo is the same for everybody.
func environ() []string {
	var out []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(strings.ToUpper(v), "BOUNCER_") {
			out = append(out, v)
		}
	}
	return out
}

// stop ends the session, and reports a Bouncer that did not end well. It does not wait for ever.
func (b *bench) stop() error {
	ended := make(chan error, 1)
	go func() { ended <- b.client.Close() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("bouncer did not end well: %w%s", err, b.stderr.tail())
		}
		return nil
	case <-time.After(4 * exitFor):
		return errors.New("bouncer did not end")
	}
}

func (b *bench) call(ctx context.Context, tool string, args map[string]any, answer string) (reply, error) {
	b.person.expect(answer)
	res, err := b.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return reply{}, fmt.Errorf("call %s: %w%s", tool, err, b.stderr.tail())
	}
	r := reply{isError: res.IsError, questions: b.person.questions()}
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			r.text += text.Text
		}
	}
	return r, nil
}

func (b *bench) log() ([]line, error) { return b.audit.next() }

func (b *bench) outbox() ([]letter, error) {
	data, err := os.ReadFile(filepath.Join(b.dir, outboxFile))
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	var out []letter
	for decoder := json.NewDecoder(bytes.NewReader(data)); ; {
		var l letter
		if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("read outbox: %w", err)
		}
		out = append(out, l)
	}
}

func (b *bench) files() ([]string, error) {
	var out []string
	err := filepath.WalkDir(b.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(b.dir, path)
		out = append(out, filepath.ToSlash(name))
		return err
	})
	return out, err
}
