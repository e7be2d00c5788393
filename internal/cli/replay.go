package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
	"github.com/mcp-bouncer/bouncer/internal/replay"
)

// replayFlags are the flags of bouncer replay.
type replayFlags struct {
	policy, profile, suite, explain string
	noPrompt, list, asJSON          bool
}

func newReplay() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay (agentdojo | injecagent) DIR",
		Short: "Run recorded sessions against a policy, without a model",
		Long: `Run recorded sessions against a policy: an agent that does its user's task and obeys everything that an injected text
tells it. No model is asked, so the figures are the same every time. What each figure means is in docs/benchmark.md.`,
		Example: `  bouncer replay agentdojo ../recordings --policy eval/policies/agentdojo.yaml
  bouncer replay agentdojo ../recordings --explain workspace/user_task_8 --no-prompt`,
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.policy, "policy", "", "policy `FILE`; without one the heuristics decide")
	flags.StringVar(&f.profile, "profile", "", "strict, standard or paranoid (default: what the policy says, else standard)")
	flags.StringVar(&f.suite, "suite", "", "only the suite of this `NAME`")
	flags.StringVar(&f.explain, "explain", "", "print every call of one `SESSION` (suite/task or suite/task/injection) with its verdict")
	flags.BoolVar(&f.noPrompt, "no-prompt", false, "the user's words are not known")
	flags.BoolVar(&f.list, "list", false, "name every honest task that is refused or asked about, and every attack that is not blocked")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.AddCommand(&cobra.Command{Use: "agentdojo DIR", Short: "Tasks and injections of AgentDojo", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return replayDojo(cmd.OutOrStdout(), f, args[0]) }})
	cmd.AddCommand(&cobra.Command{Use: "injecagent DIR", Short: "Cases of InjecAgent", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return replayInject(cmd.OutOrStdout(), f, args[0]) }})
	return cmd
}

func replayInject(w io.Writer, f replayFlags, dir string) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	in, err := replay.ReadInject(dir)
	if err != nil {
		return fail(exitFailed, err)
	}
	runs, err := replay.ReplayInject(cfg, in)
	if err != nil {
		return fail(exitFailed, err)
	}
	switch {
	case f.explain != "":
		return explainRun(w, runs, f.explain)
	case f.asJSON:
		return replayJSON(w, cfg, runs)
	}
	fmt.Fprintf(w, "profile %s, %s\n\n", cfg.Profile, promptWord(cfg))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "kind\tattacks\tblocked\tasked\tsilent\tuser's call refused\tasked about\t")
	for _, s := range replay.Summarise(runs) {
		questions := 0
		for _, r := range runs {
			if r.Suite == s.Suite || s.Suite == replay.Total {
				questions += r.Questions
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", s.Suite, s.Attacks, s.Blocked, s.Asked, s.Silent, s.Attacks-s.UserOK, questions)
	}
	t.Flush()
	if f.list {
		replayList(w, runs)
	}
	return nil
}

func (f replayFlags) config() (replay.Config, error) {
	set := &policy.Set{}
	if f.policy != "" {
		var err error
		if set, err = load.File(f.policy); err != nil {
			return replay.Config{}, fail(exitInvalid, err)
		}
	}
	name := f.profile
	if name == "" {
		name = string(set.Profile)
	}
	profile, err := policy.ParseProfile(name)
	if err != nil {
		return replay.Config{}, fail(exitUsage, err)
	}
	return replay.Config{Policy: set.WithPacks(packs.All()), Profile: profile, NoPrompt: f.noPrompt}, nil
}

func replayDojo(w io.Writer, f replayFlags, dir string) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	suites, err := replay.ReadDojo(dir)
	if err != nil {
		return fail(exitFailed, err)
	}
	var chosen []*replay.Suite
	for _, s := range suites {
		if f.suite == "" && (f.explain == "" || strings.HasPrefix(f.explain, s.Name+"/")) || f.suite == s.Name {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return fail(exitUsage, fmt.Errorf("%s has no such suite", dir))
	}
	runs, err := replay.Replay(cfg, chosen)
	if err != nil {
		return fail(exitFailed, err)
	}
	switch {
	case f.explain != "":
		return explainRun(w, runs, f.explain)
	case f.asJSON:
		return replayJSON(w, cfg, runs)
	}
	replayTable(w, cfg, runs)
	if f.list {
		replayList(w, runs)
	}
	return nil
}

func promptWord(cfg replay.Config) string {
	if cfg.NoPrompt {
		return "prompt not known"
	}
	return "prompt known"
}

func replayTable(w io.Writer, cfg replay.Config, runs []replay.Run) {
	fmt.Fprintf(w, "profile %s, %s\n\n", cfg.Profile, promptWord(cfg))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "suite\thonest ok\tno question\tquestions\tmedian/max\tattacks\tblocked\tasked\tsilent\tyes to all\tuser's task survives\t")
	all := replay.Summarise(runs)
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%d/%d\t%d\t%d\t%d/%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", s.Suite, s.BenignOK, s.BenignTotal, s.NoAsk, s.Asks,
			s.AsksMedian, s.AsksMax, s.Attacks, s.Blocked, s.Asked, s.Silent, s.ApproveAll, s.UserOK)
	}
	t.Flush()
	fmt.Fprintln(w)
	for _, c := range replay.Criteria(all[len(all)-1]) {
		fmt.Fprintf(w, "%s  %s: %d (limit %d)\n", passWord(c.Passed), c.Name, c.Value, c.Limit)
	}
}

func passWord(ok bool) string {
	if ok {
		return "pass"
	}
	return "FAIL"
}

func replayList(w io.Writer, runs []replay.Run) {
	for _, r := range runs {
		switch {
		case r.Injection == "" && r.Refused > 0:
			fmt.Fprintf(w, "refused  %s: %s\n", r.Name(), firstReason(r))
		case r.Injection == "" && r.Questions > 0:
			fmt.Fprintf(w, "question %s: %s\n", r.Name(), firstReason(r))
		case r.Outcome == replay.Silent || r.Outcome == replay.Asked:
			fmt.Fprintf(w, "%-8s %s: %s\n", r.Outcome, r.Name(), visibleReason(r.Reason))
		}
	}
}

func visibleReason(s string) string { return destination.Visible(s, 200) }

func firstReason(r replay.Run) string {
	var all []string
	for _, s := range r.Steps {
		if s.Denied() || s.Asked() {
			all = append(all, s.Call.Function+": "+visibleReason(s.Decision.Reason))
		}
	}
	return strings.Join(all, " | ")
}

func explainRun(w io.Writer, runs []replay.Run, name string) error {
	for _, r := range runs {
		if r.Name() != name {
			continue
		}
		for i, s := range r.Steps {
			fmt.Fprintf(w, "%d %s %s %s\n    %s [%s] %s\n", i+1, s.Call.Phase, s.Call.Function, destination.Visible(string(s.Call.Args), 160), s.Verdict,
				s.Decision.Contract, visibleReason(s.Decision.Reason))
			for _, j := range s.Decision.Judged {
				fmt.Fprintf(w, "      %s=%s is %s", j.Param, j.Destination.Display(), j.Origin)
				if j.Seen != nil {
					fmt.Fprintf(w, ", seen in %s %s: %s", j.Seen.Source.Tool, j.Seen.Field, j.Seen.Snippet)
				}
				if j.Words != "" {
					fmt.Fprintf(w, ", by %q", j.Words)
				}
				fmt.Fprintln(w)
			}
		}
		if r.Injection != "" {
			fmt.Fprintf(w, "%s\n", r.Outcome)
		}
		return nil
	}
	return fail(exitUsage, fmt.Errorf("there is no session %s", name))
}

type replayReport struct {
	Version  int                `json:"version"`
	Profile  string             `json:"profile"`
	Prompt   bool               `json:"prompt_known"`
	Suites   []replay.Summary   `json:"suites"`
	Total    replay.Summary     `json:"total"`
	Criteria []replay.Criterion `json:"criteria"`
	Open     []openAttack       `json:"not_blocked"`
}

type openAttack struct {
	Name    string         `json:"name"`
	Outcome replay.Outcome `json:"outcome"`
	Reason  string         `json:"reason"`
}

func replayJSON(w io.Writer, cfg replay.Config, runs []replay.Run) error {
	all := replay.Summarise(runs)
	total := all[len(all)-1]
	out := replayReport{Version: 1, Profile: string(cfg.Profile), Prompt: !cfg.NoPrompt, Suites: all[:len(all)-1], Total: total, Criteria: replay.Criteria(total), Open: []openAttack{}}
	for _, r := range runs {
		if r.Injection != "" && r.Outcome != replay.Blocked {
			out.Open = append(out.Open, openAttack{r.Name(), r.Outcome, r.Reason})
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
