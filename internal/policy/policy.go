// Package policy holds the rules as types: what a user or a pack says about a tool, which of them decides (user, then
// pack, then heuristics), and what is odd about them (lint). It is pure; policy/load reads YAML into it.
package policy

import (
	"regexp"
	"slices"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
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
	Sinks               []Sink       // what is special about some sinks: their kind, or that several arguments are one destination
	SinkParams          []Param      // where the destinations stand, those of Sinks among them. Exfiltrating without any: every argument but Content is one (Sweep)
	TrustedDestinations []string     // exact value, "@corp.example" (e-mail domain), URL prefix
	WriteParams         []Param      // path arguments that AllowedPathPrefixes confines. May hold EveryArgument
	Guessed             bool         // WriteParams were guessed from the schema, since the user named prefixes and no arguments
	AllowedPathPrefixes []string     // as written; nil confines nothing
	ArgPatterns         []ArgPattern // each named argument must match as a whole
	ArgValues           []ArgValues  // each named argument must be one of these
	MaxCalls            *int         // calls a session may attempt; nil is no limit, 0 is none
	Declared            []string     // names of the arguments that the tool's schema declares, sorted; nil when it cannot be read
	Waived              []Param      // arguments that would be destinations, had the user's entry not left them out
	Content             []Param      // arguments that are no destinations but text: a sweep leaves them out, contract content looks inside
	Reads               *Object      // the tool reads what strangers may not (contract flow); nil when nobody said
	Public              *Object      // what it writes can be read by strangers
	Results             []Result     // labelled fields of the tool's answer
	Intent              []string     // words of the user's that ask for this kind of act; nil when nobody said
	Consequence         *Consequence // the tool changes things without a destination; nil when it does not
	Fetch               bool         // using a destination reads from it, and sends nothing but the destination itself (GET)
	Verbatim            Effect       // what becomes of a Fetch whose URL stands verbatim in untrusted text; "" is the profile's choice
	OnTainted           Effect       // in place of the profile's verdict about an untrusted destination; "" leaves it
	OnUnproven          Effect       // the same for an unproven one
	Deny                []string     // destinations that are refused before any trust, written like TrustedDestinations
	RequireApproval     bool         // ask about every call, whatever else is known
	Extends             bool         // the rule adds to the pack's (or the heuristics') instead of replacing it

	Layer Layer
	Pack  string   // the pack's name when Layer is Pack
	At    Position // where the rule stands; zero for heuristics
	Why   string   // for people: why this rule is as it is ("argument 'to' names a recipient")
}

// Effect is a verdict as a policy writes it.
type Effect string

// The effects.
const (
	Allow Effect = "allow"
	Ask   Effect = "ask"
	Deny  Effect = "deny"
)

// Sink is one destination of a tool. Several Args are parts of one: owner and repo, joined by "/".
type Sink struct {
	Args []Param
	Kind SinkKind // "" when it is not said
	// Optional says that a call without it sends nothing: an event without participants is the user's own.
	Optional bool
	// Absent is where a call without the argument goes: "origin" for a push, "public" for a share without a visibility. ""
	// leaves such a call without a destination, which is asked about.
	Absent string
}

// SinkKind is what sort of destination a sink takes, as far as it matters to a verdict.
type SinkKind string

// The kinds of sinks.
const (
	KindEmail   SinkKind = "email"
	KindURL     SinkKind = "url"
	KindAccount SinkKind = "account" // where money goes: never on the word of free text
	KindRepo    SinkKind = "repo"
	KindChannel SinkKind = "channel"
	KindUser    SinkKind = "user"
	KindPhone   SinkKind = "phone"
	KindName    SinkKind = "name" // a firm, a place, a person: whatever is known by its name
	KindPath    SinkKind = "path"
	KindID      SinkKind = "id"
	KindText    SinkKind = "text" // a text that is looked up or shown: the links in it are the destinations (A07)
)

// Result is a labelled field of a tool's answer.
type Result struct {
	Path  Param // in the answer's value; [] and names as in Param, "*" stands for any name
	Label provenance.Label
	Kind  SinkKind // the shape that a value must have to count; "" is any
}

// Consequence says on what a consequential tool may act without a question.
type Consequence struct {
	Named []Param // these arguments must stand in the user's own words
	Own   []Param // these must not stand in untrusted text, unless the user said them too: nobody dictates them
	// Guessed says that heuristics made it: without the user's words to compare with, the call budget is all there is.
	Guessed bool
	// Asked says that a request for such an act is enough, whatever the arguments.
	Asked bool
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

// SendsNothing reports that a call in which none of the declared sinks stands sends nothing, because all are optional.
func (r Rule) SendsNothing() bool {
	for _, p := range r.SinkParams {
		if !slices.ContainsFunc(r.Sinks, func(s Sink) bool { return s.Optional && p.CoveredBy(s.Args) }) {
			return false
		}
	}
	return len(r.SinkParams) > 0
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
