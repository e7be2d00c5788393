//go:build unix

package otlp

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestLogThatHangs: a log that the system never opens, such as a pipe in its place, does not keep the session from ending.
func TestLogThatHangs(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	s := begin(t, "http://127.0.0.1:9", func(o *Options) { o.Path, o.Grace = pipe, 50*time.Millisecond })
	s.write(t, entry("ours", "one"))
	said := s.end(t) // returns
	if len(said) == 0 {
		t.Error("nothing is said of the verdict that was not exported")
	}
	if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // lets the reader go
		w.Close()
	}
}
