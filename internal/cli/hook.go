package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/hook"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// exitBlocks is the exit code by which a hook blocks what it was asked about.
const exitBlocks = 2

// hookPatience is how long a hook may take. The client waits for longer, and what it would do then depends on its settings.
const hookPatience = 10 * time.Second

type hookFlags struct {
	home string
	kept []string // what of the settings was there and empty before; read by undo, out of the command line
	run  runFlags // policy and profile
}

func newHook() *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use:   "hook claude-code",
		Short: "Answer an event of a client: the user's prompt, its native tools",
		Long: `Answer one event of a client, as JSON on stdin. Clients run this; bouncer init --hooks enters it into their settings. Whatever
goes wrong blocks what was asked about (exit status 2).`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] != "claude-code" {
				return errors.New("bouncer hook takes the name of a client that it knows: claude-code")
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return runHook(f, os.Stdin, os.Stdout) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.home, "home", "", "the Bouncer home `DIR`, which no variable of a project's settings moves")
	flags.StringVar(&f.run.policy, "policy", "", "policy `FILE` (default: policy.yaml in the Bouncer home, if it is there)")
	flags.StringVar(&f.run.profile, "profile", "", "strict, standard or paranoid (default: what the policy says, else standard)")
	flags.StringSliceVar(&f.kept, "kept", nil, "for --undo")
	_ = flags.MarkHidden("kept") // it is there
	return cmd
}

func runHook(f hookFlags, in io.Reader, out io.Writer) error {
	time.AfterFunc(hookPatience, func() {
		say("the hook took longer than %v", hookPatience)
		os.Exit(exitBlocks)
	})
	if err := f.settle(); err != nil {
		return fail(exitBlocks, err)
	}
	text, err := io.ReadAll(io.LimitReader(in, jsonrpc.DefaultLimit+1))
	if err != nil {
		return fail(exitBlocks, fmt.Errorf("read the client's event: %w", err))
	}
	if len(text) > jsonrpc.DefaultLimit {
		return fail(exitBlocks, fmt.Errorf("the client's event has more than %d bytes", jsonrpc.DefaultLimit))
	}
	cfg, err := f.config()
	if err != nil {
		return fail(exitBlocks, err)
	}
	answer, err := hook.New(cfg).Handle(text)
	if err == nil && len(answer) > 0 {
		_, err = out.Write(append(answer, '\n'))
	}
	if err != nil {
		return fail(exitBlocks, err)
	}
	return nil
}

// settle fixes the Bouncer home. A project's settings can set variables for the hooks of the client: a home that they moved would
// have another policy, and a session that knows nothing.
func (f hookFlags) settle() error {
	if f.home == "" {
		return nil
	}
	want, err := filepath.Abs(f.home)
	if err != nil {
		return err
	}
	if moved := os.Getenv("BOUNCER_HOME"); moved != "" && filepath.Clean(moved) != want {
		return fmt.Errorf("BOUNCER_HOME is %q, and the hook was installed for %q; if the variable is yours, run bouncer init --hooks again", moved, want)
	}
	return os.Setenv("BOUNCER_HOME", want)
}

// config is what the hook of this process works with. The session and the log are opened when they are needed, and are left open: the
// process ends right behind its answer, and leaving in order would wait for the client.
func (f hookFlags) config() (hook.Config, error) {
	dir, err := makeHome()
	if err != nil {
		return hook.Config{}, err
	}
	who, speaker, err := speaker()
	if err != nil {
		return hook.Config{}, err
	}
	user, _ := os.UserHomeDir() // without one, what starts with ~ cannot be placed, and is asked about
	return hook.Config{
		Open:     func() (session.Store, error) { return session.Open(dir, who) },
		Log:      func() (judge.Log, error) { return audit.Open(filepath.Join(dir, "audit.jsonl"), audit.Options{}) },
		Policy:   func() (*policy.Set, policy.Profile, error) { return f.run.rules() },
		Guarded:  f.run.guarded(dir),
		UserHome: user,
		Speaker:  speaker,
	}, nil
}

// speaker finds the client that started this process, and who speaks through it. An agent that starts the hook itself, through
// a tool of its, speaks for nobody: between the client and the hook there is then more than the shell of a hook.
func speaker() (session.Identity, hook.Speaker, error) {
	who, err := session.Here()
	if err != nil {
		return who, hook.Speaker{}, err
	}
	client, err := session.Processes.Process(who.Client.PID)
	if err != nil {
		return who, hook.Speaker{}, fmt.Errorf("look at the client that started this: %w", err)
	}
	var argv []string
	if len(client.Args) > 0 {
		argv = client.Args[1:]
	}
	s := hook.Terminal(argv, os.Getenv("CLAUDE_CODE_ENTRYPOINT"), os.Getenv("CLAUDE_CODE_SESSION_ATTENDED"))
	s.Person = s.Person && startedAsHook(client.PID)
	return who, s, nil
}

// startedAsHook reports that at most one shell stands between the client and this process.
func startedAsHook(client int) bool {
	self, err := session.Processes.Process(os.Getpid())
	if err != nil {
		return false
	}
	if self.Parent == client {
		return true
	}
	shell, err := session.Processes.Process(self.Parent)
	return err == nil && shell.Parent == client && (len(shell.Args) == 0 || hook.StartedBy(shell.Args))
}
