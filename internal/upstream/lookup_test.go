package upstream

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// program makes an executable file that is never run.
func program(t *testing.T, dir, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		name += ".cmd" // as npx is: PATHEXT finds it
	}
	return file(t, dir, name, 0o755)
}

func file(t *testing.T, dir, name string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func pathEnv(dirs ...string) []string {
	return []string{"PATH=" + strings.Join(dirs, string(os.PathListSeparator))}
}

// B35: the PATH that counts is the one the server will have.
func TestLookup(t *testing.T) {
	first, second, empty := t.TempDir(), t.TempDir(), t.TempDir()
	both := program(t, first, "tool")
	program(t, second, "tool")
	onlySecond := program(t, second, "other")
	below := program(t, second, filepath.Join("sub", "deep"))
	t.Setenv("PATH", first)

	for name, tc := range map[string]struct {
		spec Spec
		want string
	}{
		"inherited PATH":         {Spec{Command: "tool"}, both},
		"first entry wins":       {Spec{Command: "tool", Env: pathEnv(first, second)}, both},
		"the entry's own PATH":   {Spec{Command: "other", Env: pathEnv(second)}, onlySecond},
		"last PATH wins":         {Spec{Command: "other", Env: append(pathEnv(first), pathEnv(second)...)}, onlySecond},
		"missing entry skipped":  {Spec{Command: "other", Env: pathEnv(filepath.Join(empty, "no"), second)}, onlySecond},
		"absolute":               {Spec{Command: onlySecond, Env: []string{}}, onlySecond},
		"relative path to Dir":   {Spec{Command: filepath.Join("sub", "deep"), Dir: second}, below},
		"before relative entry":  {Spec{Command: "tool", Env: pathEnv(first, ".")}, both},
		"relative entry is void": {Spec{Command: "tool", Env: pathEnv("no/such", first)}, both},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := lookup(tc.spec)
			if err != nil || got != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestLookupFails(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	program(t, dir, "tool")
	planted := program(t, work, "tool")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	file(t, dir, "plain", 0o644)

	cases := map[string]struct {
		spec Spec
		want []string // in the message
	}{
		"nowhere":           {Spec{Command: "npx", Env: pathEnv(dir, work)}, []string{`"npx" not found`, dir, work, "hint:"}},
		"PATH not in Env":   {Spec{Command: "tool", Env: []string{"X=1"}}, []string{"not found"}},
		"PATH empty":        {Spec{Command: "tool", Env: []string{"PATH="}}, []string{"not found", `""`}},
		"no command":        {Spec{}, []string{"no command"}},
		"no such file":      {Spec{Command: filepath.Join(dir, "absent")}, []string{"absent", "no such file"}},
		"project directory": {Spec{Command: "tool", Dir: work, Env: pathEnv(".", dir)}, []string{"relative PATH entry"}},
		"name with spaces":  {Spec{Command: "npx -y server", Env: pathEnv(dir)}, []string{`"npx -y server" not found`}},
		"a directory":       {Spec{Command: filepath.Join(dir, "folder")}, []string{"folder", "is a directory"}},
	}
	if runtime.GOOS != "windows" {
		cases["not executable"] = struct {
			spec Spec
			want []string
		}{Spec{Command: "plain", Env: pathEnv(dir)}, []string{"is not executable", "plain"}}
		cases["empty PATH entry"] = struct {
			spec Spec
			want []string
		}{Spec{Command: "tool", Dir: work, Env: pathEnv("", dir)}, []string{"relative PATH entry", planted}}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Start(tc.spec, io.Discard)
			var notFound *NotFoundError
			if !errors.As(err, &notFound) || !errors.Is(err, exec.ErrNotFound) {
				t.Fatalf("got %v", err)
			}
			if notFound.Command != tc.spec.Command {
				t.Errorf("names command %q", notFound.Command)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), strings.Trim(want, `\`)) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}

// The path of a program does not become its argv[0].
func TestArgvZeroIsAsConfigured(t *testing.T) {
	dir := filepath.Dir(self(t))
	name := filepath.Base(self(t))
	got := startReport(t, func(s *Spec) {
		s.Command = name
		s.Env = roleEnv("report", pathEnv(dir)...)
	})
	if got.Args[0] != name {
		t.Errorf("argv[0] = %q, want %q", got.Args[0], name)
	}
}
