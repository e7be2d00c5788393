//go:build unix

package upstream

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

func socketPair(t *testing.T) (a, b *os.File) {
	t.Helper()
	fd, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b = os.NewFile(uintptr(fd[0]), "a"), os.NewFile(uintptr(fd[1]), "b")
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

func fired(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// The client's end is noticed with unread data in the pipe, which is when nobody is reading.
func TestHangup(t *testing.T) {
	t.Run("pipe", func(t *testing.T) {
		r, w := pipe(t)
		gone := Hangup(r)
		if _, err := w.WriteString("unread\n"); err != nil {
			t.Fatal(err)
		}
		if fired(gone) {
			t.Fatal("fired while the writer lives")
		}
		_ = w.Close()
		await(t, gone, "hangup")
		if rest, err := io.ReadAll(r); string(rest) != "unread\n" || err != nil {
			t.Errorf("read after hangup: %q, %v", rest, err)
		}
	})
	t.Run("socket", func(t *testing.T) {
		a, b := socketPair(t)
		gone := Hangup(a)
		_, _ = b.WriteString("unread\n")
		if fired(gone) {
			t.Fatal("fired while the peer lives")
		}
		_ = b.Close()
		await(t, gone, "hangup")
	})
	t.Run("socket shut down for writing", func(t *testing.T) {
		if hangupEvents == unix.POLLHUP {
			t.Skip("told on Linux only")
		}
		a, b := socketPair(t)
		gone := Hangup(a)
		if err := unix.Shutdown(int(b.Fd()), unix.SHUT_WR); err != nil {
			t.Fatal(err)
		}
		await(t, gone, "hangup")
	})
	t.Run("already gone", func(t *testing.T) {
		r, w := pipe(t)
		_ = w.Close()
		await(t, Hangup(r), "hangup")
	})
	t.Run("closed file", func(t *testing.T) {
		r, _ := pipe(t)
		_ = r.Close()
		await(t, Hangup(r), "hangup")
	})
	t.Run("reader closed meanwhile", func(t *testing.T) {
		r, w := pipe(t)
		gone := Hangup(r)
		_ = r.Close()
		_ = w.Close()
		await(t, gone, "hangup")
	})
}

// Unread data is no hangup. This asks the kernel directly, because a channel that has not fired yet proves nothing.
func TestHangupEventsIgnoreData(t *testing.T) {
	r, w := pipe(t)
	a, b := socketPair(t)
	for name, ends := range map[string][2]*os.File{"pipe": {r, w}, "socket": {a, b}} {
		if _, err := ends[1].WriteString("unread\n"); err != nil {
			t.Fatal(err)
		}
		poll := []unix.PollFd{{Fd: int32(ends[0].Fd()), Events: hangupEvents}}
		if n, err := unix.Poll(poll, 0); n != 0 || err != nil {
			t.Errorf("%s with data: %d, %v, events %#x", name, n, err, poll[0].Revents)
		}
		_ = ends[1].Close()
		if n, err := unix.Poll(poll, 0); n != 1 || err != nil {
			t.Errorf("%s closed: %d, %v", name, n, err)
		}
	}
}

func TestHangupNeverFires(t *testing.T) {
	regular, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer regular.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	files := map[string]*os.File{"nil": nil, "regular file": regular, "device": null}
	if master, tty, err := pty.Open(); err == nil {
		defer master.Close()
		defer tty.Close()
		files["terminal"] = tty
	}
	for name, f := range files {
		if Hangup(f) != nil {
			t.Errorf("%s: a channel that may fire", name)
		}
	}
}

// B49: a client that is gone is an EPIPE, not the death of Bouncer before its last audit line.
func TestStdioSurvivesClosedClient(t *testing.T) {
	outR, outW := pipe(t)
	errR, errW := pipe(t)
	_, _ = outR.Close(), errR.Close()
	cmd := exec.Command(self(t))
	cmd.Env = roleEnv("write-to-nobody")
	cmd.Stdout, cmd.Stderr = outW, errW
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("got %v, want status 7: both writes fail with EPIPE", err)
	}
}

// A client's pipe in non-blocking mode is read like any other.
func TestStdioMakesBlocking(t *testing.T) {
	fd := make([]int, 2)
	if err := unix.Pipe(fd); err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fd[1])
	inR, inW := os.NewFile(uintptr(fd[0]), "r"), os.NewFile(uintptr(fd[1]), "w")
	defer inW.Close()
	// After NewFile, which would make it a file that StartProcess switches back to blocking.
	if err := syscall.SetNonblock(fd[0], true); err != nil {
		t.Fatal(err)
	}
	outR, outW := pipe(t)
	server, err := os.StartProcess(self(t), []string{self(t)}, &os.ProcAttr{
		Env: roleEnv("nonblocking-stdin"), Files: []*os.File{inR, outW, os.Stderr},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = server.Wait() }()
	defer func() { _ = server.Kill() }()
	_ = outW.Close()
	out := bufio.NewReader(outR)
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	// Stdio has run by now, in the child, on the open file that both share.
	flags, err := unix.FcntlInt(uintptr(fd[0]), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("flags %#x, %v: still non-blocking", flags, err)
	}
	_ = inR.Close()
	if _, err := inW.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	_ = inW.Close()
	if line, err := out.ReadString('\n'); line != "\"hello\" <nil>\n" {
		t.Errorf("got %q, %v", line, err)
	}
}
