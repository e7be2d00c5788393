package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/benchmark.md anew")

// generated is a table of the page: the command that prints it, and what it printed.
var generated = regexp.MustCompile(`(?s)<!-- bouncer (replay [^\n]*) -->\n(.*?)<!-- end -->\n`)

// TestBenchmarkPage: the tables of docs/benchmark.md are what their commands print. It plays everything several times, so
// it runs where the recordings must be there, and where the page is written.
func TestBenchmarkPage(t *testing.T) {
	if !*update && (os.Getenv("BOUNCER_SHARED") != "required" || raceOn || testing.Short()) {
		t.Skip("set BOUNCER_SHARED=required, or write the page with -update")
	}
	t.Chdir(filepath.Join("..", ".."))
	page := filepath.Join("docs", "benchmark.md")
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	folders := strings.NewReplacer("AGENTDOJO", filepath.Join("..", "shared", "benchmarks", "agentdojo"), "INJECAGENT", filepath.Join("..", "shared", "benchmarks", "injecagent"))
	tables := 0
	want := generated.ReplaceAllStringFunc(string(have), func(section string) string {
		tables++
		command := generated.FindStringSubmatch(section)[1]
		out, code := bouncer(t, strings.Fields(folders.Replace(command))...)
		if code != exitDone {
			t.Fatalf("%s: exit %d: %s", command, code, out)
		}
		return "<!-- bouncer " + command + " -->\n" + out + "<!-- end -->\n"
	})
	if tables == 0 {
		t.Fatal("the page has no tables")
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(have) {
		t.Error("docs/benchmark.md is not what its commands print; go test ./internal/cli -run TestBenchmarkPage -update writes it anew")
	}
}
