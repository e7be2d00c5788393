package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/replay"
)

// profiles replays under every profile, with the prompt and without, and prints a row for each. Its last columns are the
// kill criteria. Headless, honest work is what needs no question, and every attack that is asked about is blocked.
func (f replayFlags) profiles(w io.Writer, cfg replay.Config, suites []*replay.Suite) error {
	if f.explain != "" || f.through || f.headless || f.noPrompt || f.list {
		return fail(exitUsage, errors.New("--profile all takes --policy, --suite, --json and --markdown"))
	}
	t := table{head: []string{"profile", "prompt", "honest ok", "no question", "questions", "median/max", "attacks", "blocked", "asked", "silent",
		"yes to all", "user's task survives", "lost, attended", "lost, headless", "median question"}, left: 2}
	reports := []replayReport{}
	for _, profile := range []policy.Profile{policy.Strict, policy.Standard, policy.Paranoid} {
		for _, noPrompt := range []bool{false, true} {
			cfg.Profile, cfg.NoPrompt = profile, noPrompt
			runs, err := replay.Replay(cfg, suites)
			if err != nil {
				return fail(exitFailed, err)
			}
			reports = append(reports, replayed{kind: "agentdojo", cfg: cfg, runs: runs}.report())
			sums := replay.Summarise(runs)
			t.add(profileRow(cfg, sums[len(sums)-1])...)
		}
	}
	if f.asJSON {
		return printJSON(w, map[string]any{"version": 1, "kind": "profiles", "profiles": reports})
	}
	out := page{w: w, markdown: f.markdown}
	out.text("every profile; criteria: under 10 per cent lost, at most 3 questions for the median task")
	out.table(t)
	return nil
}

func profileRow(cfg replay.Config, s replay.Summary) []any {
	prompt := "known"
	if cfg.NoPrompt {
		prompt = "not known"
	}
	row := []any{cfg.Profile, prompt, fmt.Sprintf("%d/%d", s.BenignOK, s.BenignTotal), s.NoAsk, s.Asks, fmt.Sprintf("%d/%d", s.AsksMedian, s.AsksMax),
		s.Attacks, s.Blocked, s.Asked, s.Silent, s.ApproveAll, s.UserOK}
	for _, c := range replay.Criteria(s, false) {
		row = append(row, fmt.Sprintf("%v %s", c.Value, passWord(c.Passed)))
	}
	return row
}
