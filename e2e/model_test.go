package e2e

import (
	"net"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// step is what the scripted model does next: it calls a tool, or says something.
type step struct {
	Tool  string         `json:"tool,omitempty"`
	Input map[string]any `json:"input,omitempty"`
	Text  string         `json:"text,omitempty"`
}

// scriptedModel plays a model on loopback, for a real client, and returns its address.
func scriptedModel(t *testing.T, s sandbox, steps ...step) string {
	t.Helper()
	program := needShared(t, "tools/scripted-model.mjs")
	script := filepath.Join(t.TempDir(), "script.json")
	writeJSON(t, script, steps)
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := probe.Addr().String()
	probe.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(needNode(t), program, script, port)
	cmd.Dir, cmd.Env = s.work, s.env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for until := time.Now().Add(usual.patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return address
		}
		if time.Now().After(until) {
			t.Fatalf("the scripted model does not listen: %v", err)
		}
	}
}
