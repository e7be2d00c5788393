// Package audit is the log: one JSON object a line for every verdict, written before the call it is about is forwarded,
// chained and signed so that a line that was changed, moved or taken out is found; and what reads it.
// It must not decide anything, must not write a secret that it can recognise, and must not lose a line silently: a line
// that cannot be written is an error that its caller turns into a denial.
package audit

import (
	"crypto/rand"
	"encoding/base32"
	"strconv"
	"strings"
	"time"
)

// Version is the version of the format, in every line's "v". docs/audit.md describes it.
const Version = 1

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
	Answer   string        // for the line that follows an ask: person, declined, timeout, unsupported, ... (D15)
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

// evidenceLimit is how many destinations a line tells about: a call may name ten thousand.
const evidenceLimit = 100

// NewID returns a name for a call: short enough to type, and not to be guessed by an agent that wants to name another
// call.
func NewID() string { return randomName(5) }

func randomName(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b) // never fails: crypto/rand ends the program if the system has no randomness
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

// timeLayout has a fixed width, so that times sort as text.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// appendTime is AppendFormat with timeLayout, at a fifth of its cost.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, timeLayout)
	}
	digits := func(n, width int) {
		for at := 1; at < width; at++ {
			b = append(b, '0')
		}
		b = append(b, '0')
		for at := len(b) - 1; n > 0; at-- {
			b[at] = '0' + byte(n%10)
			n /= 10
		}
	}
	for _, part := range [...]struct {
		n, width int
		end      byte
	}{{year, 4, '-'}, {int(month), 2, '-'}, {day, 2, 'T'}, {hour, 2, ':'}, {minute, 2, ':'}, {second, 2, '.'}, {t.Nanosecond() / 1000, 6, 'Z'}} {
		digits(part.n, part.width)
		b = append(b, part.end)
	}
	return b
}

// append writes the line of e up to its chain fields.
func (e Entry) append(b []byte, m *masker, noArgs bool) []byte {
	b = m.field(b, `{"tool": `, e.Tool)
	b = append(b, `, "args": `...)
	if noArgs {
		b = append(b, "null"...)
	} else {
		b = m.args(b, e.Args)
	}
	b = own(b, `, "verdict": `, e.Verdict)
	b = m.field(b, `, "reason": `, e.Reason)
	b = own(b, `, "contract": `, e.Contract)
	b = own(b, `, "id": `, e.ID)
	b = append(b, `, "time": "`...)
	b = appendTime(b, e.Time)
	b = own(b, `", "session": `, e.Session)
	b = m.field(b, `, "server": `, e.Server)
	b = ownOptional(b, `, "origin": `, e.Origin)
	b = m.evidence(b, e.Evidence)
	b = m.optional(b, `, "client": `, e.Client)
	b = ownOptional(b, `, "answer": `, e.Answer)
	b = append(b, `, "latency_us": `...)
	return strconv.AppendInt(b, e.Latency.Microseconds(), 10)
}

func (m *masker) evidence(b []byte, all []Evidence) []byte {
	if len(all) == 0 {
		return b
	}
	b = append(b, `, "evidence": [`...)
	for i, ev := range all[:min(len(all), evidenceLimit)] {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = ev.append(b, m)
	}
	b = append(b, ']')
	if extra := len(all) - evidenceLimit; extra > 0 {
		b = strconv.AppendInt(append(b, `, "evidence_omitted": `...), int64(extra), 10)
	}
	return b
}

func (e Evidence) append(b []byte, m *masker) []byte {
	b = own(b, `{"contract": `, e.Contract)
	b = m.optional(b, `, "param": `, e.Param)
	destination := e.Destination
	if e.Param != "" && m.secretName(e.Param) && destination != "" {
		destination = string(appendMask(nil, "value of "+label(e.Param), destination))
	}
	b = m.optional(b, `, "destination": `, destination)
	b = ownOptional(b, `, "kind": `, e.Kind)
	b = ownOptional(b, `, "origin": `, e.Origin)
	b = m.optional(b, `, "seen_server": `, e.Server)
	b = m.optional(b, `, "seen_tool": `, e.Tool)
	b = ownOptional(b, `, "seen_call": `, e.Call)
	b = m.optional(b, `, "seen_field": `, e.Field)
	b = m.optional(b, `, "snippet": `, e.Snippet)
	b = ownOptional(b, `, "match": `, e.Match)
	b = m.optional(b, `, "reason": `, e.Reason)
	return append(b, '}')
}

func (m *masker) field(b []byte, name, value string) []byte {
	return appendQuoted(append(b, name...), m.text(value))
}

// own writes a field whose value is one of Bouncer's own words: there is nothing to mask.
func own(b []byte, name, value string) []byte {
	return appendQuoted(append(b, name...), value)
}

func ownOptional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return own(b, name, value)
}

func (m *masker) optional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return m.field(b, name, value)
}
