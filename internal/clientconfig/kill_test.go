package clientconfig

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeForEver is the program that TestKilledInMidWrite kills.
func writeForEver(path, home string) {
	fmt.Println("ready")
	for o := testOptions(); ; o.Undo = !o.Undo {
		c, err := Plan(path, o)
		if err == nil {
			err = c.Apply(home)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func TestKilledInMidWrite(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	filler := `, "history": "` + strings.Repeat("lorem ipsum ", 40000) + `"}`
	old := strings.TrimSuffix(strings.TrimSpace(simple), "}") + filler
	writeFile(t, path, old)
	c, err := Plan(path, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	wrapped := string(c.result())
	strays, swapped := 0, 0
	kills := 50
	if os.Getenv("BOUNCER_SOAK") != "" {
		kills = 200
	}
	for i := range kills {
		delay := time.Duration(rand.IntN(20000)) * time.Microsecond
		killWriter(t, path, home, delay)
		got := readFile(t, path)
		if got != old && got != wrapped {
			t.Fatalf("kill %d after %v left a torn file of %d bytes", i, delay, len(got))
		}
		if got == wrapped {
			swapped++
		}
		for _, name := range namesIn(t, dir) {
			if name != "mcp.json" {
				strays++
				if !strings.HasPrefix(name, tempPrefix) || !strings.HasSuffix(name, tempSuffix) {
					t.Fatalf("stray file %s", name)
				}
			}
		}
		if n := len(namesIn(t, dir)); n > 2 {
			t.Fatalf("%d files: strays pile up", n)
		}
	}
	t.Logf("%d kills: %d left the wrapped file, %d a temporary one", kills, swapped, strays)
	applied(t, path, home, Options{Bouncer: testBouncer, Undo: readFile(t, path) == wrapped})
	wantOnly(t, dir, "mcp.json")
}

func killWriter(t *testing.T, path, home string, delay time.Duration) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, path, home)
	cmd.Env = append(os.Environ(), "CLIENTCONFIG_ROLE=writer")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Errorf("writer: %v", err)
	}
	time.Sleep(delay) // the point of it: a random moment
	cmd.Process.Kill()
	cmd.Wait()
	if stderr.Len() > 0 {
		t.Fatalf("writer: %s", stderr.String())
	}
}

func TestStaleTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	writeFile(t, path, simple)
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, fmt.Sprintf("%s%d-1%s", tempPrefix, cmd.Process.Pid, tempSuffix))
	alive := filepath.Join(dir, fmt.Sprintf("%s%d-1%s", tempPrefix, os.Getppid(), tempSuffix))
	foreign := filepath.Join(dir, tempPrefix+"x"+tempSuffix)
	for _, name := range []string{dead, alive, foreign} {
		writeFile(t, name, "x")
	}
	applied(t, path, t.TempDir(), testOptions())
	wantOnly(t, dir, filepath.Base(alive), filepath.Base(foreign), "mcp.json")
}
