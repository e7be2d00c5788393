package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read and verify the log of verdicts",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// Whoever looks at what Bouncer keeps should not find what a session left that is over.
		PersistentPreRun: func(*cobra.Command, []string) {
			if dir, err := home(); err == nil {
				_ = session.Sweep(dir) // the next one does
			}
		},
	}
	cmd.AddCommand(newAuditTail(), newAuditSummary(), newAuditShow(), newAuditVerify(), newAuditReport())
	return cmd
}

// logFile is the file that was named, else the log in the Bouncer home.
func logFile(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	dir, err := home()
	if err != nil {
		return "", fail(exitFailed, err)
	}
	return filepath.Join(dir, "audit.jsonl"), nil
}

// readFailed words an error of reading the log at path.
func readFailed(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitFailed, fmt.Errorf("there is no log at %s yet", path), "bouncer demo shows one being written")
	}
	return fail(exitFailed, err)
}

// filterFlags are the flags that say which verdicts are wanted.
type filterFlags struct{ server, tool, verdict, contract, since string }

func (f *filterFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", "", "only this server's")
	flags.StringVar(&f.tool, "tool", "", "only this tool's")
	flags.StringVar(&f.verdict, "verdict", "", "only allow, ask or deny")
	flags.StringVar(&f.contract, "contract", "", "only this contract's")
	flags.StringVar(&f.since, "since", "", "only later ones: a duration (90m, 7d) or a time (2026-01-02, 2026-01-02T15:04:05Z)")
}

func (f *filterFlags) filter(now time.Time) (audit.Filter, error) {
	since, err := parseSince(f.since, now)
	if err != nil {
		return audit.Filter{}, fail(exitUsage, err)
	}
	switch f.verdict {
	case "", "allow", "ask", "deny":
	default:
		return audit.Filter{}, fail(exitUsage, fmt.Errorf("--verdict is allow, ask or deny, not %q", f.verdict))
	}
	return audit.Filter{Server: f.server, Tool: f.tool, Verdict: f.verdict, Contract: f.contract, Since: since}, nil
}

// parseSince reads a time, or a duration before now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	var days int
	if n, err := fmt.Sscanf(text, "%dd", &days); n == 1 && err == nil && text == fmt.Sprintf("%dd", days) && days >= 0 {
		return now.AddDate(0, 0, -days), nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since takes a duration (90m, 7d) or a time (2026-01-02T15:04:05Z), not %q", text)
}

func newAuditTail() *cobra.Command {
	var (
		lines          int
		asJSON, follow bool
		file           string
		filters        filterFlags
	)
	cmd := &cobra.Command{
		Use:     "tail",
		Short:   "Print the latest verdicts, oldest first",
		Example: "  bouncer audit tail -n 50\n  bouncer audit tail -f --verdict deny\n  bouncer audit tail --json | jq .reason",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 0 {
				return fail(exitUsage, errors.New("-n takes a number of lines"))
			}
			filter, err := filters.filter(time.Now())
			if err != nil {
				return err
			}
			path, err := logFile(file)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if follow {
				ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
				defer stop()
				return followTail(ctx, out, path, lines, filter, asJSON)
			}
			tail, err := audit.Tail(path, lines, filter)
			if err != nil {
				return readFailed(path, err)
			}
			return printTail(out, tail, asJSON)
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "how many verdicts")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with those that are added")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the lines as they stand in the log")
	cmd.Flags().StringVar(&file, "file", "", "another log `FILE`")
	filters.add(cmd)
	return cmd
}

func followTail(ctx context.Context, out io.Writer, path string, n int, filter audit.Filter, asJSON bool) error {
	err := audit.Follow(ctx, path, n, filter, func(line []byte) error { return printTail(out, [][]byte{line}, asJSON) })
	if errors.Is(err, syscall.EPIPE) {
		return nil // whoever read it has seen enough
	}
	if err != nil {
		return readFailed(path, err)
	}
	return nil
}

func printTail(out io.Writer, tail [][]byte, asJSON bool) error {
	w := bufio.NewWriter(out)
	colour := colourful(out)
	for _, line := range tail {
		if asJSON {
			w.Write(line)
			w.WriteByte('\n')
			continue
		}
		fmt.Fprintln(w, audit.Describe(line, colour))
	}
	return w.Flush()
}

func newAuditSummary() *cobra.Command {
	var (
		asJSON   bool
		file, by string
		filters  filterFlags
	)
	cmd := &cobra.Command{
		Use:     "summary",
		Short:   "Count verdicts by server, tool, verdict, contract or destination",
		Example: "  bouncer audit summary --since 7d\n  bouncer audit summary --by destination,verdict --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := filters.filter(time.Now())
			if err != nil {
				return err
			}
			names := strings.Split(by, ",")
			for _, name := range names {
				switch name {
				case "server", "tool", "verdict", "contract", "destination":
				default:
					return fail(exitUsage, fmt.Errorf("--by lists server, tool, verdict, contract, destination; %q is none", name))
				}
			}
			path, err := logFile(file)
			if err != nil {
				return err
			}
			s, err := audit.Summarise(path, audit.Query{Filter: filter, By: names})
			if err != nil {
				return readFailed(path, err)
			}
			return printSummary(cmd.OutOrStdout(), s, asJSON)
		},
	}
	cmd.Flags().StringVar(&by, "by", "server,tool", "what to count by: server, tool, verdict, contract, destination")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&file, "file", "", "another log `FILE`")
	filters.add(cmd)
	return cmd
}

func printSummary(out io.Writer, s audit.Summary, asJSON bool) error {
	if asJSON {
		return printJSON(out, summaryJSON(s))
	}
	if s.Lines == 0 {
		_, err := fmt.Fprintln(out, "no verdicts")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tlines\tallow\task\tdeny\tlast\n", strings.Join(s.By, "\t"))
	for _, g := range s.Groups {
		for _, key := range g.Keys {
			if key == "" {
				key = "-"
			}
			fmt.Fprintf(w, "%s\t", destination.Visible(key, 200))
		}
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%s\n", g.Lines, g.Allow, g.Ask, g.Deny, g.Last.Format(time.DateTime))
	}
	fmt.Fprintf(w, "%d lines from %s to %s UTC\n", s.Lines, s.First.Format(time.DateTime), s.Last.Format(time.DateTime))
	return w.Flush()
}

func summaryJSON(s audit.Summary) any {
	groups := []map[string]any{}
	for _, g := range s.Groups {
		group := map[string]any{"lines": g.Lines, "allow": g.Allow, "ask": g.Ask, "deny": g.Deny, "last": g.Last}
		for i, name := range s.By {
			group[name] = g.Keys[i]
		}
		groups = append(groups, group)
	}
	return map[string]any{"version": 1, "by": s.By, "lines": s.Lines, "first": s.First, "last": s.Last, "groups": groups}
}

func newAuditShow() *cobra.Command {
	var (
		asJSON bool
		file   string
	)
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Tell what became of one call, and why",
		Example: "  bouncer audit show k3v7q2ab",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := logFile(file)
			if err != nil {
				return err
			}
			found, err := audit.Find(path, args[0])
			if err != nil {
				return readFailed(path, err)
			}
			if len(found) == 0 {
				return fail(exitFailed, fmt.Errorf("no call %q is in %s", args[0], path), "bouncer audit tail shows the latest ones")
			}
			out := cmd.OutOrStdout()
			if !asJSON {
				_, err := io.WriteString(out, audit.Story(found))
				return err
			}
			lines := make([][]byte, len(found))
			for i, r := range found {
				lines[i] = r.Line
			}
			return printTail(out, lines, true)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the call's lines as they stand in the log")
	cmd.Flags().StringVar(&file, "file", "", "another log `FILE`")
	return cmd
}

func newAuditVerify() *cobra.Command {
	var (
		asJSON bool
		key    string
	)
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check that no line was changed, taken out, moved, repeated, added or cut off",
		Long: `Check the chain and the signatures of the log, rotated files included. Exit code 4 says that something is wrong with it.
docs/audit.md says what can be found, and what cannot.`,
		Example: "  bouncer audit verify\n  bouncer audit verify backup/audit.jsonl --key audit.pub",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := logFile(strings.Join(args, ""))
			if err != nil {
				return err
			}
			report, err := audit.Verify(path, key)
			if err != nil {
				return readFailed(path, err)
			}
			if err := printReport(cmd.OutOrStdout(), report, asJSON); err != nil {
				return err
			}
			if !report.Clean() {
				return fail(exitNotAsExp, nil)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "public key `FILE` (default: audit.pub beside the log)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printReport(out io.Writer, r audit.Report, asJSON bool) error {
	if asJSON {
		return printJSON(out, map[string]any{"version": 1, "clean": r.Clean(), "files": r.Files, "lines": r.Lines, "entries": r.Entries,
			"checkpoints": r.Checkpoints, "writers": r.Writers, "key": r.Key, "findings": findingsJSON(r.Findings), "notes": findingsJSON(r.Notes)})
	}
	w := bufio.NewWriter(out)
	for _, f := range r.Findings {
		fmt.Fprintln(w, f)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	verdict := "clean"
	if !r.Clean() {
		verdict = fmt.Sprintf("NOT clean: %d findings", len(r.Findings))
	}
	fmt.Fprintf(w, "%s: %d files, %d lines, %d verdicts, %d writers, %d valid checkpoints, key %s\n", verdict, len(r.Files), r.Lines, r.Entries, r.Writers, r.Checkpoints,
		destination.Visible(r.Key, 100))
	return w.Flush()
}

func findingsJSON(findings []audit.Finding) []map[string]any {
	all := []map[string]any{}
	for _, f := range findings {
		all = append(all, map[string]any{"kind": f.Kind, "file": f.File, "line": f.Line, "writer": f.Writer, "seq": f.Seq, "last": max(f.Last, f.Seq), "what": f.What})
	}
	return all
}

func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// colourful reports whether out is a terminal whose user has not said NO_COLOR.
func colourful(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isatty.IsTerminal(f.Fd())
}
