// Package audit is the log: one JSON object a line for every verdict, written before the call it is about is forwarded.
// It must not decide anything, and must not lose a line silently: a line that cannot be written is an error that its
// caller turns into a denial.
package audit

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Entry is one verdict. The log spells the seed's five fields first and in this order.
type Entry struct {
	Tool     string
	Args     []byte // the arguments as they stood in the frame; nil is written as null
	Verdict  string
	Reason   string
	Contract string

	ID       string // names this call's lines; an ask and the allow or deny that follows share it
	Time     time.Time
	Session  string
	Server   string
	Origin   string // of the destination that decided, "" when none did
	Evidence []Evidence
	Client   string        // what the client says it is
	Answer   string        // for the line that follows an ask: person, declined, timeout, unsupported, ...
	Latency  time.Duration // what the decision took, the time a person thought left out
}

// Evidence is one destination of the call, or one objection, with where it was first seen.
type Evidence struct {
	Contract    string
	Param       string
	Destination string // canonical
	Kind        string
	Origin      string
	Server      string // where it was first seen
	Tool        string
	Call        string
	Field       string
	Snippet     string
	Match       string
	Reason      string
}

// argsLimit is how many bytes of arguments a line holds. A longer body is named by its size and digest: a log that
// doubles every upload fills the disk, and a full disk denies.
const argsLimit = 64 << 10

// NewID returns a name for a call: short enough to type, and not to be guessed by an agent that wants to name another
// call.
func NewID() string {
	var b [5]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program if the system has no randomness
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// append writes e as one line with its newline.
func (e Entry) append(b []byte) []byte {
	b = field(b, `{"tool": `, e.Tool)
	b = append(b, `, "args": `...)
	b = appendArgs(b, e.Args)
	b = field(b, `, "verdict": `, e.Verdict)
	b = field(b, `, "reason": `, e.Reason)
	b = field(b, `, "contract": `, e.Contract)
	b = field(b, `, "id": `, e.ID)
	b = append(b, `, "time": "`...)
	b = e.Time.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = field(b, `", "session": `, e.Session)
	b = field(b, `, "server": `, e.Server)
	b = optional(b, `, "origin": `, e.Origin)
	if len(e.Evidence) > 0 {
		b = append(b, `, "evidence": [`...)
		for i, ev := range e.Evidence {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = ev.append(b)
		}
		b = append(b, ']')
	}
	b = optional(b, `, "client": `, e.Client)
	b = optional(b, `, "answer": `, e.Answer)
	b = append(b, `, "latency_us": `...)
	b = strconv.AppendInt(b, e.Latency.Microseconds(), 10)
	return append(b, "}\n"...)
}

func (e Evidence) append(b []byte) []byte {
	b = field(b, `{"contract": `, e.Contract)
	b = optional(b, `, "param": `, e.Param)
	b = optional(b, `, "destination": `, e.Destination)
	b = optional(b, `, "kind": `, e.Kind)
	b = optional(b, `, "origin": `, e.Origin)
	b = optional(b, `, "seen_server": `, e.Server)
	b = optional(b, `, "seen_tool": `, e.Tool)
	b = optional(b, `, "seen_call": `, e.Call)
	b = optional(b, `, "seen_field": `, e.Field)
	b = optional(b, `, "snippet": `, e.Snippet)
	b = optional(b, `, "match": `, e.Match)
	b = optional(b, `, "reason": `, e.Reason)
	return append(b, '}')
}

func appendArgs(b, args []byte) []byte {
	switch {
	case args == nil:
		return append(b, "null"...)
	case len(args) <= argsLimit:
		return append(b, args...)
	}
	sum := sha256.Sum256(args)
	b = append(b, `{"bouncer:omitted": {"bytes": `...)
	b = strconv.AppendInt(b, int64(len(args)), 10)
	b = append(b, `, "sha256": "`...)
	b = append(b, hex.EncodeToString(sum[:])...)
	return append(b, `"}}`...)
}

func field(b []byte, name, value string) []byte {
	return append(append(b, name...), jsonrpc.Quote(value)...)
}

func optional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return field(b, name, value)
}
