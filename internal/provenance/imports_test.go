package provenance

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestPureImports keeps the packages that decide away from everything that does I/O or tells the time.
func TestPureImports(t *testing.T) {
	banned := map[string]bool{
		"os": true, "os/exec": true, "os/signal": true, "net": true, "net/http": true, "net/rpc": true, "net/smtp": true, "syscall": true,
		"time": true, "io/ioutil": true, "plugin": true, "unsafe": true, "math/rand": true, "math/rand/v2": true, "crypto/rand": true, "log": true,
	}
	checked := map[string]int{}
	for _, pkg := range []string{"gate", "destination", "provenance"} {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			checked[pkg]++
			for _, imp := range f.Imports {
				if p, _ := strconv.Unquote(imp.Path.Value); banned[p] || strings.HasPrefix(p, "golang.org/x/sys") {
					t.Errorf("%s imports %s", name, p)
				}
			}
		}
	}
	if checked["destination"] == 0 || checked["provenance"] == 0 {
		t.Errorf("files checked: %v", checked)
	}
}
