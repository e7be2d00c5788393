// Package policy holds the rules as types: what a user or a pack says about a tool, which of them decides (user, then
// pack, then heuristics), and what is odd about them (lint). It is pure; policy/load reads YAML into it.
package policy

import (
	"regexp"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Layer says who wrote a rule. The first layer that has a rule for a tool decides alone.
type Layer string

// The layers, strongest first.
const (
	User      Layer = "user"
	Pack      Layer = "pack"
	Heuristic Layer = "heuristic"
)

// Position is where a rule stands: a file (or pack) with line and column, both from 1.
type Position struct {
	File         string
	Line, Column int
}

// Rule is what is known about one tool. The zero Rule gates nothing but the pin.
type Rule struct {
	Tool                string
	Exfiltrating        bool         // the tool carries values out of the machine: its destinations are judged
	SinkParams          []Param      // where the destinations stand. Exfiltrating without any: every argument but Content is one (Sweep)
	TrustedDestinations []string     // exact value, "@corp.example" (e-mail domain), URL prefix
	WriteParams         []Param      // path arguments that AllowedPathPrefixes confines. May hold EveryArgument
	Guessed             bool         // WriteParams were guessed from the schema, since the user named prefixes and no arguments
	AllowedPathPrefixes []string     // as written; nil confines nothing
	ArgPatterns         []ArgPattern // each named argument must match as a whole
	ArgValues           []ArgValues  // each named argument must be one of these
	MaxCalls            *int         // calls a session may attempt; nil is no limit, 0 is none
	Declared            []string     // names of the arguments that the tool's schema declares, sorted; nil when it cannot be read
	Content             []Param      // packs: arguments that were looked at and are no destinations. A sweep may leave them out

	Layer Layer
	Pack  string   // the pack's name when Layer is Pack
	At    Position // where the rule stands; zero for heuristics
	Why   string   // for people: why this rule is as it is ("argument 'to' names a recipient")
}

// ArgPattern is a regular expression that the whole argument must match. Source is as written in the policy.
type ArgPattern struct {
	Param  Param
	Source string
	Re     *regexp.Regexp // anchored at both ends
}

// ArgValues is an allowlist for one argument.
type ArgValues struct {
	Param  Param
	Values []string
}

// Server is whom a rule is for: the name in the client's config, the packages and command that the user configured
// (trusted to name the server), and what the server says of itself (may only tighten).
type Server struct {
	Name     string
	Identity []string // package names and command base names found in the configured command line
	Reported string   // serverInfo.name
}

// Tool is a tool's definition as the server lists it.
type Tool struct {
	Name        string
	Definition  jsonrpc.Value // the whole tool object
	InputSchema jsonrpc.Value
}

// ToolOf reads a tool object of tools/list.
func ToolOf(definition jsonrpc.Value) Tool {
	name, _ := definition.Get("name")
	schema, _ := definition.Get("inputSchema")
	return Tool{Name: name.Text, Definition: definition, InputSchema: schema}
}

// Sweep returns every scalar of a call that may be a destination when the declared sinks show none: all but what a
// pack has looked at and called content. leaves are Leaves(args). Content never holds a declared sink.
func (r Rule) Sweep(args jsonrpc.Value, leaves []Selected) []Selected {
	content := map[Spot]bool{}
	for _, p := range r.Content {
		for _, s := range p.Select(args) {
			content[s.Spot()] = true
		}
	}
	var out []Selected
	for _, s := range leaves {
		if !content[s.Spot()] {
			out = append(out, s)
		}
	}
	return out
}
