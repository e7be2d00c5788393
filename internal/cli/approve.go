package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/approval"
)

// pendingDir is where questions wait for bouncer approve and the page.
func pendingDir(home string) *approval.Dir {
	return approval.NewDir(filepath.Join(home, "pending"), nil)
}

// bookPath is where answers for always are.
func bookPath(home string) string { return filepath.Join(home, "approvals.yaml") }

func newApprove() *cobra.Command {
	return &cobra.Command{
		Use:   "approve [ID]",
		Short: "Answer a question that waits, at a terminal of your own",
		Long: `Show a question that waits, with everything that is known about it, and answer it. When the same call is made again it passes:
once, or for as long as you say. Without an ID, list what waits. It needs an interactive terminal: a person has to read it.`,
		Example: "  bouncer approve              what waits\n  bouncer approve k3jx7q2a     read it and answer",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := home()
			if err != nil {
				return fail(exitFailed, err)
			}
			if len(args) == 0 {
				return listPending(cmd.OutOrStdout(), pendingDir(dir))
			}
			return approve(dir, args[0])
		},
	}
}

func newDeny() *cobra.Command {
	return &cobra.Command{
		Use:     "deny ID",
		Short:   "Say no to a question that waits",
		Long:    "Say no to a question that waits. The same call is then denied without being asked about again for a while.",
		Example: "  bouncer deny k3jx7q2a",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := home()
			if err != nil {
				return fail(exitFailed, err)
			}
			store := pendingDir(dir)
			p, err := store.Get(args[0])
			if err == nil {
				err = store.Give(approval.Given{ID: p.ID, Key: p.Key, Choice: approval.Deny, By: approval.ByTerminal})
			}
			if err != nil {
				return fail(exitFailed, err, "bouncer approve lists what waits")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "denied: %s\n", p.Title())
			return nil
		},
	}
}

func listPending(out io.Writer, store *approval.Dir) error {
	all, err := store.List()
	if err != nil {
		return fail(exitFailed, err)
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "no question waits")
		return nil
	}
	for _, p := range all {
		fmt.Fprintf(out, "%s  %s  (until %s)\n", p.ID, p.Title(), p.Expires.Local().Format("15:04:05"))
	}
	return nil
}

// approve shows one question at the terminal and gives its answer.
func approve(home, id string) error {
	term, leave, err := atTerminal()
	if err != nil {
		return fail(exitFailed, err, "open a terminal of your own and run it there")
	}
	defer leave()
	store := pendingDir(home)
	p, err := store.Get(id)
	if err != nil {
		return fail(exitFailed, err, "bouncer approve lists what waits")
	}
	fmt.Fprintf(term.out, "%s\n\n", p.Message())
	words, text := offered(p.Question)
	fmt.Fprint(term.out, text)
	word, ok := term.ask("Your answer: ", words)
	if !ok {
		return fail(exitFailed, errors.New("nothing was answered; the question still waits"))
	}
	choice, scope := readAnswer(word)
	if choice == approval.Always {
		for _, e := range p.Entries(choice, scope) {
			fmt.Fprintf(term.out, "This adds to approvals.yaml: %s\n", e.Line())
		}
		if _, ok := term.ask("Type yes to keep it: ", map[string]string{"yes": "yes"}); !ok {
			return fail(exitFailed, errors.New("nothing was answered; the question still waits"))
		}
	}
	return answer(home, store, p, approval.Given{ID: p.ID, Key: p.Key, Choice: choice, Scope: scope, By: approval.ByTerminal}, term.out)
}

// answer gives a person's answer, and keeps what is for always.
func answer(home string, store *approval.Dir, p approval.Pending, g approval.Given, out io.Writer) error {
	book, _ := approval.OpenBook(bookPath(home), nil) // a broken one says so when it is written to
	if err := store.Answer(book, p, g, time.Now()); err != nil {
		return fail(exitFailed, err)
	}
	if g.Choice.Approves() {
		fmt.Fprintln(out, "approved: the same call passes when it is made again")
	} else {
		fmt.Fprintln(out, "denied")
	}
	return nil
}

// offered returns the words that answer a question, and the lines that explain them.
func offered(q approval.Question) (map[string]string, string) {
	words := map[string]string{"deny": "deny", "once": "once", "session": "session"}
	var b strings.Builder
	line := func(word, what string) {
		words[word] = word
		fmt.Fprintf(&b, "  %-14s %s\n", word, what)
	}
	line("deny", "no")
	line("once", "this call, with these very arguments, one time")
	line("session", "this destination for this tool, until the session ends")
	names := map[approval.Scope]string{"": "this destination for this tool", approval.ThisKind: "this destination for every tool of this server", approval.ThisDomain: "every address at this domain, for this tool"}
	for _, scope := range q.Scopes() {
		line(strings.TrimSpace("always "+string(scope)), "keep it: "+names[scope])
	}
	if q.Offers(approval.Never) {
		line("never", "keep a no: this destination for this tool")
	}
	return words, b.String()
}

func readAnswer(word string) (approval.Choice, approval.Scope) {
	first, rest, _ := strings.Cut(word, " ")
	choice, ok := approval.ParseChoice(first)
	scope, scoped := approval.ParseScope(rest)
	if !ok || !scoped {
		return approval.Deny, ""
	}
	return choice, scope
}
