// Package upstream is the real MCP server's process: it starts the program that the user configured, hands out its
// stdin and stdout, tags its stderr, and ends it with everything that it started.
//
// It must not look at a single byte of the protocol, must not change the command (no shell, no re-quoting, no
// expansion, no change of directory), and must not write argument or environment values anywhere: they carry secrets.
package upstream

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	defaultGrace = 2 * time.Second

	// killWait bounds the wait for what cannot be refused. A process in an uninterruptible system call (a dead network
	// file system) outlives SIGKILL, and Bouncer must not hang with it.
	killWait = 2 * time.Second

	// drainWait bounds the wait for the last lines of stderr, which usually say why the server died. A process that left
	// the group can hold the pipe open for ever, and the client may have stopped reading our stderr.
	drainWait = time.Second
)

// Spec says what to start. The command line reaches the server exactly as it stands here, empty arguments, quotes and
// newlines included (A83, B40).
type Spec struct {
	Command string   // argv[0]; without a path separator it is looked up in the PATH of Env
	Args    []string // the rest of argv
	Env     []string // "NAME=value"; nil inherits Bouncer's own
	Dir     string   // working directory; "" inherits Bouncer's own, which Bouncer never changes (B37)

	StderrPrefix string        // put before every stderr line, verbatim: "[name] "
	Grace        time.Duration // how long each step of Stop waits; 0 (or less) means two seconds
}

// Process is a started server. All its methods may be called from any goroutine.
//
// Whoever starts a Process must call Stop in the end, also when Done has fired by itself: Stop is what waits until
// orphans are gone and the last line of stderr is out.
type Process struct {
	command string
	cmd     *exec.Cmd
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File // our end; read by relayLines only
	group   *group
	grace   time.Duration

	done    chan struct{} // the server itself has exited and was reaped
	gone    chan struct{} // its group is gone as well, and stderr is drained or given up
	stuck   chan struct{} // the server outlived SIGKILL for killWait
	hurry   chan struct{} // a caller of Stop ran out of patience: no more grace
	relayed chan struct{} // stderr ended

	stopOnce  sync.Once
	hurryOnce sync.Once

	exitErr  error // valid after done
	exitCode int   // valid after done
	sweepErr error // valid after gone
}

// Start runs the server and returns once it is executing. Its stderr goes to stderr line by line (nil discards it);
// a line is one Write, so that a writer shared with others only needs to keep single writes whole.
//
// A command that does not exist is a *NotFoundError. Every other error names the command and never an argument.
// Nothing is left running or open when Start returns an error.
func Start(spec Spec, stderr io.Writer) (*Process, error) {
	if stderr == nil {
		stderr = io.Discard
	}
	cmd, err := command(spec)
	if err != nil {
		return nil, err
	}
	ends, err := openPipes()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Command, err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends.stdin.child, ends.stdout.child, ends.stderr.child

	p := &Process{
		command: spec.Command,
		cmd:     cmd,
		stdin:   ends.stdin.ours,
		stdout:  ends.stdout.ours,
		stderr:  ends.stderr.ours,
		group:   newGroup(cmd),
		grace:   spec.Grace,
		done:    make(chan struct{}),
		gone:    make(chan struct{}),
		stuck:   make(chan struct{}),
		hurry:   make(chan struct{}),
		relayed: make(chan struct{}),
	}
	if p.grace <= 0 {
		p.grace = defaultGrace
	}
	started := make(chan error)
	go p.live(started)
	err = <-started
	ends.closeChild()
	if err != nil {
		ends.closeOurs()
		return nil, explainStart(spec, err)
	}
	go func() {
		defer close(p.relayed)
		relayLines(p.stderr, stderr, spec.StderrPrefix)
	}()
	return p, nil
}

// live is the whole life of the server on one OS thread. Linux ties the parent-death signal to the thread that
// forked, not to the process: a thread that the runtime retires would send SIGTERM to a healthy server. So the thread
// that starts the server is kept until the server is dead.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	err := p.cmd.Start()
	if err == nil {
		if err = p.group.adopt(p.cmd.Process); err != nil {
			// Outside its group it could not be ended whole, so it does not run at all.
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	}
	started <- err
	if err != nil {
		return
	}
	if err := p.cmd.Wait(); err != nil {
		p.exitErr = fmt.Errorf("server %s: %w", p.command, err)
	}
	p.exitCode = -1 // also when Wait itself went wrong: never a made-up success
	if state := p.cmd.ProcessState; state != nil {
		p.exitCode = state.ExitCode()
	}
	close(p.done)
	go p.finish()
}

// Stdin is the server's stdin. A write blocks while the pipe is full, and fails with EPIPE once the server has closed
// its end (B46): no signal reaches Bouncer. Close is what tells the server to finish; Stop does it too.
//
// A write that is blocked on a server that does not read cannot be interrupted, and the EOF of Close waits behind it.
// It returns when the server is dead, which Stop sees to.
func (p *Process) Stdin() io.WriteCloser { return p.stdin }

// Stdout is the server's stdout. It ends with io.EOF when the last holder of the other end has closed it. That may be
// before Done (the server closed stdout and lives on, B46), and it may be never: a process that left the server's
// group can hold it open. So after Done give the reader a bounded time for what is still in the pipe (B49).
func (p *Process) Stdout() io.Reader { return p.stdout }

// Pid is the server's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the server has exited.
func (p *Process) Done() <-chan struct{} { return p.done }

// ExitError says how the server ended: nil for status 0, else an error that wraps *exec.ExitError. It is nil while the
// server runs; wait for Done first.
func (p *Process) ExitError() error {
	select {
	case <-p.done:
		return p.exitErr
	default:
		return nil
	}
}

// ExitCode is the server's exit status, or -1 while it runs and when a signal ended it.
func (p *Process) ExitCode() int {
	select {
	case <-p.done:
		return p.exitCode
	default:
		return -1
	}
}

// command builds the exec.Cmd. Path is what was found, argv[0] stays what the user wrote: some programs look at it.
func command(spec Spec) (*exec.Cmd, error) {
	for i, arg := range append([]string{spec.Command}, spec.Args...) {
		// The kernel ends an argument at the first NUL: the server would get another argument than the one shown.
		if strings.IndexByte(arg, 0) >= 0 {
			return nil, fmt.Errorf("start server: argument %d of its command line contains a NUL byte", i)
		}
	}
	path, err := lookup(spec)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: path,
		Args: append([]string{spec.Command}, spec.Args...),
		Env:  spec.Env,
		Dir:  spec.Dir,
	}
	if err := viaInterpreter(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Command, err)
	}
	return cmd, nil
}
