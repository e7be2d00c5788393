package policy

import "time"

// Set is everything that can say something about a tool before the heuristics do: one user file and the packs. The
// zero Set knows nothing, so that every tool is judged by heuristics. It is not changed after it was loaded, and may
// be read by any number of goroutines.
type Set struct {
	File         string          // the user's file, for messages; "" when there is none
	Profile      Profile         // what the file asks for; "" when it does not say
	Tools        map[string]Rule // user rules for every server, by tool name
	Scopes       []Scope         // user rules for one server, in file order
	CleanContext bool            // an unproven destination passes while nothing was read; off by default
	FirstUse     bool            // an unproven destination passes if the agent named it before any server did; off by default
	Asking       Asking          // how a person is asked
	Digest       string          // of the user's file: an answer is an answer under the rules that it was asked under
	Packs        []PackRules     // in order of name

	later func() []PackRules // reads the packs when a rule is first asked for; nil once they are in Packs
}

// Asking says how a person is asked. Zero values are the defaults.
type Asking struct {
	OutOfBandOnly bool          // never through the client's own dialogue
	Client        time.Duration // how long the client's dialogue may take
	Own           time.Duration // how long a call waits while Bouncer's page is open
	Keep          time.Duration // how long a question can be answered after its call
	Questions     int           // under one prompt
}

// Scope is a user's rules for one server, which is named as in the client's config or by package.
type Scope struct {
	Server string
	At     Position
	Tools  map[string]Rule
}

// PackRules is one curated pack: what is known about the tools of some servers.
type PackRules struct {
	Name     string
	Packages []string // identities that it is for: npm, PyPI, image and command names
	Reports  []string // what these servers call themselves in serverInfo; may only tighten
	Tools    map[string]Rule
}

// WithPacks returns a copy of s whose packs are packs.
func (s *Set) WithPacks(packs []PackRules) *Set {
	out := *s
	out.Packs, out.later = packs, nil
	return &out
}

// WithPacksLater returns a copy of s whose packs are what read returns when they are first needed. A proxy that starts
// needs them some milliseconds later, when the server lists its tools; read must be safe to call again.
func (s *Set) WithPacksLater(read func() []PackRules) *Set {
	out := *s
	out.Packs, out.later = nil, read
	return &out
}

func (s *Set) packs() []PackRules {
	if s.later != nil {
		return s.later()
	}
	return s.Packs
}

// Labels reports whether any rule labels fields of answers, so that it matters what an agent's calls write.
func (s *Set) Labels() bool {
	labels := func(rules map[string]Rule) bool {
		for _, r := range rules {
			if len(r.Results) > 0 {
				return true
			}
		}
		return false
	}
	for _, scope := range s.Scopes {
		if labels(scope.Tools) {
			return true
		}
	}
	for _, p := range s.packs() {
		if labels(p.Tools) {
			return true
		}
	}
	return labels(s.Tools)
}
