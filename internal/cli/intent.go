package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

func newIntent() *cobra.Command {
	var only string
	cmd := &cobra.Command{
		Use:   "intent TEXT",
		Short: "Say to a running session what you want, where no hook can tell",
		Long: `Say to a running session what you want of it, in your own words: "mail the summary to bob@corp.example". It is read like a prompt of
yours, and holds until the next one. Only a person at a terminal can say it.`,
		Example: `  bouncer intent "mail the summary to bob@corp.example"`,
		RunE: func(_ *cobra.Command, args []string) error {
			text := strings.TrimSpace(strings.Join(args, " "))
			if text == "" {
				return fail(exitUsage, errors.New("bouncer intent takes what you want, in your own words"))
			}
			return declare(text, only)
		},
	}
	cmd.Flags().StringVar(&only, "session", "", "`KEY` of the session, where more than one runs")
	return cmd
}

// declare asks the person and writes to the session. All three standard files must be a terminal: an agent's tools have pipes.
func declare(text, only string) error {
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if !isatty.IsTerminal(f.Fd()) {
			return fail(exitUsage, errors.New("bouncer intent is for a person at a terminal, and this is none"), "--intent of bouncer run says it in the config entry of a server")
		}
	}
	dir, err := home()
	if err != nil {
		return fail(exitFailed, err)
	}
	running, err := session.Running(dir)
	if err != nil {
		return fail(exitFailed, err)
	}
	who, err := pick(running, only)
	if err != nil {
		return err
	}
	yes, err := confirm(fmt.Sprintf("say to the session of %s: %s\n[y/N] ", clientName(who), destination.Visible(text, 2000)))
	if err != nil {
		return fail(exitUsage, err)
	}
	if !yes {
		return fail(exitFailed, errors.New("nothing was said"))
	}
	store, err := session.Open(dir, who)
	if err != nil {
		return fail(exitFailed, err)
	}
	mark := store.Mark()
	store.Say(text)
	if err := errors.Join(store.Err(mark), store.Close()); err != nil {
		return fail(exitFailed, err)
	}
	fmt.Println("said")
	return nil
}

func pick(running []session.Identity, only string) (session.Identity, error) {
	var lines []string
	for _, who := range running {
		if who.Key == only || only == "" && len(running) == 1 {
			return who, nil
		}
		lines = append(lines, fmt.Sprintf("--session %s is %s", who.Key, clientName(who)))
	}
	switch {
	case len(running) == 0:
		return session.Identity{}, fail(exitFailed, errors.New("no session runs"))
	case only != "":
		return session.Identity{}, fail(exitUsage, fmt.Errorf("no session %q runs", only), lines...)
	}
	return session.Identity{}, fail(exitUsage, errors.New("more than one session runs"), lines...)
}

func clientName(who session.Identity) string {
	p, err := session.Processes.Process(who.Client.PID)
	if err != nil {
		return fmt.Sprintf("process %d", who.Client.PID)
	}
	return fmt.Sprintf("%s (process %d)", destination.Visible(p.Name, 60), p.PID)
}
