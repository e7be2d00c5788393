// Package agentdojo holds Python programs: an exporter of AgentDojo's ground truth, and what puts Bouncer in front of its
// tools while a live model uses them. The only Go here is the test that runs theirs; Bouncer itself must not need Python.
package agentdojo

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPython runs the Python tests, with the real program for those that need it.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import sys; assert sys.version_info >= (3, 10)").Run()
	}
	if err != nil && os.Getenv("BOUNCER_SHARED") != "required" {
		t.Skipf("no Python 3.10 or later: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	bouncer := filepath.Join(t.TempDir(), "bouncer.exe")
	if out, err := exec.Command("go", "build", "-o", bouncer, "../../cmd/bouncer").CombinedOutput(); err != nil {
		t.Fatalf("build bouncer: %v\n%s", err, out)
	}
	cmd := exec.Command(python, "-B", "-X", "dev", "-m", "unittest", "discover", "tests")
	cmd.Env = append(os.Environ(), "BOUNCER_BIN="+bouncer)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
