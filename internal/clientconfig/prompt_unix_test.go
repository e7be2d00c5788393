//go:build unix

package clientconfig

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A person at a terminal is asked; only a yes is a yes.
func TestPrompt(t *testing.T) {
	exe := buildBouncer(t)
	tests := []struct {
		answer string
		code   int
	}{
		{"y\n", 0}, {"YES\n", 0}, {"n\n", 1}, {"\n", 1}, {"yes please\n", 1}, {"\x04", 1},
	}
	for _, tt := range tests {
		t.Run(strings.TrimSpace(tt.answer), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mcp.json")
			writeFile(t, path, simple)
			cmd := exec.Command(exe, "init", "--config", path)
			cmd.Env = append(os.Environ(), "BOUNCER_HOME="+t.TempDir())
			terminal, err := pty.Start(cmd)
			if err != nil {
				t.Skip(err)
			}
			defer terminal.Close()
			defer time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }).Stop()
			said := readUntil(terminal, "[y/N] ")
			if _, err := io.WriteString(terminal, tt.answer); err != nil {
				t.Fatal(err)
			}
			rest, _ := io.ReadAll(terminal) // ends with an error when the other side is gone
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("exit %d, want %d\n%s%s", code, tt.code, said, rest)
			}
			if wrapped := strings.Contains(readFile(t, path), Sentinel); wrapped != (tt.code == 0) {
				t.Errorf("wrapped: %v", wrapped)
			}
		})
	}
}

func readUntil(r io.Reader, end string) string {
	var out bytes.Buffer
	one := make([]byte, 1)
	for !strings.HasSuffix(out.String(), end) {
		if _, err := r.Read(one); err != nil {
			break
		}
		out.Write(one)
	}
	return out.String()
}
