package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// sandbox is a place of its own for one test: a home, a Bouncer home, a directory to work in, and an environment that
// names them and nothing of the person who runs the tests (their client configs, keys and approvals stay out of reach).
type sandbox struct {
	home    string // HOME; client configs would be found here
	bouncer string // BOUNCER_HOME; not made, since making it is Bouncer's work
	work    string // current directory of what is started
	env     []string
}

func newSandbox(t testing.TB) sandbox {
	t.Helper()
	// Links are resolved, since servers report real paths and a temporary directory may stand behind a link.
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := sandbox{
		home:    filepath.Join(root, "home"),
		bouncer: filepath.Join(root, "bouncer"),
		work:    filepath.Join(root, "work"),
	}
	for _, dir := range []string{s.home, s.work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"HOME=" + s.home, "USERPROFILE=" + s.home,
		"XDG_CONFIG_HOME=" + filepath.Join(s.home, ".config"),
		"APPDATA=" + filepath.Join(s.home, "AppData", "Roaming"),
		"LOCALAPPDATA=" + filepath.Join(s.home, "AppData", "Local"),
		"BOUNCER_HOME=" + s.bouncer,
	}
	// What a program needs to run at all; a list of what to leave out would miss the next secret.
	for _, name := range []string{"PATH", "LANG", "TMPDIR", "TEMP", "TMP", "SystemRoot", "ComSpec", "PATHEXT", "GOCOVERDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			s.env = append(s.env, name+"="+value)
		}
	}
	return s
}

// with returns a sandbox with more in its environment, as NAME=VALUE.
func (s sandbox) with(env ...string) sandbox {
	s.env = append(append([]string(nil), s.env...), env...)
	return s
}
