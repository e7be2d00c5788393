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

// TestPendingCases runs the repository's pending cases: what must hold and does not yet. Some step of each that wants something
// has to fail, by its verdict and not for another reason; a case that passes belongs to the cases beside them. Their README
// has a row for each file, and no others.
func TestPendingCases(t *testing.T) {
	top := filepath.Join("..", "..", "testdata", "cases", "pending")
	files, err := Find(top)
	if err != nil {
		t.Fatal(err)
	}
	rows := pendingRows(t, top)
	for _, file := range files {
		name, _ := filepath.Rel(top, file)
		name = filepath.ToSlash(name)
		if !rows[name] {
			t.Errorf("%s: the README has no row for it", name)
		}
		delete(rows, name)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			c, err := Load(file)
			if err != nil {
				t.Fatal(err)
			}
			holds := 0
			alone := c.alone()
			for _, one := range alone {
				last := one.steps[len(one.steps)-1]
				switch r := one.Run(context.Background()); {
				case r.Passed():
					holds++
				case r.Err != nil || len(r.Steps) != len(one.steps):
					t.Errorf("%s fails elsewhere than it says:\n%s", last.at, rendered(t, r))
				}
			}
			if holds == len(alone) {
				t.Errorf("%s holds now: move it to testdata/cases, so that it stays so", file)
			}
		})
	}
	for name := range rows {
		t.Errorf("the README has a row for %s, which is not there", name)
	}
}

// pendingRows returns the files that the README's table names, in the second column.
func pendingRows(t *testing.T, top string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			if name := strings.Trim(cells[2], " `"); strings.HasSuffix(name, ".yaml") {
				rows[name] = true
			}
		}
	}
	return rows
}
