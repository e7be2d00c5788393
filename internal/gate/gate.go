// Package gate is the decision: may this tool call go to its server? Start reading here.
//
// Decide is a pure function of the call, the rules for its tool and the facts of the session. Everything that needs
// I/O (resolving links, reserving a budget slot, looking up what was seen) happened before, and is in its arguments;
// asking a person, forwarding and logging happen after. The same arguments give the same Decision, byte for byte.
package gate

import (
	"slices"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/mandate"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// Verdict is what becomes of a call. A greater Verdict beats a smaller one.
type Verdict uint8

// The three verdicts.
const (
	Allow Verdict = iota // forwarded, byte for byte
	Ask                  // a person decides; nobody there is Deny
	Deny                 // never forwarded
)

func (v Verdict) String() string { return [...]string{"allow", "ask", "deny"}[v] }

// The contracts by the names that reasons, evidence and the log use.
const (
	Guard       = "guard"
	Pinning     = "pinning"
	Budget      = "budget"
	Constraint  = "constraint"
	SinkGate    = "sink_gate"
	Intent      = "intent"
	Consequence = "consequence"
	Content     = "content"
	Flow        = "flow"
	Approval    = "require_approval"
	Default     = "default" // no contract objected
)

// Call is one attempted call, with everything looked up that a contract needs to know about the world outside.
type Call struct {
	Server string
	Tool   string
	Args   jsonrpc.Value     // the decoded arguments object; Null when the call has none
	Leaves []policy.Selected // policy.Leaves(Args), which every contract looks at; nil is worked out
	Pin    Pin
	Slot   int                  // which attempt of its tool this is, from 1; 0 when the tool has no budget
	Paths  map[policy.Spot]Path // arguments that are, or look like, paths
	Within []Reading            // the rule's AllowedPathPrefixes, resolved, in their order
	Home   []Reading            // what guard keeps the agent away from: the Bouncer home
	// User is what the user's own words ask for; nil when they are not known.
	User *mandate.Request
	// Fetched says of a tool that only reads (Rule.Fetch) which of its domain's different URLs each destination is under
	// the current request, from 1, by Canonical.
	Fetched map[string]int
	// Answered holds the questions about this very call that a person said yes to, by Finding.Key. It is bound to the
	// call's frame and used once.
	Answered map[string]bool
}

// Pin says how the called tool stands to the definitions that were pinned for this session.
type Pin struct {
	State   PinState
	Changed []string // for PinChanged: the parts of the definition that differ
	Hidden  string   // for PinHeld: what it holds that a reader does not see; "" for nothing
}

// PinState is the state of a tool's pin. The zero value is "unknown", so a forgotten look-up denies.
type PinState uint8

// The states of a pin.
const (
	PinUnknown    PinState = iota // the server did not list this name when the session's tools were pinned
	PinChanged                    // it did, with another definition
	PinAmbiguous                  // it listed the name twice (A61, A64)
	PinUnlistable                 // the server's list could not be read
	PinHeld                       // the definition is the pinned one
)

// Path is an argument read as a file path: every way in which a server could read it.
type Path struct {
	Readings []Reading
	Problem  string // why it cannot be placed for certain; "" when it can. Its readings are then the known part
}

// Reading is one reading of a path: cleaned, and with links followed on its longest existing part (A73).
type Reading struct {
	Lexical  string
	Resolved string
}

// Facts is what the session knows at the moment of the decision. Implementations hold it fixed while Decide runs.
type Facts interface {
	// Approved reports whether a person vouched for d when this contract asked about a call of this tool.
	Approved(contract, tool string, d destination.Destination) bool
	// Refused reports that a person said never about d, and why in words for a reason.
	Refused(contract, tool string, d destination.Destination) (why string, refused bool)
	// Vouched returns the destinations that a person vouched for on this server, whatever for.
	Vouched() []destination.Destination
	// Seen reports where a wrapped server wrote d first, if any did.
	Seen(d destination.Destination, how provenance.Matching) (provenance.Sighting, bool)
	// Verbatim reports where d stood as it is spelled here.
	Verbatim(d destination.Destination) (provenance.Sighting, bool)
	// Labelled returns what a labelled field of this call's own server says of d.
	Labelled(d destination.Destination) (provenance.Labelled, bool)
	// Secret returns a labelled secret that stands in text.
	Secret(text string) (provenance.Labelled, bool)
	// Private returns something private that was read in this session, other than this server's object of that name.
	Private(object string) (provenance.Labelled, bool)
	// Clean reports that nothing but definitions was read in this session.
	Clean() bool
	// First reports that the agent used d before any server wrote it.
	First(d destination.Destination) bool
}

// Rules is what the policy says about the called tool.
type Rules struct {
	policy.Rule
	Profile policy.Profile
	// CleanContext and FirstUse let an unproven destination pass while nothing was read, or if the agent named it first.
	// Both are off unless the user's policy says so: cleanliness cannot be seen where a client has other servers.
	CleanContext, FirstUse bool
	Reader                 bool // the tool only reads: nothing in its call becomes part of what the server keeps

	trusted, refused []destination.Entry       // Rule.TrustedDestinations and Deny, read once
	imitable         []destination.Destination // what trusted stands for
}

// NewRules prepares a rule for any number of decisions.
func NewRules(rule policy.Rule, profile policy.Profile) Rules {
	r := Rules{Rule: rule, Profile: profile}
	for _, entry := range rule.TrustedDestinations {
		parsed := destination.ParseEntry(entry)
		r.trusted = append(r.trusted, parsed)
		r.imitable = append(r.imitable, parsed.Destinations()...)
	}
	for _, entry := range rule.Deny {
		r.refused = append(r.refused, destination.ParseEntry(entry))
	}
	return r
}

// Decision is a verdict with its whole evidence.
type Decision struct {
	Verdict  Verdict
	Contract string    // of the finding that decided; Default for a call that nothing objected to
	Reason   string    // of the finding that decided
	Findings []Finding // every objection, in the order of the contracts
	Judged   []Judged  // every destination of the call with its origin, trusted ones too
}

// Finding is one objection of one contract.
type Finding struct {
	Contract string
	Verdict  Verdict // Ask or Deny
	Reason   string
	Param    string // the argument it is about; "" when it is about the call
	Judged   *Judged
}

// Key names the question that an Ask is.
func (f Finding) Key() string {
	if f.Judged != nil {
		return f.Judged.Key()
	}
	return f.Contract
}

// Judged is a destination and where it came from.
type Judged struct {
	Contract    string // that looked at it: SinkGate, or another one that asks where a value came from
	Param       string
	Destination destination.Destination
	Kind        policy.SinkKind // as the policy says, or else as the destination looks
	Origin      Origin
	Seen        *provenance.Sighting // for Directory, Attributed and Untrusted: where it stood
	Words       string               // for FromUser: the words that vouch for it
	Why         string               // for Refused: by whom
	Verbatim    bool                 // Untrusted, and it stood there in this very spelling
	Like        *Likeness            // Untrusted or Unproven, and it could be taken for a trusted one
	First       bool                 // Unproven, and the user's policy lets such a one pass (CleanContext, FirstUse)
}

// Likeness is what a destination could be taken for.
type Likeness struct {
	To      destination.Destination
	How     string // one clause: "one character differs"
	Session bool   // a person vouched for it in this session; else the policy trusts it
}

// Key names the question that j is: the same for the same destination however it was spelled, unless the spelling is
// what makes it ambiguous. What a person says to one contract's question is no answer to another's: a link that may
// stand in a text is not a recipient.
func (j Judged) Key() string {
	key := j.Contract + " " + string(j.Destination.Kind) + " " + j.Destination.Canonical
	if j.Destination.Ambiguous != "" {
		key += " " + j.Destination.Raw
	}
	return key
}

// Origin says where a destination came from, strongest first.
type Origin string

// The origins.
const (
	Refused     Origin = "refused"     // the policy or a person's never forbids it, whoever vouches
	Allowlisted Origin = "allowlisted" // the policy names it
	Approved    Origin = "approved"    // a person vouched for it
	FromUser    Origin = "user"        // the user's own words name it for this kind of act
	Directory   Origin = "directory"   // the user's own register has it
	Attributed  Origin = "attributed"  // a third party gave it as its own name
	Untrusted   Origin = "untrusted"   // a wrapped server wrote it
	Unproven    Origin = "unproven"    // it was seen nowhere
)

// Trusted reports an origin that the user stands behind.
func (o Origin) Trusted() bool {
	return o == Allowlisted || o == Approved || o == FromUser || o == Directory
}

// Decide evaluates every contract, in this order, and combines what they found: a Deny beats an Ask, an Ask beats an
// Allow, and among equals the earlier contract gives the reason. Nothing is cut short, so the evidence is complete and
// nobody is asked about a call that another contract denies.
//
//  0. guard: does the call reach Bouncer's own files?             deny
//  1. pinning: is the tool's definition the pinned one?           deny
//  2. budget: is the attempt within max_calls?                    deny
//  3. constraint: do paths and arguments keep to their bounds?    deny
//  4. sink_gate: is every destination of the call trusted?        untrusted: deny; attributed, unproven: ask
//     intent: did the user ask for such an act at all?            ask
//  5. consequence: does it change what the user named?            ask
//  6. content: whose are the links and addresses that leave?      untrusted: deny; else ask
//  7. flow: does something private go where strangers read?       ask
//
// The profile strict has 0 to 4 with two origins, untrusted and unproven; paranoid asks about all that acts, and denies
// where intent to flow would ask.
func Decide(c Call, r Rules, f Facts) Decision {
	if c.Leaves == nil {
		c.Leaves = policy.Leaves(c.Args)
	}
	d := Decision{Contract: Default, Reason: "no contract objected"}
	d.Findings = append(d.Findings, guard(c, r)...)
	d.Findings = append(d.Findings, pinning(c)...)
	d.Findings = append(d.Findings, budget(c, r)...)
	d.Findings = append(d.Findings, constraint(c, r)...)
	judged, all := judgeSinks(c, r, f)
	d.Judged = judged
	d.Findings = append(d.Findings, sinkGate(c, r, judged, all)...)
	d.Findings = append(d.Findings, approval(c, r)...)
	if r.Profile != policy.Strict {
		d.Findings = append(d.Findings, intent(c, r, f, judged)...)
		d.Findings = append(d.Findings, consequence(c, r, f)...)
		d.Findings = append(d.Findings, content(c, r, f, judged)...)
		d.Findings = append(d.Findings, flow(c, r, f)...)
	}

	for _, found := range d.Findings {
		if found.Verdict > d.Verdict {
			d.Verdict, d.Contract, d.Reason = found.Verdict, found.Contract, found.Reason
		}
	}
	return d
}

// Questions returns what a person would have to agree to before the call may go, each question once. It is empty unless
// the Decision is an Ask.
func (d Decision) Questions() []Finding {
	var out []Finding
	for _, found := range d.Findings {
		if d.Verdict == Ask && found.Verdict == Ask && !slices.ContainsFunc(out, func(f Finding) bool { return f.Key() == found.Key() }) {
			out = append(out, found)
		}
	}
	return out
}
