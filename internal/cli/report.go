package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/clientconfig"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
	"github.com/mcp-bouncer/bouncer/internal/report"
)

// reportFlags are the flags of bouncer audit report.
type reportFlags struct {
	since, format, out, policy, file string
	force                            bool
}

func newAuditReport() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Write a review pack: what is protected, what was decided, refused and approved, and is the log whole",
		Long: `Write one self-contained text for whoever reviews the agents on this machine. Arguments of calls are left out, and
what others wrote is shown as escaped text. docs/report.md says what stands in it.`,
		Example: "  bouncer audit report --since 7d > review.md\n  bouncer audit report --format html --out review.html",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd, time.Now()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "only later verdicts: a duration (90m, 7d) or a time (2026-01-02, 2026-01-02T15:04:05Z)")
	flags.StringVar(&f.format, "format", "", "markdown or html (default: what --out ends in, else markdown)")
	flags.StringVar(&f.out, "out", "", "write this `FILE` instead of standard output; it is not overwritten")
	flags.BoolVar(&f.force, "force", false, "overwrite the file of --out")
	flags.StringVar(&f.policy, "policy", "", "policy `FILE` (default: policy.yaml in the Bouncer home, if it is there)")
	flags.StringVar(&f.file, "file", "", "another log `FILE`")
	return cmd
}

func (f reportFlags) run(cmd *cobra.Command, now time.Time) error {
	since, err := parseSince(f.since, now)
	if err != nil {
		return fail(exitUsage, err)
	}
	render, err := f.renderer()
	if err != nil {
		return err
	}
	in := report.Input{Since: since, Now: now, Version: buildVersion().Version}
	if in.Log, err = logFile(f.file); err != nil {
		return err
	}
	if f.file != "" { // a name that was mistyped must not make an empty report
		if _, err := os.Stat(f.file); err != nil {
			return readFailed(f.file, err)
		}
	}
	if in.Policy, err = f.reportPolicy(); err != nil {
		return err
	}
	env, err := clientconfig.RealEnv()
	if err != nil {
		return fail(exitFailed, err)
	}
	self, err := thisBinary()
	if err != nil {
		return fail(exitFailed, err)
	}
	in.Clients = report.Survey(env, self)
	made, err := report.Build(in)
	if err != nil {
		return fail(exitFailed, err)
	}
	write := func(w io.Writer) error { return render(made, w) }
	if f.out == "" {
		if err := write(cmd.OutOrStdout()); err != nil {
			return fail(exitFailed, err)
		}
		return nil
	}
	err = report.Write(f.out, f.force, ownFiles(in), write)
	if errors.Is(err, report.ErrExists) {
		return fail(exitFailed, err, "--force overwrites it")
	}
	if err != nil {
		return fail(exitFailed, err)
	}
	return nil
}

// renderer is the format that was asked for.
func (f reportFlags) renderer() (func(*report.Report, io.Writer) error, error) {
	format := f.format
	if format == "" {
		if end := strings.ToLower(filepath.Ext(f.out)); end == ".html" || end == ".htm" {
			format = "html"
		}
	}
	switch format {
	case "", "markdown", "md":
		return (*report.Report).Markdown, nil
	case "html":
		return (*report.Report).HTML, nil
	}
	return nil, fail(exitUsage, fmt.Errorf("--format is markdown or html, not %q", f.format))
}

// reportPolicy loads the policy as run would. One that was named must be good; the global one that is not is something
// to report.
func (f reportFlags) reportPolicy() (report.Policy, error) {
	p := report.Policy{Path: f.policy, Packs: packs.All()}
	if p.Path == "" {
		dir, err := home()
		if err != nil {
			return p, fail(exitFailed, err)
		}
		path := filepath.Join(dir, "policy.yaml")
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			p.Path = path
		}
	}
	set, err := loadPolicy(f.policy)
	switch {
	case err == nil:
		p.Set = set
	case f.policy != "":
		return p, err
	default:
		p.Problem = err.Error()
	}
	return p, nil
}

// ownFiles are what --force must not overwrite.
func ownFiles(in report.Input) []string {
	files, _ := audit.Files(in.Log) // none, where there is no log
	dir := filepath.Dir(in.Log)
	files = append(files, filepath.Join(dir, "audit.key"), filepath.Join(dir, "audit.pub"), in.Policy.Path)
	for _, c := range in.Clients {
		files = append(files, c.Path)
	}
	return files
}
