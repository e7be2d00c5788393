package upstream

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// defaultPath is searched when the environment has no PATH at all, as execvp and node do it on unix.
const defaultPath = "/usr/bin:/bin"

// NotFoundError says that the server's command does not exist, or cannot be started from where it was found.
type NotFoundError struct {
	Command string // as configured
	Path    string // the PATH that was searched; "" when Command is itself a path

	// Found is set when there is such a file, but not one to run: not executable, a directory, or reached only through a
	// PATH entry that is relative.
	Found  string
	Reason string // why Found does not count
}

// Error is one sentence with the command and the PATH that was searched, and a line with a hint.
func (e *NotFoundError) Error() string {
	var b strings.Builder
	switch {
	case e.Command == "":
		return "no command to start the server with"
	case e.Found != "":
		fmt.Fprintf(&b, "command %q cannot be started: %q %s", e.Command, e.Found, e.Reason)
	case e.Path != "" || !hasSeparator(e.Command):
		fmt.Fprintf(&b, "command %q not found", e.Command)
	default:
		return fmt.Sprintf("command %q not found: there is no such file", e.Command)
	}
	if e.Path != "" || !hasSeparator(e.Command) {
		fmt.Fprintf(&b, "; PATH searched: %q", e.Path)
		// B35: it works in the user's terminal and not in their editor.
		b.WriteString("\nhint: a client started from the desktop has a shorter PATH than your terminal; " +
			"configure the command with its absolute path, or set PATH in the entry's env")
	}
	return b.String()
}

// Is makes errors.Is(err, exec.ErrNotFound) true.
func (e *NotFoundError) Is(target error) bool { return target == exec.ErrNotFound }

// lookup finds the program that spec.Command names, as an absolute path. It searches the PATH that the server will
// have, not Bouncer's own: the entry's env may set one (B35).
func lookup(spec Spec) (string, error) {
	notFound := &NotFoundError{Command: spec.Command}
	if spec.Command == "" {
		return "", notFound
	}
	base, err := filepath.Abs(spec.Dir)
	if err != nil {
		return "", fmt.Errorf("start %s: resolve working directory: %w", spec.Command, err)
	}
	if hasSeparator(spec.Command) {
		name := spec.Command
		if !filepath.IsAbs(name) {
			name = filepath.Join(base, name)
		}
		return notFound.tryFile(name)
	}
	notFound.Path = searchPath(spec.Env)
	for _, dir := range filepath.SplitList(notFound.Path) {
		if filepath.IsAbs(dir) {
			if name, err := notFound.tryFile(filepath.Join(dir, spec.Command)); err == nil {
				return name, nil
			}
			continue
		}
		// "." or an empty entry would run whatever the opened project calls "npx". Going on to the next entry would
		// silently run another program than the one the user's shell runs, so this is the end.
		if name, err := exec.LookPath(filepath.Join(base, dir, spec.Command)); err == nil {
			notFound.Found, notFound.Reason = name, "was reached through a relative PATH entry"
			return "", notFound
		}
	}
	return "", notFound
}

// tryFile returns name, with the extension that PATHEXT adds on Windows, when it can be executed. Else it remembers
// the first file that is there but cannot be.
func (e *NotFoundError) tryFile(name string) (string, error) {
	found, err := exec.LookPath(name)
	if err == nil {
		return found, nil
	}
	if e.Found == "" && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, syscall.ENOTDIR) {
		e.Found, e.Reason = name, "is not executable"
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			e.Reason = "is a directory"
		}
	}
	return "", e
}

// searchPath is the value of PATH in env, where the last of several wins as in os/exec.
func searchPath(env []string) string {
	if env == nil {
		env = os.Environ()
	}
	for i := len(env) - 1; i >= 0; i-- {
		name, value, ok := strings.Cut(env[i], "=")
		if ok && (name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH")) {
			return value
		}
	}
	if runtime.GOOS == "windows" {
		return ""
	}
	return defaultPath
}

func hasSeparator(command string) bool { return filepath.Base(command) != command }

// explainStart adds to the kernel's word what it leaves out: ENOENT for a program that is there.
func explainStart(spec Spec, err error) error {
	if spec.Dir != "" {
		if info, statErr := os.Stat(spec.Dir); statErr != nil {
			return fmt.Errorf("start %s: working directory: %w", spec.Command, statErr)
		} else if !info.IsDir() {
			return fmt.Errorf("start %s: working directory %q is not a directory", spec.Command, spec.Dir)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("start %s: %w: the file is there, but the interpreter or loader that it names is not", spec.Command, err)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("start %s: %w: it is neither a program for this machine nor a script with a #! line", spec.Command, err)
	}
	return fmt.Errorf("start %s: %w", spec.Command, err)
}
