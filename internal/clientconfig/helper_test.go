package clientconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The test binary is also the program that tests start: one that prints its arguments, and one that edits a file for
// as long as it lives.
func TestMain(m *testing.M) {
	switch os.Getenv("CLIENTCONFIG_ROLE") {
	case "argv":
		text, err := json.Marshal(os.Args[1:])
		if err == nil {
			err = os.WriteFile(os.Getenv("CLIENTCONFIG_OUT"), text, 0o600)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "writer":
		writeForEver(os.Args[1], os.Args[2])
	default:
		os.Exit(m.Run())
	}
}

const testBouncer = "/opt/bouncer dir/bouncer"

func testOptions() Options { return Options{Bouncer: testBouncer} }

func undoOptions() Options { return Options{Bouncer: testBouncer, Undo: true} }

// planText plans for a text that stands in no file.
func planText(text []byte, o Options) (*Change, error) { return planAs("mcp.json", text, o) }

// planAs plans for a text that would stand in a file of that name.
func planAs(name string, text []byte, o Options) (*Change, error) {
	path := "/cfg/" + name
	return plan(&snapshot{path: path, real: path, data: text}, o)
}

func mustPlan(t *testing.T, text string, o Options) *Change {
	t.Helper()
	c, err := planText([]byte(text), o)
	if err != nil {
		t.Fatalf("plan %q: %v", text, err)
	}
	return c
}

func wrapText(t *testing.T, text string) string {
	t.Helper()
	return string(mustPlan(t, text, testOptions()).result())
}

func undoText(t *testing.T, text string) string {
	t.Helper()
	return string(mustPlan(t, text, undoOptions()).result())
}

func wantRefused(t *testing.T, err error) *Refused {
	t.Helper()
	var r *Refused
	if !errors.As(err, &r) {
		t.Fatalf("error %v is not a refusal", err)
	}
	return r
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fixture returns the bytes of a shared fixture, and skips without it unless it is required.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "fixtures", "client-configs", name))
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("BOUNCER_SHARED") != "required" {
		t.Skip("no shared fixtures here")
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}
