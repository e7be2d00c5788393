package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/audit"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the log of verdicts",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAuditTail())
	return cmd
}

func newAuditTail() *cobra.Command {
	var (
		lines  int
		asJSON bool
		file   string
	)
	cmd := &cobra.Command{
		Use:     "tail",
		Short:   "Print the latest verdicts, oldest first",
		Example: "  bouncer audit tail -n 50\n  bouncer audit tail --json | jq .reason",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 0 {
				return fail(exitUsage, errors.New("-n takes a number of lines"))
			}
			path := file
			if path == "" {
				dir, err := home()
				if err != nil {
					return fail(exitFailed, err)
				}
				path = filepath.Join(dir, "audit.jsonl")
			}
			tail, err := audit.Tail(path, lines)
			if errors.Is(err, fs.ErrNotExist) {
				return fail(exitFailed, fmt.Errorf("there is no log at %s yet", path), "bouncer demo shows one being written")
			}
			if err != nil {
				return fail(exitFailed, err)
			}
			return printTail(cmd.OutOrStdout(), tail, asJSON)
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "how many verdicts")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the lines as they stand in the log")
	cmd.Flags().StringVar(&file, "file", "", "another log `FILE`")
	return cmd
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

// colourful reports whether out is a terminal whose user has not said NO_COLOR.
func colourful(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isatty.IsTerminal(f.Fd())
}
