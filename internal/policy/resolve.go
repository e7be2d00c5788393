package policy

import "slices"

// Rule returns the one rule that decides about a tool of a server.
//
//  1. The user's own rule: one scoped to this server before one for every server.
//  2. The pack for what the user configured (Server.Identity), with the heuristics for arguments that the pack has
//     never seen: a server's next version may add a recipient.
//  3. The heuristics, tightened by packs that match only by what the server says of itself (Server.Reported) or by
//     the tool's name and arguments. Such a match is the server's word, so it can take nothing away.
func (s *Set) Rule(server Server, tool Tool) Rule {
	r, ok := s.user(server, tool.Name)
	switch {
	case ok && r.Extends:
		r = confined(extended(r, s.base(server, tool)), tool)
	case ok:
		r = confined(r, tool)
		r.Waived = without(s.base(server, tool).SinkParams, r.SinkParams)
	default:
		r = s.base(server, tool)
	}
	r.Declared = declaredNames(tool)
	if r.Intent == nil {
		r.Intent = intentOf(tool.Name)
	}
	return r
}

// declaredNames returns the names of the arguments that the schema declares, sorted; nil when it cannot be read.
func declaredNames(tool Tool) []string {
	args, broken := declared(tool.InputSchema)
	if broken != "" {
		return nil
	}
	names := []string{}
	for _, a := range args {
		names = append(names, a.param().Top())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// base is the rule that holds where the user has said nothing.
func (s *Set) base(server Server, tool Tool) Rule {
	r := Heuristics(tool)
	for _, p := range s.packs() {
		if own, ok := p.Tools[tool.Name]; ok && p.isFor(server) {
			return widened(own, r, readable(tool))
		}
	}
	for _, p := range s.packs() {
		if own, ok := p.Tools[tool.Name]; ok && (p.reportedBy(server) || sharesArguments(own, tool)) {
			r = tightened(r, fitted(own, tool))
		}
	}
	return r
}

// user returns the user's rule for a tool: scoped by the server's name, then by a package, then for every server.
func (s *Set) user(server Server, tool string) (Rule, bool) {
	for _, name := range append([]string{server.Name}, server.Identity...) {
		for _, scope := range s.Scopes {
			if r, ok := scope.Tools[tool]; ok && scope.Server == name {
				return r, true
			}
		}
	}
	r, ok := s.Tools[tool]
	return r, ok
}

func (p PackRules) isFor(server Server) bool {
	return slices.ContainsFunc(server.Identity, func(id string) bool { return slices.Contains(p.Packages, id) })
}

func (p PackRules) reportedBy(server Server) bool {
	return server.Reported != "" && slices.Contains(p.Reports, server.Reported)
}

// sharesArguments reports whether the tool has one of the arguments that a pack speaks of: a name alone is no match.
func sharesArguments(r Rule, tool Tool) bool {
	args, broken := declared(tool.InputSchema)
	if broken != "" {
		return true // heuristics judge every argument already; a budget may still tighten
	}
	return slices.ContainsFunc(slices.Concat(r.SinkParams, r.WriteParams, r.Content), func(p Param) bool { return hasPath(args, p) })
}

// fitted drops the sinks that a tool does not have, for a pack that was made from another server's tool of this name.
// Without any of them the pack says nothing about where the tool sends to: a file server's delete_file is not GitHub's.
func fitted(r Rule, tool Tool) Rule {
	args, broken := declared(tool.InputSchema)
	if broken != "" || len(r.SinkParams) == 0 {
		return r
	}
	r.SinkParams = slices.DeleteFunc(slices.Clone(r.SinkParams), func(p Param) bool { return !hasPath(args, p) })
	r.Exfiltrating = r.Exfiltrating && len(r.SinkParams) > 0
	return r
}

// confined gives prefixes without write_params something to confine: every argument that is named like a path, or every
// argument when none is, and whatever else holds an absolute path in a call (see Rule.Guessed). A rule that names
// prefixes never confines nothing.
func confined(r Rule, tool Tool) Rule {
	if len(r.WriteParams) > 0 || r.AllowedPathPrefixes == nil {
		return r
	}
	r.Guessed = true
	args, broken := declared(tool.InputSchema)
	if broken == "" {
		r.WriteParams = pathParams(args, toolWords(tool.Name))
	}
	if len(r.WriteParams) == 0 {
		r.WriteParams = []Param{EveryArgument}
	}
	return r
}

func readable(tool Tool) bool {
	_, broken := declared(tool.InputSchema)
	return broken == ""
}

// widened adds to a pack's rule what the heuristics find in arguments that the pack does not speak of.
func widened(own, found Rule, readable bool) Rule {
	if !readable { // an unreadable schema is not what the pack was made from
		own.Exfiltrating, own.SinkParams, own.Content = true, nil, nil
		own.Why = found.Why
		return own
	}
	spoken := slices.Concat(own.SinkParams, own.Content)
	var extra []Param
	for _, p := range found.SinkParams {
		if !p.CoveredBy(spoken) {
			extra = append(extra, p)
		}
	}
	if len(extra) > 0 {
		if !own.Exfiltrating || len(own.SinkParams) > 0 { // no sinks at all already means every argument
			own.SinkParams = slices.Concat(own.SinkParams, extra)
		}
		own.Exfiltrating = true
		own.Why = "the pack does not know every argument of this version: " + found.Why
	}
	spoken = slices.Concat(spoken, own.WriteParams)
	for _, p := range found.WriteParams {
		if !p.CoveredBy(spoken) {
			own.WriteParams = append(slices.Clip(own.WriteParams), p)
		}
	}
	return own
}

// tightened returns r with everything that other forbids as well. Nothing that r judges is lost.
func tightened(r, other Rule) Rule {
	switch {
	case !other.Exfiltrating:
	case !r.Exfiltrating:
		r.Exfiltrating, r.SinkParams, r.Content = true, other.SinkParams, other.Content
	case len(r.SinkParams) == 0: // every argument already, but for content
		r.Content = without(r.Content, other.SinkParams)
	case len(other.SinkParams) == 0:
		r.SinkParams, r.Content = nil, without(other.Content, r.SinkParams)
	default:
		r.SinkParams = union(r.SinkParams, other.SinkParams)
	}
	r.WriteParams = union(r.WriteParams, other.WriteParams)
	r.ArgPatterns = slices.Concat(r.ArgPatterns, other.ArgPatterns)
	r.ArgValues = slices.Concat(r.ArgValues, other.ArgValues)
	if other.MaxCalls != nil && (r.MaxCalls == nil || *other.MaxCalls < *r.MaxCalls) {
		r.MaxCalls = other.MaxCalls
	}
	if r.Reads == nil {
		r.Reads = other.Reads
	}
	if r.Public == nil {
		r.Public = other.Public
	}
	if other.Exfiltrating || other.MaxCalls != nil {
		r.Why += "; tightened by pack " + other.Pack
	}
	return r
}

func union(a, b []Param) []Param {
	out := slices.Clip(a)
	for _, p := range b {
		if !p.CoveredBy(out) {
			out = append(out, p)
		}
	}
	return out
}

// without returns the params that have nothing in common with taken.
func without(params, taken []Param) []Param {
	var out []Param
	for _, p := range params {
		if !p.CoveredBy(taken) && !slices.ContainsFunc(taken, p.Covers) {
			out = append(out, p)
		}
	}
	return out
}
