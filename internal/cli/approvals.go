package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/destination"
)

func newApprovals() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "The answers that you gave for always",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "Print them, with when each was last used", Args: noArgs,
		Example: "  bouncer approvals list\n  bouncer approvals list --json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return listApprovals(cmd.OutOrStdout(), asJSON) },
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	revoke := &cobra.Command{
		Use: "revoke N", Short: "Take the answer of this number back", Args: cobra.ExactArgs(1),
		Long:    "Take an answer back: the number is the one that bouncer approvals list prints. To take back a never needs a person at a terminal.",
		Example: "  bouncer approvals revoke 2",
		RunE:    func(cmd *cobra.Command, args []string) error { return revokeApproval(cmd.OutOrStdout(), args[0]) },
	}
	cmd.AddCommand(list, revoke)
	return cmd
}

// openBook opens the remembered answers of the Bouncer home.
func openBook() (*approval.Book, string, error) {
	dir, err := home()
	if err != nil {
		return nil, "", fail(exitFailed, err)
	}
	book, err := approval.OpenBook(bookPath(dir), nil)
	if err != nil {
		return nil, "", fail(exitInvalid, err, "mend or remove the file: until then every destination is refused")
	}
	return book, dir, nil
}

type listedApproval struct {
	Number      int        `json:"number"`
	Answer      string     `json:"answer"`
	Server      string     `json:"server"`
	Tool        string     `json:"tool"`
	Kind        string     `json:"kind"`
	Destination string     `json:"destination"`
	Contract    string     `json:"contract"`
	Since       string     `json:"since,omitempty"`
	LastUse     *time.Time `json:"last_use"`
}

func listApprovals(out io.Writer, asJSON bool) error {
	book, dir, err := openBook()
	if err != nil {
		return err
	}
	entries, err := book.Entries()
	if err != nil {
		return fail(exitInvalid, err)
	}
	uses, err := lastUses(filepath.Join(dir, "audit.jsonl"), entries)
	if err != nil {
		return fail(exitFailed, err)
	}
	if asJSON {
		list := []listedApproval{}
		for i, e := range entries {
			l := listedApproval{Number: e.Number, Answer: e.Choice.String(), Server: e.Server, Tool: e.Tool, Kind: string(e.Kind), Destination: e.Destination, Contract: e.Contract, Since: e.Since}
			if !uses[i].IsZero() {
				l.LastUse = &uses[i]
			}
			list = append(list, l)
		}
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{"version": 1, "approvals": list})
	}
	if len(entries) == 0 {
		fmt.Fprintln(out, "nothing is remembered")
		return nil
	}
	for i, e := range entries {
		used := "never used"
		if !uses[i].IsZero() {
			used = "last used " + uses[i].Local().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(out, "%d  %s  %s of %s  %s  (%s; since %s)\n", e.Number, e.Choice, destination.Visible(e.Tool, 60),
			destination.Visible(e.Server, 40), destination.Visible(e.Destination, 120), used, e.Since)
	}
	return nil
}

// lastUses finds in the log when each entry last decided something.
func lastUses(path string, entries []approval.Entry) ([]time.Time, error) {
	out := make([]time.Time, len(entries))
	if len(entries) == 0 {
		return out, nil
	}
	err := audit.Scan(path, audit.Filter{}, func(r audit.Record) {
		for _, ev := range r.Evidence {
			if ev.Origin != "approved" && ev.Origin != "refused" {
				continue
			}
			for i, e := range entries {
				d := destination.Destination{Kind: destination.Kind(ev.Kind), Raw: ev.Destination, Canonical: ev.Destination}
				if (ev.Origin == "refused") == (e.Choice == approval.Never) && e.About(r.Server, r.Tool, d) && r.Time.After(out[i]) {
					out[i] = r.Time
				}
			}
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return out, err
}

func revokeApproval(out io.Writer, number string) error {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return fail(exitUsage, fmt.Errorf("%q is no number of an answer", number), "bouncer approvals list prints them")
	}
	book, _, err := openBook()
	if err != nil {
		return err
	}
	entries, err := book.Entries()
	if err != nil {
		return fail(exitInvalid, err)
	}
	if n > len(entries) {
		return fail(exitFailed, fmt.Errorf("there is no answer number %d", n), "bouncer approvals list prints them")
	}
	e := entries[n-1]
	if e.Choice == approval.Never { // this opens a door
		term, leave, err := atTerminal()
		if err != nil {
			return fail(exitFailed, err)
		}
		defer leave()
		fmt.Fprintf(term.out, "%s\n", e.Line())
		if _, ok := term.ask("Type yes to take this refusal back: ", map[string]string{"yes": "yes"}); !ok {
			return fail(exitFailed, errors.New("nothing was changed"))
		}
	}
	if err := book.Revoke(n, e); err != nil {
		return fail(exitFailed, err)
	}
	fmt.Fprintf(out, "revoked: %s\n", e.Line())
	return nil
}
