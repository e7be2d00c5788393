package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/clientconfig"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// initFlags are the flags of bouncer init.
type initFlags struct {
	client, config    string
	servers           []string
	dryRun, yes, undo bool
	hooks             bool
}

func newInit() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init [--client NAME] [--config FILE] [--server NAME]... [--dry-run] [--yes] [--undo]",
		Short: "Put Bouncer in front of the servers in the config files of MCP clients, or take it out again",
		Long: `Find the config files of MCP clients, show what would change as a diff, and after a yes put Bouncer in front of every
server that they start by a command. Nothing else in a file is touched, and --undo takes it back. What was wrapped is
recorded in the Bouncer home; bouncer status says whether it still is.`,
		Example: `  bouncer init --dry-run                   what would change, in every known client
  bouncer init --config .mcp.json --server files
  bouncer init --client lobehub            what to paste into a client without a config file
  bouncer init --undo                      take Bouncer out again`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.runAll(cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.client, "client", "", "only the files of this client: "+strings.Join(clientconfig.Clients(), ", "))
	flags.StringVar(&f.config, "config", "", "this `FILE`, of any client whose layout is known (JSON, TOML or YAML)")
	flags.StringArrayVar(&f.servers, "server", nil, "only the server of this `NAME` (again for more)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would change and write nothing")
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.BoolVar(&f.undo, "undo", false, "take Bouncer out again")
	flags.BoolVar(&f.hooks, "hooks", false, "also put Bouncer's hooks into the user's settings of Claude Code")
	return cmd
}

func (f initFlags) run(out io.Writer) error {
	if snippet, why := clientconfig.Snippet(f.client, selfPath()); snippet != "" && f.config == "" {
		fmt.Fprintf(out, "%s. Paste this there for each server, with its own name and command:\n%s", why, snippet)
		return nil
	}
	targets, err := f.targets()
	if err != nil {
		return err
	}
	bouncer, err := thisBinary()
	if err == nil && isTemporary(bouncer) {
		err = fmt.Errorf("%s is the temporary binary of a go run: clients could not start it later", bouncer)
	}
	if err != nil && !f.undo {
		return fail(exitFailed, err, "go install ./cmd/bouncer, then run bouncer init from there")
	}
	changes, refused, err := f.plan(out, targets, bouncer)
	if err != nil {
		return err
	}
	edits := 0
	for _, c := range changes {
		edits += c.Edits()
		io.WriteString(out, c.Diff())
	}
	if os.Getenv("BOUNCER_HOME") != "" && edits > 0 && !f.undo {
		fmt.Fprintln(out, "note: BOUNCER_HOME is set here. Clients that hand few variables on (Codex does) start Bouncer without it: policy and log are then those of ~/.bouncer")
	}
	if f.dryRun {
		return refused
	}
	if edits > 0 {
		if err := f.apply(out, changes, edits); err != nil {
			return errors.Join(err, refused)
		}
	}
	return errors.Join(f.settle(out, changes), refused)
}

// selfPath is what a snippet names; where the path is not known, the name will do.
func selfPath() string {
	if path, err := thisBinary(); err == nil && !isTemporary(path) {
		return path
	}
	return "bouncer"
}

// settle brings the records of what is wrapped in line with the files, and says what they know besides.
func (f initFlags) settle(out io.Writer, changes []*clientconfig.Change) error {
	dir, err := home()
	if err != nil {
		return fail(exitFailed, err)
	}
	var failed []error
	looked := map[string]bool{}
	for _, c := range changes {
		looked[c.Path] = true
		gone, err := c.Settle(dir)
		if err != nil {
			failed = append(failed, err)
		}
		for _, name := range gone {
			fmt.Fprintf(out, "%s: note: %s was wrapped before, and stands in the file no more\n", clientconfig.Visible(c.Path), clientconfig.Visible(fmt.Sprintf("%q", name)))
		}
	}
	if f.undo && f.config == "" && f.client == "" {
		records, _ := clientconfig.Records(dir)
		for _, r := range records {
			if !looked[r.Path] {
				fmt.Fprintf(out, "note: servers are still wrapped in %s: bouncer init --undo --config with that path\n", clientconfig.Visible(r.Path))
			}
		}
	}
	if len(failed) > 0 {
		return fail(exitFailed, errors.Join(failed...))
	}
	return nil
}

// targets returns the files to look at. Without --config, those of the known clients that are there.
func (f initFlags) targets() ([]clientconfig.Target, error) {
	known := clientconfig.Clients()
	if f.client != "" && !slices.Contains(known, f.client) {
		hint := "known are " + strings.Join(known, ", ") + "; --config FILE takes any file of their layouts"
		if near, ok := policy.Nearest(f.client, known); ok {
			hint = "did you mean " + near + "?"
		}
		return nil, fail(exitUsage, fmt.Errorf("client %q is not known", f.client), hint)
	}
	if f.config != "" {
		return []clientconfig.Target{{Path: f.config, Client: f.client}}, nil
	}
	env, err := clientconfig.RealEnv()
	if err != nil {
		return nil, fail(exitFailed, err)
	}
	all := clientconfig.Targets(env, f.client)
	found := clientconfig.Existing(all)
	if len(found) == 0 {
		return nil, fail(exitFailed, nothingFound(all, f.client), "--config FILE takes any file of the clients' layouts")
	}
	return found, nil
}

// nothingFound says where was looked: for one client at each place, for all of them there are too many.
func nothingFound(all []clientconfig.Target, client string) error {
	var paths []string
	for _, t := range all {
		paths = append(paths, clientconfig.Visible(t.Path))
	}
	if client == "" {
		return fmt.Errorf("none of the %d config files that known clients use is here; bouncer init --client NAME says which", len(paths))
	}
	return fmt.Errorf("no config file of %s is here; looked for %s", client, strings.Join(paths, ", "))
}

// plan works out and describes the change to every file. A refused file does not keep the others from being wrapped,
// but the command says so with its exit code.
func (f initFlags) plan(out io.Writer, targets []clientconfig.Target, bouncer string) ([]*clientconfig.Change, error, error) {
	var changes []*clientconfig.Change
	var refused []error
	var hints, names []string
	invalid := false
	for _, t := range targets {
		c, err := clientconfig.Plan(t.Path, clientconfig.Options{Bouncer: bouncer, Client: t.Client, Servers: f.servers, Undo: f.undo})
		var r *clientconfig.Refused
		if errors.As(err, &r) {
			invalid = true
			if r.Hint != "" && !slices.Contains(hints, r.Hint) {
				hints = append(hints, r.Hint)
			}
		}
		if errors.Is(err, fs.ErrNotExist) && f.undo && !f.dryRun && forgotten(t.Path) {
			fmt.Fprintf(out, "%s: the file is gone, and so is what was recorded of it\n", clientconfig.Visible(t.Path))
			continue
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("left alone: %w", err))
			continue
		}
		describe(out, c, t)
		changes = append(changes, c)
		for _, e := range c.Entries {
			names = append(names, e.Name)
		}
	}
	for _, want := range f.servers {
		if !slices.Contains(names, want) {
			refused = append(refused, fmt.Errorf("no file that was looked at has a server %q", want))
		}
	}
	if len(refused) == 0 {
		return changes, nil, nil
	}
	code := exitFailed
	if invalid {
		code = exitInvalid
	}
	return changes, fail(code, errors.Join(refused...), hints...), nil
}

// forgotten drops the record of a file that is not there any more. Without one there is nothing to undo.
func forgotten(path string) bool {
	dir, err := home()
	if err != nil {
		return false
	}
	found, err := clientconfig.Forget(dir, path)
	return found && err == nil
}

func describe(out io.Writer, c *clientconfig.Change, t clientconfig.Target) {
	title := ""
	if t.Title != "" {
		title = " (" + t.Title + ")"
	}
	fmt.Fprintf(out, "%s%s\n", clientconfig.Visible(c.Path), title)
	for _, e := range c.Entries {
		name := e.Name
		if name == "" || name != clientconfig.Visible(name) {
			name = fmt.Sprintf("%+q", name)
		}
		if e.Project != "" {
			name += " (project " + e.Project + ")"
		}
		if e.Reason != "" {
			name += " (" + e.Reason + ")"
		}
		fmt.Fprintf(out, "  %-25s  %s\n", e.State, clientconfig.Visible(name))
		for _, note := range e.Notes {
			fmt.Fprintf(out, "    note: %s\n", clientconfig.Visible(note))
		}
	}
	for _, note := range c.Notes {
		fmt.Fprintf(out, "  note: %s\n", clientconfig.Visible(note))
	}
}

// apply asks and makes the changes.
func (f initFlags) apply(out io.Writer, changes []*clientconfig.Change, edits int) error {
	if !f.yes {
		yes, err := confirm(fmt.Sprintf("change %d %s as shown? [y/N] ", edits, plural(edits, "entry", "entries")))
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
	var failed []error
	code := exitFailed
	for _, c := range changes {
		if c.Edits() == 0 {
			continue
		}
		err := c.Apply(dir)
		if err == nil {
			fmt.Fprintf(out, "%s: done\n", clientconfig.Visible(c.Path))
			continue
		}
		var r *clientconfig.Refused
		if errors.As(err, &r) {
			code = exitInvalid
		}
		failed = append(failed, err)
	}
	if len(failed) > 0 {
		return fail(code, errors.Join(failed...))
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// confirm asks the person at the terminal. Only y and yes are a yes; no terminal is an error.
func confirm(question string) (bool, error) {
	tty := os.Stdin
	if !isatty.IsTerminal(tty.Fd()) {
		name := "/dev/tty"
		if runtime.GOOS == "windows" {
			name = "CONIN$"
		}
		opened, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return false, errors.New("there is no terminal to ask at")
		}
		defer opened.Close()
		tty = opened
	}
	fmt.Fprint(os.Stderr, question)
	line, err := bufio.NewReader(io.LimitReader(tty, 1024)).ReadString('\n')
	if err != nil {
		fmt.Fprintln(os.Stderr)
		return false, nil // hung up: not a yes
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// thisBinary returns the absolute path of the running binary, links followed.
func thisBinary() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the path of this binary: %w", err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", fmt.Errorf("find the path of this binary: %w", err)
	}
	if !utf8.ValidString(path) {
		return "", fmt.Errorf("the path of this binary, %q, cannot be written into a JSON file", path)
	}
	return filepath.Abs(path)
}

var goBuild = regexp.MustCompile(`^go-build[0-9]*$`)

// isTemporary reports whether the go command built the binary for one run only: it will be gone when a client starts
// it. go run keeps such binaries below its cache or a directory of its own.
func isTemporary(path string) bool {
	for _, part := range strings.Split(filepath.ToSlash(path), "/") {
		if goBuild.MatchString(part) {
			return true
		}
	}
	cache := os.Getenv("GOCACHE")
	if cache == "" {
		return false // the default is called go-build
	}
	rel, err := filepath.Rel(cache, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
