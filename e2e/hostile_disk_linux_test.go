package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mountTmpfs mounts a small file system at dir; only root may.
func mountTmpfs(t *testing.T, dir, options string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("bouncer-e2e", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
}

// fill writes a file until the disk is full, and returns its path.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return f.Name()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// B50: the disk runs full, in the middle of a line if need be. Calls are denied for that reason, those of reading tools
// too, until there is room again; every call that reached the server is in the log, in a whole line.
func TestDiskRunsFull(t *testing.T) {
	t.Parallel()
	s, bouncer := newSandbox(t), bouncerBinary(t)
	mountTmpfs(t, s.bouncer, "size=64k,mode=700")
	h := wrapIn(t, s, bouncer, "plain", "--session", "memory").open(nil)
	h.works()
	passed := 1
	for range 3 {
		filler := fill(t, s.bouncer)
		passed += h.readUntilDenied(100) // the last page of the log has some room
		for range 3 {
			passed += h.readUntilDenied(1)
		}
		if got := textOf(t, h.call("write", map[string]any{"path": "/etc/x"})); !got.IsError {
			t.Errorf("a call that is denied anyway answers %+v", got)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		h.works()
		passed++
	}
	h.closes(0)
	if got := len(h.reached()); got != passed {
		t.Errorf("%d calls reached the server, %d were answered as allowed", got, passed)
	}
	verdicts, torn := logLines(t, filepath.Join(s.bouncer, "audit.jsonl"))
	allowed := 0
	for _, v := range verdicts {
		if v.Verdict == "allow" {
			allowed++
		}
	}
	if allowed != passed {
		t.Errorf("%d whole lines say allow, want %d", allowed, passed)
	}
	if torn > 3 { // one each time
		t.Errorf("%d torn lines", torn)
	}
	if !strings.Contains(h.stderr(), "no space left on device") {
		t.Errorf("the user is not told why:\n%s", h.stderr())
	}
}

// Without room for a log, or on a disk that cannot be written, nothing is started.
func TestHomeOnMount(t *testing.T) {
	t.Parallel()
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		s := newSandbox(t)
		mountTmpfs(t, s.bouncer, "size=4k,mode=700")
		fill(t, s.bouncer)
		refusesToStart(t, s, 1, s.bouncer, "no space left on device")
	})
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		s := newSandbox(t)
		mountTmpfs(t, s.bouncer, "size=4k,mode=700")
		if err := syscall.Mount("", s.bouncer, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Skip(err)
		}
		refusesToStart(t, s, 1, s.bouncer, "read-only file system")
	})
	t.Run("nowhere", func(t *testing.T) {
		t.Parallel()
		s := newSandbox(t)
		s.bouncer = "/proc/bouncer-home"
		refusesToStart(t, s, 1, s.bouncer)
	})
	t.Run("/dev/full", func(t *testing.T) { // a log that is no regular file is none
		t.Parallel()
		s := newSandbox(t)
		if err := os.Mkdir(s.bouncer, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/dev/full", filepath.Join(s.bouncer, "audit.jsonl")); err != nil {
			t.Fatal(err)
		}
		refusesToStart(t, s, 1)
	})
}

// The disk that the session is on runs full. Nothing is decided without the facts of the others, no answer passes that they
// would never know of, and when there is room again all is well. (The log is on the same disk, and may be first to say no.)
func TestSessionDiskRunsFull(t *testing.T) {
	t.Parallel()
	s, bouncer := newSandbox(t), bouncerBinary(t)
	mountTmpfs(t, s.bouncer, "size=2m,mode=700")
	h := wrapIn(t, s, bouncer, "plain").open(nil)
	h.works()
	for range 3 {
		filler := fill(t, s.bouncer)
		denied := 0
		for range 200 { // the last pages have some room
			if got := textOrError(t, h.call("read", map[string]any{"n": 1})); strings.Contains(got, "[bouncer blocked]") || strings.Contains(got, "is withheld") {
				denied++
			}
		}
		if denied < 50 {
			t.Errorf("on a full disk %d of 200 calls were denied or their answers withheld", denied)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		h.works()
	}
	h.closes(0)
}

func textOrError(t *testing.T, f frame) string {
	t.Helper()
	if f.result == nil {
		return f.raw
	}
	return textOf(t, f).Text
}
