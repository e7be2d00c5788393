// Package policytest gives the tests of policy and of the packages around it real tool lists. It is for tests only.
package policytest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// Server is one captured tools/list.
type Server struct {
	File     string // base name without .json
	Reported string // serverInfo.name
	Tools    []policy.Tool
	// Definitions are the same tools as they stand in the list.
	Definitions []jsonrpc.Value
}

// Servers returns the captured tool lists. The test is skipped where they are absent, unless BOUNCER_SHARED=required.
func Servers(t testing.TB) []Server {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(root(t), "..", "shared", "fixtures", "real-servers", "*.json"))
	if len(files) == 0 {
		if os.Getenv("BOUNCER_SHARED") == "required" {
			t.Fatal("no captured tool lists in ../shared, and BOUNCER_SHARED=required")
		}
		t.Skip("no captured tool lists in ../shared")
	}
	slices.Sort(files)
	var out []Server
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		doc := Value(t, string(data))
		info, _ := doc.Get("serverInfo")
		name, _ := info.Get("name")
		s := Server{File: strings.TrimSuffix(filepath.Base(f), ".json"), Reported: name.Text}
		list, _ := doc.Get("tools")
		s.Definitions = list.Elems
		for _, tool := range list.Elems {
			s.Tools = append(s.Tools, policy.ToolOf(tool))
		}
		out = append(out, s)
	}
	return out
}

// root is the directory that holds go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}

// Root is the directory that holds go.mod.
func Root(t testing.TB) string { return root(t) }

// Tool returns a tool with this name and input schema (JSON; "" for none).
func Tool(t testing.TB, name, schema string) policy.Tool {
	t.Helper()
	if schema == "" {
		return policy.Tool{Name: name}
	}
	return policy.Tool{Name: name, InputSchema: Value(t, schema)}
}

// Definition returns the tool of a whole definition as a server lists it (JSON).
func Definition(t testing.TB, definition string) policy.Tool {
	t.Helper()
	return policy.ToolOf(Value(t, definition))
}

// Value decodes JSON that a test wrote, or that was captured.
func Value(t testing.TB, text string) jsonrpc.Value {
	t.Helper()
	v, err := jsonrpc.DecodeLenient([]byte(text))
	if err != nil {
		t.Fatalf("test JSON: %v", err)
	}
	return v
}
