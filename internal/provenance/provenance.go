// Package provenance remembers what any server wrote, and answers one question about a destination: was it seen, and
// where first? It is pure over the text it is given: no I/O, no clock.
//
// It must not trust anything. A look-up answers "tainted" with the first sighting as evidence, or nothing; what that
// means for a call is the gate's business. Whatever bound is reached (work, memory), the answer moves towards tainted:
// forgetting would turn a denial into a question, which an attacker who can fill the memory would then choose.
package provenance

// Source says who wrote a text.
type Source struct {
	Server string // the wrapped server's configured name
	Tool   string // the tool whose answer it was; "" when it was no tool's answer
	Call   string // the audit id of that call; "" when none
	Kind   string // result, error, notification, request, definition, instructions, resource, prompt
	Named  bool   // the user's own words name everything that the call asked for: they pointed at this source
}

// Sighting is where a destination was first seen. It is evidence: for people and the log.
type Sighting struct {
	Source  Source
	Field   string // path inside the answer: content[0].text; after an arrow, the path in JSON inside a string
	Snippet string // the text around it, one line, control and invisible characters shown as escapes
	Match   string // Exact, Text or Bound
}

// What a sighting rests on.
const (
	Exact = "exact" // the canonical destination, or its host, stood there as a destination
	Text  = "text"  // its normalised text stood there
	Bound = "bound" // a limit on work or memory was reached before it could be ruled out: nobody saw it, nobody can deny it
)

// Matching says how wide a text match is.
type Matching uint8

// The widths.
const (
	Tokens    Matching = iota // whole tokens only: "13" is not in "June 13", nor "corp.example" in "mycorp.example"
	Substring                 // anywhere, as the first version did
)
