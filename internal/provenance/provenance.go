// Package provenance remembers what any server wrote, and answers one question about a destination: was it seen, and
// where first? It is pure over the text it is given: no I/O, no clock.
package provenance

// Source says who wrote a text.
type Source struct {
	Server string // the wrapped server's configured name
	Tool   string // the tool whose answer it was; "" when it was no tool's answer
	Call   string // the audit id of that call; "" when none
	Kind   string // result, error, notification, request, definition, instructions, resource, prompt
}

// Sighting is where a destination was first seen. It is evidence: for people and the log.
type Sighting struct {
	Source  Source
	Field   string // path inside the answer: content[0].text
	Snippet string // the text around it, one line, control and invisible characters shown as escapes
	Match   string // "exact" (canonical destination) or "text" (normalised text)
}
