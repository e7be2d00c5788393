package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const filesystemServer = "@modelcontextprotocol/server-filesystem"

// The helpers against a real server, with nothing between: what fails here is no fault of Bouncer's.
func TestFilesystemServerDirectly(t *testing.T) {
	argv := needPackage(t, filesystemServer)
	s := newSandbox(t)
	c := start(t, s, append(argv, s.work)...)

	var hello struct {
		ProtocolVersion string
		ServerInfo      struct{ Name string }
	}
	decode(t, c.initialize(nil), &hello)
	if hello.ProtocolVersion != "2025-11-25" || hello.ServerInfo.Name == "" {
		t.Errorf("initialize answers %+v", hello)
	}
	if names := toolNames(t, c.request("tools/list", map[string]any{})); !slices.Contains(names, "write_file") {
		t.Errorf("tools are %v", names)
	}

	inside, outside := filepath.Join(s.work, "note.txt"), filepath.Join(s.home, "note.txt")
	if bad := isError(t, c.call("write_file", map[string]any{"path": inside, "content": "one\ntwo"})); bad {
		t.Error("write_file inside the directory is an error")
	}
	if got, err := os.ReadFile(inside); string(got) != "one\ntwo" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if bad := isError(t, c.call("write_file", map[string]any{"path": outside, "content": "x"})); !bad {
		t.Error("write_file outside the directory is no error")
	}
	if _, err := os.Stat(outside); !os.IsNotExist(err) {
		t.Errorf("the file outside is there: %v", err)
	}
	if code := c.close(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// The captured tool list that policies are checked against is still the real server's.
func TestFilesystemServerIsTheCapturedOne(t *testing.T) {
	argv := needPackage(t, filesystemServer)
	var captured struct{ Tools []struct{ Name string } }
	if err := readJSON(needShared(t, "fixtures", "real-servers", "filesystem.json"), &captured); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, tool := range captured.Tools {
		want = append(want, tool.Name)
	}
	s := newSandbox(t)
	c := start(t, s, append(argv, s.work)...)
	c.initialize(nil)
	if diff := cmp.Diff(want, toolNames(t, c.request("tools/list", map[string]any{}))); diff != "" {
		t.Errorf("tools (-captured +real):\n%s", diff)
	}
}

// decode reads a response's result; an error response fails the test.
func decode(t *testing.T, f frame, into any) {
	t.Helper()
	if f.result == nil {
		t.Fatalf("no result: %s", shorten(f.raw))
	}
	if err := json.Unmarshal(f.result, into); err != nil {
		t.Fatalf("%v: %s", err, shorten(f.raw))
	}
}

func toolNames(t *testing.T, f frame) []string {
	t.Helper()
	var list struct{ Tools []struct{ Name string } }
	decode(t, f, &list)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func isError(t *testing.T, f frame) bool {
	t.Helper()
	var result struct{ IsError bool }
	decode(t, f, &result)
	return result.IsError
}
