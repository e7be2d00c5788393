package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

var buildBouncer = sync.OnceValues(func() (string, error) {
	if err := noteSources(repoRoot()); err != nil {
		return "", err
	}
	path := filepath.Join(scratch, exe("bouncer"))
	return path, goBuild(repoRoot(), path, "./cmd/bouncer")
})

// bouncerBinary returns the path of Bouncer's program, built once a test run, with the race detector when the tests
// have it. A build that fails fails every test that asks.
func bouncerBinary(t testing.TB) string {
	t.Helper()
	needE2E(t)
	path, err := buildBouncer()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildPlainBouncer = sync.OnceValues(func() (string, error) {
	if err := noteSources(repoRoot()); err != nil {
		return "", err
	}
	path := filepath.Join(scratch, exe("bouncer-plain"))
	return path, goBuildAs(false, repoRoot(), path, "./cmd/bouncer")
})

// plainBouncer is bouncerBinary without the race detector, for tests that look at memory.
func plainBouncer(t testing.TB) string {
	t.Helper()
	if !raceEnabled {
		return bouncerBinary(t)
	}
	needE2E(t)
	path, err := buildPlainBouncer()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// goBuild builds a package from dir into the file at path, with the race detector when the tests have it.
func goBuild(dir, path, pkg string) error { return goBuildAs(raceEnabled, dir, path, pkg) }

func goBuildAs(race bool, dir, path, pkg string) error {
	args := []string{"build", "-buildvcs=false", "-o", path}
	if race {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, pkg)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

func exe(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// noteSources looks at every source file, so that go test's cache sees what these tests depend on. The binary is built
// by another process: without this, `go test` would repeat an old "ok" after any change to Bouncer. It has to run inside
// a test; what TestMain looks at is not noted.
func noteSources(root string) error {
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			_, err = os.Stat(path)
			if os.IsNotExist(err) { // an editor's temporary file
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("look at the sources: %w", err)
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("look at the sources: %w", err)
		}
	}
	return nil
}
