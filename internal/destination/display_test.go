package destination

import (
	"strings"
	"testing"
)

// TestDisplayShowsTheEnd: what decides about a long destination is the end of its host (A85).
func TestDisplayShowsTheEnd(t *testing.T) {
	for _, raw := range []string{
		"alice@corp.example." + strings.Repeat("a.", 90) + "evil.example",
		"https://corp.example." + strings.Repeat("a.", 90) + "evil.example/" + strings.Repeat("x", 500),
	} {
		got := Parse(raw)[0].Display()
		if !strings.Contains(got, "evil.example") || len([]rune(got)) > 300 {
			t.Errorf("%s\nis shown as %s", raw, got)
		}
	}
	if got := Parse("new@random.com")[0].Display(); got != "new@random.com" {
		t.Errorf("a short one is shown as %s", got)
	}
}
