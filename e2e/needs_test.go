package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// mode says what the environment wants of these tests.
type mode struct {
	on         bool // tests with real servers run
	needNode   bool // Node or its packages being absent is a failure, not a skip
	needShared bool // so for the fixtures beside the repository
}

// readMode refuses a value that it does not know: BOUNCER_E2E=true must not quietly mean "no".
func readMode(getenv func(string) string) (mode, error) {
	var m mode
	switch v := getenv("BOUNCER_E2E"); v {
	case "", "0":
	case "1":
		m.on = true
	case "required":
		m.on, m.needNode = true, true
	default:
		return mode{}, fmt.Errorf(`BOUNCER_E2E=%q: want 1, "required", or nothing`, v)
	}
	if m.on && getenv("CI") == "true" {
		m.needNode = true
	}
	switch v := getenv("BOUNCER_SHARED"); v {
	case "":
	case "required":
		m.needShared = true
	default:
		return mode{}, fmt.Errorf(`BOUNCER_SHARED=%q: want "required" or nothing`, v)
	}
	return m, nil
}

func currentMode(t testing.TB) mode {
	t.Helper()
	m, err := readMode(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// absent ends the test: as a failure where the thing is required, else as a skip.
func absent(t testing.TB, required bool, err error) {
	t.Helper()
	if required {
		t.Fatalf("required here: %v", err)
	}
	t.Skip(err)
}

// needE2E skips the test unless tests with real processes are asked for.
func needE2E(t testing.TB) {
	t.Helper()
	if !currentMode(t).on {
		t.Skip("BOUNCER_E2E is not set; make test sets it")
	}
}

// needNode returns the path of node. It skips where that is absent, or fails where it is required.
func needNode(t testing.TB) string {
	t.Helper()
	needE2E(t)
	node, err := exec.LookPath("node")
	if err != nil {
		absent(t, currentMode(t).needNode, err)
	}
	return node
}

// needPackage returns the command line that starts the only program of an npm package in e2e/node_modules. It skips or
// fails like needNode.
func needPackage(t testing.TB, name string) []string {
	t.Helper()
	node := needNode(t)
	script, err := packageScript(filepath.Join(repoRoot(), "e2e"), name, "")
	if err != nil {
		absent(t, currentMode(t).needNode, fmt.Errorf("%w (make e2e-deps installs it)", err))
	}
	return []string{node, script}
}

// packageScript finds the script of a package below dir: the one of the program of that name, or with "" of the only
// program. What was installed from another lock than the present one is an error: a test that passes against yesterday's
// server says nothing.
func packageScript(dir, name, program string) (string, error) {
	var want struct{ Dependencies map[string]string }
	if err := readJSON(filepath.Join(dir, "package.json"), &want); err != nil {
		return "", err
	}
	if want.Dependencies[name] == "" {
		return "", fmt.Errorf("%s is not in e2e/package.json", name)
	}
	if err := checkInstall(dir); err != nil {
		return "", err
	}
	home := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
	var have struct{ Bin map[string]string }
	if err := readJSON(filepath.Join(home, "package.json"), &have); err != nil {
		return "", err
	}
	script := have.Bin[program]
	switch {
	case program == "" && len(have.Bin) != 1:
		return "", fmt.Errorf("%s has %d programs, want 1", name, len(have.Bin))
	case program == "":
		for _, script = range have.Bin {
		}
	case script == "":
		return "", fmt.Errorf("%s has no program %s", name, program)
	}
	path := filepath.Join(home, filepath.FromSlash(script))
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	return path, nil
}

// checkInstall compares the stamp that e2e/install leaves with the two files it is made of.
func checkInstall(dir string) error {
	var want []byte
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		want = append(want, data...)
	}
	have, err := os.ReadFile(filepath.Join(dir, "node_modules", ".bouncer-lock"))
	if err != nil {
		return fmt.Errorf("npm packages are not installed: %w", err)
	}
	if !bytes.Equal(have, want) {
		return errors.New("npm packages are installed from another lock")
	}
	return nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// needShared returns the path of a file or directory among the fixtures beside the repository. It skips where it is
// absent, or fails with BOUNCER_SHARED=required.
func needShared(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{repoRoot(), "..", "shared"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		absent(t, currentMode(t).needShared, err)
	}
	return path
}

// repoRoot is the directory of go.mod. Tests run in their package's directory, which is one below it.
func repoRoot() string {
	root, err := filepath.Abs("..")
	if err != nil {
		panic(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		panic(fmt.Sprintf("e2e is not one directory below go.mod: %v", err))
	}
	return root
}
