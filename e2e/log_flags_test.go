package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLogFlags: what bouncer run is told about the log is what the log does. Arguments that the user names are masked, the
// file is rotated at its size, no more old files are kept than were asked for, and the rest verifies.
func TestLogFlags(t *testing.T) {
	t.Parallel()
	h := wrap(t, "plain", "--mask", "case_number", "--log-max-size", "1MiB", "--log-keep", "1").open(nil)
	const secret = "4711-planted"
	bulk := make([]string, 10) // of several texts: one that is long by itself is left out of the log
	for i := range bulk {
		bulk[i] = strings.Repeat("x", 4000)
	}
	for range 100 { // some 4 MiB
		if got := textOf(t, h.call("do", map[string]any{"what": "echo", "nested": map[string]any{"caseNumber": secret}, "bulk": bulk})); got.IsError {
			t.Fatalf("a call answers %+v", got)
		}
	}
	h.closes(0)
	files, err := filepath.Glob(filepath.Join(h.s.bouncer, "audit*.jsonl"))
	if err != nil || len(files) != 2 {
		t.Errorf("files of the log: %v, %v", files, err)
	}
	if slices.Contains(files, filepath.Join(h.s.bouncer, "audit.000001.jsonl")) {
		t.Error("the oldest file is still there")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(text), secret) {
			t.Errorf("%s holds the secret, or %v", file, err)
		}
		if len(text) > 1<<20+100<<10 {
			t.Errorf("%s has %d bytes", file, len(text))
		}
		if file == files[0] && !strings.Contains(string(text), "[masked: value of caseNumber, 12 characters]") {
			t.Errorf("%s does not say what was masked", file)
		}
	}
	if got := runs(t, h.s, bouncerBinary(t), "audit", "verify"); got.code != 0 || !strings.Contains(got.stdout, "note: ") {
		t.Errorf("audit verify: %v", got)
	}
}
