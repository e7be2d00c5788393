package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/clientconfig"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

func newStatus() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say which servers of this machine's clients are behind Bouncer, and which no longer are",
		Long: `Look at the config files of every known client, and at every file in which init has wrapped something: what is behind
Bouncer, what is not, and which program stands in front. Then hooks, the policy in force and the latest verdicts.
The exit code is 4 when something that was wrapped does not run behind Bouncer any more. Nothing is changed.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return status(cmd.OutOrStdout(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// statusReport is what status found, as --json prints it.
type statusReport struct {
	Schema int           `json:"schema"` // of this object
	Binary string        `json:"binary"`
	Home   string        `json:"home"`
	Files  []statusFile  `json:"files"`
	Hooks  []statusHooks `json:"hooks"`
	Policy statusPolicy  `json:"policy"`
	Latest []string      `json:"latest"` // verdicts, a line each
	Wrong  []string      `json:"wrong"`  // what makes the exit code 4
}

type statusFile struct {
	Client  string         `json:"client,omitempty"`
	Title   string         `json:"title,omitempty"`
	Path    string         `json:"path"`
	Problem string         `json:"problem,omitempty"`
	Servers []statusServer `json:"servers"`
	Notes   []string       `json:"notes,omitempty"`
}

type statusServer struct {
	Name    string   `json:"name"`
	Project string   `json:"project,omitempty"`
	State   string   `json:"state"`
	Reason  string   `json:"reason,omitempty"`
	Binary  string   `json:"binary,omitempty"`
	Wrong   string   `json:"wrong,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

type statusHooks struct {
	Path   string   `json:"path"`
	Events []string `json:"events"`
}

type statusPolicy struct {
	Path    string `json:"path,omitempty"` // none: the packs and heuristics alone
	Profile string `json:"profile,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// latestVerdicts is how many verdicts status repeats.
const latestVerdicts = 5

func status(out io.Writer, asJSON bool) error {
	dir, err := home()
	if err != nil {
		return fail(exitFailed, err)
	}
	env, err := clientconfig.RealEnv()
	if err != nil {
		return fail(exitFailed, err)
	}
	bouncer, err := thisBinary()
	if err != nil {
		return fail(exitFailed, err)
	}
	r := statusReport{Schema: 1, Binary: bouncer, Home: dir, Files: []statusFile{}, Hooks: []statusHooks{}, Latest: []string{}, Wrong: []string{}}
	files, err := clientconfig.Status(env, dir, bouncer)
	if err != nil {
		r.Wrong = append(r.Wrong, err.Error())
	}
	r.addFiles(files)
	for _, h := range clientconfig.Hooks(env) {
		r.Hooks = append(r.Hooks, statusHooks(h))
	}
	r.Policy = policyInForce(dir)
	lines, err := audit.Tail(filepath.Join(dir, "audit.jsonl"), latestVerdicts)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Latest = append(r.Latest, "the log cannot be read: "+err.Error())
	}
	for _, line := range lines {
		r.Latest = append(r.Latest, strings.TrimRight(audit.Describe(line, false), "\n"))
	}
	if asJSON {
		err = json.NewEncoder(out).Encode(r)
	} else {
		_, err = io.WriteString(out, r.text())
	}
	if err != nil {
		return fail(exitFailed, err)
	}
	if len(r.Wrong) > 0 {
		return fail(exitNotAsExp, errors.New(clientconfig.Visible(strings.Join(r.Wrong, "; "))), "bouncer init puts it back; bouncer init --undo says that it was meant")
	}
	return nil
}

func (r *statusReport) addFiles(files []clientconfig.FileStatus) {
	for _, f := range files {
		file := statusFile{Client: f.Client, Title: f.Title, Path: f.Path, Problem: f.Problem, Servers: []statusServer{}, Notes: f.Notes}
		for _, s := range f.Servers {
			state := string(s.State)
			if s.State == clientconfig.Already {
				state = "wrapped"
			}
			file.Servers = append(file.Servers, statusServer{s.Name, s.Project, state, s.Reason, s.Binary, s.Wrong, s.Notes})
			if s.Wrong != "" {
				r.Wrong = append(r.Wrong, fmt.Sprintf("%s: server %q: %s", f.Path, s.Name, s.Wrong))
			}
		}
		r.Files = append(r.Files, file)
	}
}

// policyInForce is the policy that bouncer run uses where its command line names none.
func policyInForce(dir string) statusPolicy {
	p := statusPolicy{Path: filepath.Join(dir, "policy.yaml")}
	if _, err := os.Lstat(p.Path); errors.Is(err, fs.ErrNotExist) {
		p.Path = ""
	}
	set, err := loadPolicy("")
	if err != nil {
		p.Problem = err.Error()
		return p
	}
	profile, err := policy.ParseProfile(string(set.Profile))
	if err != nil {
		p.Problem = err.Error()
		return p
	}
	p.Profile = string(profile)
	return p
}

// text is the report for people.
func (r *statusReport) text() string {
	var b strings.Builder
	line := func(format string, a ...any) { b.WriteString(clientconfig.Visible(fmt.Sprintf(format, a...)) + "\n") }
	line("bouncer: %s", r.Binary)
	if len(r.Files) == 0 {
		line("no config file of a known client is here")
	}
	for _, f := range r.Files {
		f.write(line, r.Binary)
	}
	switch {
	case len(r.Hooks) == 0:
		line("hooks: none")
	default:
		for _, h := range r.Hooks {
			line("hooks: %s: %s", h.Path, strings.Join(h.Events, ", "))
		}
	}
	switch p := r.Policy; {
	case p.Problem != "":
		line("policy: %s", p.Problem)
	case p.Path == "":
		line("policy: none of your own; packs and heuristics, profile %s", p.Profile)
	default:
		line("policy: %s, profile %s", p.Path, p.Profile)
	}
	if len(r.Latest) == 0 {
		line("verdicts: none yet")
	} else {
		line("latest verdicts:")
	}
	for _, verdict := range r.Latest {
		for _, part := range strings.Split(verdict, "\n") {
			line("  %s", part)
		}
	}
	return b.String()
}

func (f statusFile) write(line func(string, ...any), self string) {
	title := ""
	if f.Title != "" {
		title = " (" + f.Title + ")"
	}
	line("%s%s", f.Path, title)
	if f.Problem != "" {
		line("  left alone: %s", f.Problem)
	} else if len(f.Servers) == 0 {
		line("  no servers")
	}
	for _, s := range f.Servers {
		name := s.Name
		if name == "" || name != clientconfig.Visible(name) {
			name = fmt.Sprintf("%+q", name)
		}
		if s.Project != "" {
			name += " (project " + s.Project + ")"
		}
		if s.Reason != "" {
			name += " (" + s.Reason + ")"
		}
		line("  %-25s  %s", s.State, name)
		if s.Binary != "" && s.Binary != self {
			line("    started by: %s", s.Binary)
		}
		if s.Wrong != "" {
			line("    WRONG: %s", s.Wrong)
		}
		for _, note := range s.Notes {
			line("    note: %s", note)
		}
	}
	for _, note := range f.Notes {
		line("  note: %s", note)
	}
}
