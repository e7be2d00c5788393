package jsonrpc

import (
	"strings"
	"testing"
)

// TestMoreAfterBlankLines: a blank line is nothing that Next returns without reading. Whoever holds calls back while there
// is more would otherwise hold them for ever, in memory that the next read changes.
func TestMoreAfterBlankLines(t *testing.T) {
	r := NewReader(strings.NewReader("a\n\n \t\n"), 0)
	if frame, err := r.Next(); string(frame) != "a" || err != nil {
		t.Fatalf("Next = %q, %v", frame, err)
	}
	if r.More() {
		t.Error("More is true with nothing but blank lines left")
	}
	r = NewReader(strings.NewReader("a\n\nb\n"), 0)
	r.Next()
	if frame, _ := r.Next(); !strings.Contains("b", string(frame)) {
		t.Errorf("Next = %q", frame)
	}
}
