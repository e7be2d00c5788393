package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/casefile"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check, show and test policies",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyCheck(), newPolicyShow(), newPolicyTest())
	return cmd
}

func newPolicyCheck() *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE...",
		Short:   "Say whether a policy is valid, and everything that is wrong with it",
		Example: "  bouncer policy check examples/bouncer.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var bad []error
			for _, path := range args {
				set, err := load.File(path)
				if err != nil {
					bad = append(bad, err)
					continue
				}
				rules := len(set.Tools)
				for _, scope := range set.Scopes {
					rules += len(scope.Tools)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: valid, %d rules\n", path, rules)
			}
			if len(bad) > 0 {
				return fail(exitInvalid, errors.Join(bad...))
			}
			return nil
		},
	}
}

func newPolicyTest() *cobra.Command {
	return &cobra.Command{
		Use:     "test FILE|DIR...",
		Short:   "Run case files against the real relay",
		Example: "  bouncer policy test testdata/cases",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ok, err := casefile.Render(cmd.OutOrStdout(), casefile.RunAll(cmd.Context(), args...))
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
