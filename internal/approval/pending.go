package approval

import (
	"errors"
	"time"
)

// Pending is a question that waits for a person outside the client. It outlives its call: approved later, the same call
// made again passes, once.
type Pending struct {
	Question
	Key     string // of the question; the answer is to it and to nothing else
	Asked   time.Time
	Expires time.Time
	Size    int // bytes of the call's arguments, of which Args may hold the first part only
}

// Given is a person's answer to a Pending.
type Given struct {
	ID     string
	Key    string
	Choice Choice
	Scope  Scope
	By     string // ByTerminal or ByPage
	Kept   bool   // the line that it becomes is in approvals.yaml already
	At     time.Time
}

// Store keeps pending questions where another process of the user can see and answer them. A later shared store can take
// the place of the files (Dir).
type Store interface {
	// Put keeps a question. A second one of the same key takes the place of the first, whose ID it returns.
	Put(p Pending) (id string, err error)
	// List returns the questions that wait, oldest first.
	List() ([]Pending, error)
	// Get returns one that waits, ErrGone when it does not (any more).
	Get(id string) (Pending, error)
	// Give answers a question, once: a second answer is ErrAnswered.
	Give(g Given) error
	// Take returns the answer to the question of this key and takes it away, so that exactly one call gets it. ok is
	// false when there is none (yet).
	Take(key string) (g Given, ok bool, err error)
	// Attended reports whether a page is open at which a person could answer.
	Attended() bool
}

// The errors of a Store that a person should hear of.
var (
	ErrGone     = errors.New("no such question waits: it was answered, has expired, or never was")
	ErrAnswered = errors.New("the question has an answer already")
	ErrFull     = errors.New("too many questions wait already")
)
