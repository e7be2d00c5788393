// Package approval is how a person is asked about one call: what the question says, in what form and through which
// channel it can be answered, which answers count, and which are remembered. Only a person's explicit choice lets a call
// through; a timeout, a closed window, an empty form or a machine's answer never does.
//
// It must not decide anything: what follows from an answer is for the gate, which judges again with it.
package approval

import (
	"context"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// Question is what a person is asked: may this call go to these destinations?
type Question struct {
	ID     string // the audit id of the call
	Client string
	Server string
	Tool   string
	Asked  []Destination // every destination in question; empty when the call names none
	Reason string        // why it is asked, as the gate gave it
	Args   []byte        // the call's arguments
	Keys   []string      // every point in question, by the gate's keys: more than Asked where one names no destination
	Policy string        // a digest of the policy that it was asked under
	// Prompt stands for what the user said last: two questions under one prompt have equal ones. nil: not known.
	Prompt any
}

// Destination is one destination in question.
type Destination struct {
	Param string
	destination.Destination
	Contract string
	Origin   string               // where the gate says it came from
	Reason   string               // why it is asked about
	Like     string               // the trusted destination that it could be taken for; "" for none
	Differs  string               // how it differs from Like: one clause
	Seen     *provenance.Sighting // where it was first seen; nil when nowhere
}

// Choice is what a person decided.
type Choice uint8

// The choices. The zero Choice is Deny, so whatever is not understood denies.
const (
	Deny    Choice = iota
	Once           // this call, bound to the digest of its arguments
	Session        // the rest of the session
	Always         // a line in approvals.yaml
	Never          // a line there that refuses
)

var choiceNames = []string{"deny", "once", "session", "always", "never"}

func (c Choice) String() string {
	if int(c) < len(choiceNames) {
		return choiceNames[c]
	}
	return choiceNames[Deny]
}

// ParseChoice reads a choice as String writes it. There is no short form and no default: an answer is a whole word.
func ParseChoice(s string) (Choice, bool) {
	for i, name := range choiceNames {
		if s == name {
			return Choice(i), true
		}
	}
	return Deny, false
}

// Approves reports a choice that lets the call through.
func (c Choice) Approves() bool { return c == Once || c == Session || c == Always }

// How a question ended, as the log has it. The first three are a person's word.
const (
	ByPerson    = "person"      // in the client's form
	ByTerminal  = "terminal"    // bouncer approve
	ByPage      = "page"        // bouncer ui
	Declined    = "declined"    // a person's no, wherever it was said
	Held        = "held"        // a person's no of before, which still holds
	Cancelled   = "cancelled"   // closed without a choice
	Unanswered  = "unanswered"  // no person saw it: too fast, a client that answers by itself, or nothing came
	Unsupported = "unsupported" // the client cannot show it
	Malformed   = "malformed"   // what came back was none of the choices
	Withdrawn   = "withdrawn"   // the call was cancelled
	TooMany     = "limit"       // the prompt has had its questions
	Carried     = "carried"     // the question went back to the client with the call, which is made again with the answer
)

// Answer is how a question ended.
type Answer struct {
	Choice Choice
	How    string
	Why    string // for the client, when nobody approved: one clause
	Scope  Scope  // of Always and Never
	Kept   bool   // the line of Always or Never is in approvals.yaml already
	Ask    string // the id to approve before the call is made again; "" when there is none
}

// Channel is a way to reach a person. Ask blocks until there is an answer or ctx ends; it never returns an approval
// that no person gave.
type Channel interface {
	Ask(ctx context.Context, q Question) Answer
}

// Carrier is a Channel whose question goes back to the client with its call, and whose answer comes with the call made again
// (protocol 2026-07-28). Its Ask returns Carried, or why it cannot.
type Carrier interface {
	Channel
	// Brought returns the answer to q that came with this call, and how long after the question; ok is false when none did.
	Brought(q Question) (a Answer, took time.Duration, ok bool)
}

// Nobody is the channel of a run without a person. Every answer is Deny.
type Nobody struct{ Why string }

// Ask implements Channel.
func (n Nobody) Ask(context.Context, Question) Answer {
	return Answer{Choice: Deny, How: Unsupported, Why: n.Why}
}
