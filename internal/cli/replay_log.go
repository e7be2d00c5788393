package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/replay"
)

// loggedCall is one call of a log in --json.
type loggedCall struct {
	ID       string `json:"id"`
	Session  string `json:"session"`
	Server   string `json:"server"`
	Tool     string `json:"tool"`
	Was      string `json:"was"`
	Now      string `json:"now"` // "" when its arguments are not in the log as they were
	Contract string `json:"contract,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

func replayLog(w io.Writer, f replayFlags, path string) error {
	if f.through || f.explain != "" || f.headless || f.suite != "" || f.profile == everyProfile {
		return fail(exitUsage, errors.New("replay log takes --policy, --profile, --list, --json and --markdown"))
	}
	cfg, err := f.config()
	if err != nil {
		return err
	}
	calls, err := replay.ReplayLog(cfg, path)
	if err != nil {
		return readFailed(path, err)
	}
	if f.asJSON {
		return printJSON(w, map[string]any{"version": 1, "kind": "log", "profile": string(cfg.Profile), "calls": loggedCalls(calls)})
	}
	out := page{w: w, markdown: f.markdown}
	out.text("profile %s, %d calls; what the log says of each destination stays so", cfg.Profile, len(calls))
	out.table(changes(calls))
	if f.list {
		t := table{head: []string{"call", "tool", "was", "now", quotedColumn}, left: 5}
		for _, c := range loggedCalls(calls) {
			if c.Was != c.Now {
				t.add(destination.Visible(c.ID, 40), destination.Visible(c.Server+"/"+c.Tool, 80), c.Was, cmp.Or(c.Now, "-"), visibleReason(c.Reason))
			}
		}
		out.table(t)
	}
	return nil
}

func loggedCalls(calls []replay.Logged) []loggedCall {
	out := []loggedCall{}
	for _, c := range calls {
		one := loggedCall{ID: c.ID, Session: c.Session, Server: c.Server, Tool: c.Tool, Was: c.Was, Reason: "the log does not have its arguments as they were"}
		if c.Whole {
			one.Now, one.Contract, one.Reason = c.Now.Verdict.String(), c.Now.Contract, c.Now.Reason
		}
		out = append(out, one)
	}
	return out
}

// changes counts the calls by what was and what would be decided.
func changes(calls []replay.Logged) table {
	count := map[[2]string]int{}
	for _, c := range loggedCalls(calls) {
		count[[2]string{destination.Visible(c.Was, 20), cmp.Or(c.Now, "not judged")}]++
	}
	var keys [][2]string
	for key := range count {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	t := table{head: []string{"was", "now", "calls"}, left: 2}
	for _, key := range keys {
		t.add(key[0], key[1], fmt.Sprint(count[key]))
	}
	return t
}
