package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/demo"
)

func newDemo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See an attack blocked: a poisoned inbox, a real proxy, no network",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fail(exitFailed, err)
			}
			out := cmd.OutOrStdout()
			ok, err := demo.Run(demo.Options{Self: self, Out: out, Colour: colourful(out)})
			if err != nil {
				return fail(exitFailed, err)
			}
			if !ok {
				return fail(exitNotAsExp, nil)
			}
			return nil
		},
	}
}

// newDemoServer is the mail server that the demo wraps, as a process of its own.
func newDemoServer() *cobra.Command {
	return &cobra.Command{
		Use:    "demo-server DIR",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := demo.ServeMail(os.Stdin, os.Stdout, args[0]); err != nil {
				return fail(exitFailed, err)
			}
			return nil
		},
	}
}
