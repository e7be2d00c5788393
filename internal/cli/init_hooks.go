package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcp-bouncer/bouncer/internal/clientconfig"
)

// runAll wraps servers and, where it was asked for, installs hooks. An undo takes both out.
func (f initFlags) runAll(out io.Writer) error {
	if f.hooks && f.client != "" && f.client != "claude-code" {
		return fail(exitUsage, fmt.Errorf("the hooks of client %q are not known", f.client), "--hooks is for claude-code")
	}
	err := f.run(out)
	if f.hooks || f.undo && f.config == "" && len(f.servers) == 0 && (f.client == "" || f.client == "claude-code") {
		err = errors.Join(err, f.installHooks(out))
	}
	return err
}

// installHooks puts Bouncer's hooks into the user's own settings of Claude Code, or takes them out.
func (f initFlags) installHooks(out io.Writer) error {
	env, err := clientconfig.RealEnv()
	if err != nil {
		return fail(exitFailed, err)
	}
	path, command := clientconfig.HookSettings(env), ""
	if !f.undo {
		if command, err = hookCommand(); err != nil {
			return err
		}
	}
	if err := notTheProjects(env, path); err != nil && !f.undo {
		return err
	}
	c, err := clientconfig.PlanHooks(path, command, f.undo)
	var refused *clientconfig.Refused
	if errors.As(err, &refused) {
		return fail(exitInvalid, fmt.Errorf("left alone: %w", err))
	}
	if err != nil {
		return fail(exitFailed, err)
	}
	if !c.Edited() {
		if f.hooks {
			fmt.Fprintf(out, "%s: hooks: nothing to change\n", clientconfig.Visible(c.Path))
		}
		return nil
	}
	io.WriteString(out, c.Diff())
	for _, note := range c.Notes {
		fmt.Fprintf(out, "  note: %s\n", clientconfig.Visible(note))
	}
	if f.dryRun {
		return nil
	}
	return f.applyHooks(out, c)
}

func hookCommand() (string, error) {
	bouncer, err := thisBinary()
	if err == nil && isTemporary(bouncer) {
		err = fmt.Errorf("%s is the temporary binary of a go run: clients could not start it later", bouncer)
	}
	if err != nil {
		return "", fail(exitFailed, err, "go install ./cmd/bouncer, then run bouncer init from there")
	}
	dir, err := home()
	if err != nil {
		return "", fail(exitFailed, err)
	}
	return clientconfig.HookCommand(bouncer, dir), nil
}

// notTheProjects refuses a settings directory below the working directory that a variable points at: what a repository
// brings along is not the user's.
func notTheProjects(env clientconfig.Env, path string) error {
	if env.Getenv("CLAUDE_CONFIG_DIR") == "" {
		return nil
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); dir != env.Home && !errors.Is(err, fs.ErrNotExist) {
			return fail(exitUsage, fmt.Errorf("CLAUDE_CONFIG_DIR points into the repository %s", clientconfig.Visible(dir)))
		}
	}
	return nil
}

func (f initFlags) applyHooks(out io.Writer, c *clientconfig.HookChange) error {
	if !f.yes {
		yes, err := confirm("change the hooks as shown? [y/N] ")
		if err != nil {
			return fail(exitUsage, err, "--yes goes on without asking, --dry-run only shows")
		}
		if !yes {
			return fail(exitFailed, errors.New("nothing was changed"))
		}
	}
	dir, err := makeHome()
	if err != nil {
		return fail(exitFailed, err)
	}
	err = c.Apply(dir)
	var refused *clientconfig.Refused
	switch {
	case errors.As(err, &refused):
		return fail(exitInvalid, err)
	case err != nil:
		return fail(exitFailed, err)
	}
	fmt.Fprintf(out, "%s: done\n", clientconfig.Visible(c.Path))
	return nil
}
