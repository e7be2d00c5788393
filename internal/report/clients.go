package report

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/clientconfig"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// Config is a client's config file, and what stands in front of the servers in it.
type Config struct {
	Path, Title string
	Problem     string // why it could not be read; its servers count as unknown then
	Servers     []Server
	Notes       []string
}

// Protection says what stands in front of a server.
type Protection string

// The protections. Whatever is not known to be wrapped is not called so.
const (
	Wrapped   Protection = "wrapped"
	Unwrapped Protection = "unwrapped"
	Remote    Protection = "remote"
	Unclear   Protection = "unclear"
)

// Server is one entry of a config file.
type Server struct {
	Name, Project string
	Protection    Protection
	Notes         []string
	Identity      []string // of what a wrapped entry starts, where the file says
}

// Survey looks at the config files of the known clients on env. Nothing is changed, and no value of an entry's
// environment, headers or command line is taken over: a report is handed on. bouncer is the path of this program.
func Survey(env clientconfig.Env, bouncer string) []Config {
	var all []Config
	for _, target := range clientconfig.Existing(clientconfig.Targets(env, "")) {
		all = append(all, survey(target, bouncer))
	}
	return all
}

func survey(target clientconfig.Target, bouncer string) Config {
	c := Config{Path: target.Path, Title: target.Title}
	// What init would do to an entry says what stands in front of it now.
	change, err := clientconfig.Plan(target.Path, clientconfig.Options{Bouncer: bouncer, Client: target.Client})
	if err != nil {
		var refused *clientconfig.Refused
		if c.Problem = err.Error(); errors.As(err, &refused) {
			c.Problem = withoutQuotes(refused.Why)
		}
		return c
	}
	for _, e := range change.Entries {
		s := Server{Name: e.Name, Project: e.Project}
		switch e.State {
		case clientconfig.Already:
			s.Protection, s.Notes = Wrapped, wrappedNotes(e.Reason)
			if slices.Contains(s.Notes, cannotStart) {
				s.Protection = Unclear
			}
			if e.Project == "" {
				if up, err := clientconfig.ReadUpstream(target.Path, e.Name); err == nil {
					s.Identity = policy.Identities(up.Command, up.Args)
				}
			}
		case clientconfig.Wrapped: // it would be
			s.Protection, s.Notes = Unwrapped, plainNotes(e.Notes)
		case clientconfig.Remote:
			s.Protection = Remote
		default:
			s.Protection, s.Notes = Unclear, []string{withoutQuotes(e.Reason)}
		}
		c.Servers = append(c.Servers, s)
	}
	for _, note := range change.Notes {
		if strings.HasPrefix(note, "it also holds ") {
			c.Notes = append(c.Notes, note)
		}
	}
	return c
}

var inQuotes = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// withoutQuotes leaves out what a reason quotes of the file: a command in one string carries its arguments, and these
// carry secrets.
func withoutQuotes(reason string) string { return inQuotes.ReplaceAllString(reason, `"..."`) }

const cannotStart = "it names no command, so it cannot start"

var (
	flagInReason = regexp.MustCompile(`(?:^|[ ;])(--[a-z][a-z-]*)(?:[ =]([A-Za-z0-9._/\\:-]+))?`)
	telling      = []string{"--policy", "--profile", "--audit", "--max-frame", "--ask-timeout", "--no-args"}
)

// wrappedNotes says what weakens or changes a wrapped entry. Of flags that are not known to be harmless only the name is
// taken over.
func wrappedNotes(reason string) (out []string) {
	if strings.Contains(reason, "it names no command after --") {
		out = append(out, cannotStart)
	}
	if strings.Contains(reason, "wrapped twice") {
		out = append(out, "wrapped twice")
	}
	if strings.Contains(reason, "by another bouncer") {
		out = append(out, "by another program called bouncer than this one")
	}
	_, flags, ok := strings.Cut(inQuotes.ReplaceAllString(reason, ""), "with --")
	if !ok {
		return out
	}
	flags, _, _ = strings.Cut("--"+flags, "; ")
	for _, m := range flagInReason.FindAllStringSubmatch(flags, -1) {
		note := "runs with " + m[1]
		if m[2] != "" && slices.Contains(telling, m[1]) {
			note += " " + m[2]
		}
		out = append(out, note)
	}
	return out
}

// plainNotes takes over those notes that quote nothing but names of tools.
func plainNotes(notes []string) (out []string) {
	for _, note := range notes {
		switch {
		case strings.HasPrefix(note, "alwaysAllow: "), strings.HasPrefix(note, "autoApprove: "), strings.HasPrefix(note, "trust: "):
			out = append(out, note)
		case strings.Contains(note, "has no fixed version"): // A08
			out = append(out, "it starts a package of no fixed version: whatever its author publishes next")
		}
	}
	return out
}

// identity is what the server called name is known to be, from the entries that are wrapped; nil when none is, or when
// two of them differ.
func (r *Report) identity(name string) []string {
	var found []string
	for _, c := range r.in.Clients {
		for _, s := range c.Servers {
			if s.Name != name || s.Identity == nil {
				continue
			}
			if found != nil && !slices.Equal(found, s.Identity) {
				return nil
			}
			found = s.Identity
		}
	}
	return found
}
