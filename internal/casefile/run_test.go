package casefile

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestCases runs every case of the repository.
func TestCases(t *testing.T) {
	files, err := Find(filepath.Join("..", "..", "testdata", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			c, err := Load(file)
			if err != nil {
				t.Fatal(err)
			}
			if runtime.GOOS == "windows" && slices.ContainsFunc(c.files, func(f scratchFile) bool { return f.link != "" }) {
				t.Skip("links need a privilege there")
			}
			r := c.Run(context.Background())
			if !r.Passed() {
				var b strings.Builder
				Render(&b, []Report{r})
				t.Error(b.String())
			}
		})
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOpenCases runs the cases in testdata/open: what must hold and does not yet. Each has to fail on its last step,
// and not for another reason; one that passes belongs to the repository's cases.
func TestOpenCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "open", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			c, err := Load(file)
			if err != nil {
				t.Fatal(err)
			}
			r := c.Run(context.Background())
			switch {
			case r.Passed():
				t.Errorf("%s passes now: move it to testdata/cases, so that it stays so", file)
			case r.Err != nil || len(r.Steps) != len(c.steps):
				t.Errorf("%s fails elsewhere than it says:\n%s", file, rendered(t, r))
			}
		})
	}
}
