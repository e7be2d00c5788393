package casefile

import (
	"context"
	"os"
	"path/filepath"
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
