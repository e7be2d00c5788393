package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/mcpserver"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
)

// serveFlags are the flags of bouncer serve.
type serveFlags struct{ listen, policy, profile string }

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [--listen 127.0.0.1:PORT]",
		Short: "Be an MCP server: try calls, check policies, read the log",
		Long: `Serve Bouncer's own MCP server, on stdin and stdout or on a loopback address. It only reads: nothing that a client
asks here changes a policy, an approval, a pin or any file.`,
		Example: `  bouncer serve                              for a client's config: {"command": "bouncer", "args": ["serve"]}
  bouncer serve --listen 127.0.0.1:8600      Streamable HTTP at /mcp, Prometheus metrics at /metrics`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.serve(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "loopback `ADDRESS` for HTTP, such as 127.0.0.1:8600 (default: stdin and stdout)")
	flags.StringVar(&f.policy, "policy", "", "policy `FILE` (default: policy.yaml in the Bouncer home, if it is there)")
	flags.StringVar(&f.profile, "profile", "", "strict, standard or paranoid (default: what the policy says, else standard)")
	return cmd
}

func (f serveFlags) serve(ctx context.Context) error {
	rules := func() (*policy.Set, policy.Profile, error) {
		set, profile, err := runFlags{policy: f.policy, profile: f.profile}.rules()
		if err != nil {
			return nil, "", err
		}
		return set.WithPacks(packs.All()), profile, nil // they are listed too: packs that are read later are not there yet
	}
	if _, _, err := rules(); err != nil { // as with run: nothing starts on a policy that is broken
		return err
	}
	dir, err := home()
	if err != nil {
		return fail(exitFailed, err)
	}
	server := mcpserver.New(mcpserver.Config{Policy: rules, Log: filepath.Join(dir, "audit.jsonl"), Version: buildVersion().Version,
		Paths: &judge.Paths{Guarded: runFlags{policy: f.policy}.guarded(dir)}})
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if f.listen == "" {
		if err := server.RunStdio(ctx, os.Stdin, os.Stdout); err != nil {
			return fail(exitFailed, fmt.Errorf("serve stdin and stdout: %w", err))
		}
		return nil
	}
	listener, err := mcpserver.Listen(f.listen)
	if err != nil {
		return fail(exitUsage, err)
	}
	say("serving http://%s/mcp", listener.Addr())
	if err := server.Serve(ctx, listener); err != nil {
		return fail(exitFailed, err)
	}
	return nil
}
