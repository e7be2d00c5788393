package mcpserver

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestItOnlyReads: the package uses nothing that could write a file, start a program, open a log for writing or ask a
// person; and the relay does not know it, so a wrapped server's session cannot show it.
func TestItOnlyReads(t *testing.T) {
	const module = "github.com/mcp-bouncer/bouncer/internal/"
	allowed := []string{"audit", "destination", "gate", "jsonrpc", "judge", "pin", "policy", "policy/load", "provenance", "session"}
	selectors := map[string][]string{"os": {"Stat", "Open", "File", "FileInfo", "SameFile"}, "audit": {"Entry"}}
	for file, tree := range sources(t, ".") {
		for _, imp := range tree.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			if own, ok := strings.CutPrefix(path, module); ok && !slices.Contains(allowed, own) || path == "os/exec" || path == "syscall" {
				t.Errorf("%s imports %s", file, path)
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok && selectors[pkg.Name] != nil && !slices.Contains(selectors[pkg.Name], sel.Sel.Name) {
					t.Errorf("%s uses %s.%s", file, pkg.Name, sel.Sel.Name)
				}
			}
			return true
		})
	}
	for file, tree := range sources(t, filepath.Join("..", "proxy")) {
		for _, imp := range tree.Imports {
			if strings.Contains(imp.Path.Value, "mcpserver") {
				t.Errorf("%s imports it", file)
			}
		}
	}
}

// sources parses the files of a directory that are no tests.
func sources(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources in %s (%v)", dir, err)
	}
	out := map[string]*ast.File{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out[file] = tree
	}
	return out
}
