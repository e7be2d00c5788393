package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
	"github.com/mcp-bouncer/bouncer/internal/replay"
)

// replayFlags are the flags of bouncer replay.
type replayFlags struct {
	policy, profile, suite, explain string
	noPrompt, headless              bool
	list, asJSON, markdown          bool
	through, split                  bool
	sample                          int
}

func newReplay() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay (agentdojo DIR | injecagent DIR | log FILE)",
		Short: "Run recorded sessions against a policy, without a model",
		Long: `Run recorded sessions against a policy: an agent that does its user's task and obeys everything that an injected text
tells it. No model is asked, so the figures are the same every time. What each figure means is in docs/benchmark.md.

A criterion that fails is printed as such and is no failure of the command. With --through-process, verdicts that differ
end it with exit code 4.`,
		Example: `  bouncer replay agentdojo ../recordings --policy eval/policies/agentdojo.yaml
  bouncer replay agentdojo ../recordings --explain workspace/user_task_8 --no-prompt
  bouncer replay log ~/.bouncer/audit.jsonl --policy stricter.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.policy, "policy", "", "policy `FILE`; without one the heuristics decide")
	flags.StringVar(&f.profile, "profile", "", "strict, standard or paranoid (default: what the policy says, else standard); all compares them, with and without the prompt")
	flags.StringVar(&f.suite, "suite", "", "only the suite of this `NAME`")
	flags.StringVar(&f.explain, "explain", "", "print every call of one `SESSION` (suite/task or suite/task/injection) with its verdict")
	flags.BoolVar(&f.noPrompt, "no-prompt", false, "the user's words are not known")
	flags.BoolVar(&f.headless, "headless", false, "nobody can be asked: every question is a denial")
	flags.BoolVar(&f.list, "list", false, "name every honest task that is refused or asked about, and every attack that is not blocked")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	flags.BoolVar(&f.markdown, "markdown", false, "print tables in Markdown, as in docs/benchmark.md")
	flags.BoolVar(&f.through, "through-process", false, "also play a sample through bouncer run, and compare the verdicts")
	flags.BoolVar(&f.split, "split", false, "with --through-process: reads go through one process, all other calls through another of the same session")
	flags.IntVar(&f.sample, "sample", 100, "how many attacks, and how many honest tasks, --through-process plays; 0 plays all")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "explain", "through-process")

	add := func(use, short string, do func(io.Writer, replayFlags, string) error) {
		cmd.AddCommand(&cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return do(cmd.OutOrStdout(), f, args[0]) }})
	}
	add("agentdojo DIR", "Tasks and injections of AgentDojo, and what models did in them", replayDojo)
	add("injecagent DIR", "Cases of InjecAgent", replayInject)
	add("log FILE", "Calls that Bouncer logged", replayLog)
	cmd.AddCommand(newReplayServe())
	return cmd
}

// newReplayServe is the server that --through-process puts behind bouncer run.
func newReplayServe() *cobra.Command {
	return &cobra.Command{Use: "serve FILE", Hidden: true, Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error {
		if err := replay.Serve(os.Stdin, os.Stdout, args[0]); err != nil {
			return fail(exitFailed, err)
		}
		return nil
	}}
}

// everyProfile is what --profile takes to compare the profiles.
const everyProfile = "all"

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
	profile := policy.Standard
	if name != everyProfile {
		var err error
		if profile, err = policy.ParseProfile(name); err != nil {
			return replay.Config{}, fail(exitUsage, err)
		}
	}
	return replay.Config{Policy: set.WithPacks(packs.All()), Profile: profile, NoPrompt: f.noPrompt, Headless: f.headless}, nil
}

func replayDojo(w io.Writer, f replayFlags, dir string) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	folder, err := replay.ReadFolder(dir)
	if err != nil {
		return fail(exitFailed, err)
	}
	suites, pipelines := f.chosen(folder.Suites, folder.Pipelines)
	if len(suites)+len(pipelines) == 0 {
		return fail(exitUsage, fmt.Errorf("%s has no such suite", dir))
	}
	if len(suites) == 0 && (f.through || f.profile == everyProfile) {
		return fail(exitUsage, errors.New("--through-process and --profile all play suites, not traces"))
	}
	if f.profile == everyProfile {
		return f.profiles(w, cfg, suites)
	}
	if f.through {
		return f.compare(w, cfg, func(cfg replay.Config) ([]replay.Run, error) {
			return replay.Replay(cfg, f.sampled(suites))
		})
	}
	runs, err := replay.Replay(cfg, suites)
	if err != nil {
		return fail(exitFailed, err)
	}
	traced, err := replay.ReplayTraces(cfg, pipelines, folder.Beside)
	if err != nil {
		return fail(exitFailed, err)
	}
	return f.show(w, replayed{kind: "agentdojo", cfg: cfg, runs: runs, traced: traced})
}

// chosen keeps what --suite and --explain name. The name of a trace's session begins with its pipeline.
func (f replayFlags) chosen(suites []*replay.Suite, pipelines []*replay.Pipeline) (s []*replay.Suite, p []*replay.Pipeline) {
	wanted := func(name string) bool {
		return (f.suite == "" || f.suite == name) && (f.explain == "" || strings.HasPrefix(f.explain, name+"/"))
	}
	for _, each := range suites {
		if wanted(each.Name) {
			s = append(s, each)
		}
	}
	for _, each := range pipelines {
		if f.explain == "" || strings.HasPrefix(f.explain, each.Name+"/") {
			if each = each.Only(f.suite); each != nil {
				p = append(p, each)
			}
		}
	}
	return s, p
}

func (f replayFlags) sampled(suites []*replay.Suite) []*replay.Suite {
	if f.sample <= 0 {
		return suites
	}
	return replay.Sample(suites, f.sample, f.sample)
}

func replayInject(w io.Writer, f replayFlags, dir string) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	if f.profile == everyProfile {
		return fail(exitUsage, errors.New("--profile all is for agentdojo"))
	}
	in, err := replay.ReadInject(dir)
	if err != nil {
		return fail(exitFailed, err)
	}
	if f.through {
		if f.sample > 0 {
			in.Sample(f.sample)
		}
		return f.compare(w, cfg, func(cfg replay.Config) ([]replay.Run, error) { return replay.ReplayInject(cfg, in) })
	}
	runs, err := replay.ReplayInject(cfg, in)
	if err != nil {
		return fail(exitFailed, err)
	}
	return f.show(w, replayed{kind: "injecagent", cfg: cfg, runs: runs})
}

// compare plays the same sessions here and through bouncer run.
func (f replayFlags) compare(w io.Writer, cfg replay.Config, play func(replay.Config) ([]replay.Run, error)) error {
	self, err := os.Executable()
	if err != nil {
		return fail(exitFailed, err)
	}
	here, err := play(cfg)
	if err != nil {
		return fail(exitFailed, err)
	}
	cfg.Through = &replay.Process{Bouncer: self, PolicyFile: f.policy, Split: f.split}
	there, err := play(cfg)
	if err != nil {
		return fail(exitFailed, err)
	}
	honest, attacks := 0, 0
	for _, r := range here {
		if r.Injection == "" {
			honest++
		} else {
			attacks++
		}
	}
	calls, differences := replay.Differences(here, there)
	fmt.Fprintf(w, "%d honest tasks and %d attacks, %d calls: %d verdicts differ between this process and bouncer run\n", honest, attacks, calls, len(differences))
	for _, d := range differences {
		fmt.Fprintln(w, visibleReason(d))
	}
	if len(differences) > 0 {
		return fail(exitNotAsExp, nil)
	}
	return nil
}
