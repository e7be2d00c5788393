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
			if slices.Contains(s.Notes, cannotStart) || slices.Contains(s.Notes, otherBinary) { // whatever that program is
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

const (
	cannotStart = "it names no command, so it cannot start"
	otherBinary = "by another program called bouncer than this one"
)

var (
	// wrappedReason is how clientconfig describes an entry that is wrapped. It is matched as a whole: in what an entry
	// brings along anything can stand, words of this sentence among it.
	wrappedReason = regexp.MustCompile(`(?s)^(?:(wrapped twice): ` + quotes + ` starts ` + quotes + `; remove one by hand)?(?:; )?` +
		`(?:by another bouncer, (` + quotes + `); this one is ` + quotes + `)?(?:; )?(?:with (.*?))?(?:; )?(it names no command after -- and has no \S+, so it cannot start)?$`)
	flagInReason = regexp.MustCompile(`(?:^| )(--[a-z][a-z-]*)(?:[ =]([A-Za-z0-9._/\\:][A-Za-z0-9._/\\:-]*))?`)
	telling      = []string{"--policy", "--profile", "--audit", "--max-frame", "--ask-timeout", "--ask", "--no-args",
		"--log-max-size", "--log-max-age", "--log-keep", "--log-keep-for"}
)

const quotes = `"(?:[^"\\]|\\.)*"`

// wrappedNotes says what weakens or changes a wrapped entry. Of flags that are not known to be harmless only the name is
// taken over. Where something stands there that is no flag with a plain value, that is said: a value could hide a flag
// behind it.
func wrappedNotes(reason string) (out []string) {
	m := wrappedReason.FindStringSubmatch(reason)
	if m == nil {
		return []string{"wrapped in a way that this version cannot tell"}
	}
	twice, other, flags, broken := m[1], m[2], m[3], m[4]
	if broken != "" {
		out = append(out, cannotStart)
	}
	if twice != "" {
		out = append(out, twice)
	}
	switch other {
	case "":
	case `"bouncer"`, `"bouncer.exe"`:
		out = append(out, "by the program called bouncer that its client finds first")
	default:
		out = append(out, otherBinary)
	}
	for _, f := range flagInReason.FindAllStringSubmatch(flags, -1) {
		note := "runs with " + f[1]
		if f[2] != "" && slices.Contains(telling, f[1]) {
			note += " " + f[2]
		}
		if !slices.Contains(out, note) {
			out = append(out, note)
		}
	}
	if strings.TrimSpace(flagInReason.ReplaceAllString(flags, "")) != "" {
		out = append(out, "and with more than is repeated here: look at the entry")
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
