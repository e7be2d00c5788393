// Package cli is the command line: one file a command, flags in, calls out, no logic of its own.
package cli

import (
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/upstream"
)

// Exit codes are part of the interface: scripts and clients act on them.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2 // wrong usage
	exitInvalid  = 3 // a policy or config is invalid; nothing was started
	exitNotAsExp = 4 // tests or checks did not pass
)

// exitError carries an exit code out of a command.
type exitError struct {
	code  int
	err   error // nil when the command has said everything already
	hints []string
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func fail(code int, err error, hints ...string) error { return &exitError{code, err, hints} }

// Main runs one command line and returns its exit code.
func Main(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	code := exitUsage // what cobra itself refuses is wrong usage
	hints := []string{"bouncer --help lists the commands"}
	var coded *exitError
	if errors.As(err, &coded) {
		code, hints = coded.code, coded.hints
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(stderr(), "bouncer: %s\n", text)
	}
	for _, hint := range hints {
		fmt.Fprintf(stderr(), "hint: %s\n", hint)
	}
	return code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "bouncer",
		Short: "A local firewall between an AI agent and its MCP tool servers",
		Long: `Bouncer stands between an MCP client and a tool server, re-exports every tool 1:1, and decides each call with
plain, deterministic code: should this destination receive this value, given where the destination came from?`,
		Example: `  bouncer demo                                       see an attack blocked, offline
  bouncer run --name files -- npx -y @modelcontextprotocol/server-filesystem ~/work
  bouncer policy check bouncer.yaml                  is this policy valid, and what does it say?
  bouncer audit tail                                 the latest verdicts`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newInit(), newStatus(), newRun(), newDemo(), newDemoServer(), newPolicy(), newAudit(), newServe(), newReplay(), newVersion(),
		newApprove(), newDeny(), newApprovals(), newUI(), newHook(), newIntent())
	return root
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is not a command of %s", args[0], cmd.CommandPath())
	}
	return nil
}

// say tells the user about a problem, on stderr, where clients keep their logs.
func say(format string, args ...any) { fmt.Fprintf(stderr(), "bouncer: "+format+"\n", args...) }

// stderr is a file whose reader may go away without ending Bouncer.
var stderr = sync.OnceValue(upstream.Stderr)
