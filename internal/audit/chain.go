package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

type digest = [sha256.Size]byte

// chain is one writer's place in the log. Each of its lines names the one before it, so none can be changed, taken out
// or moved without the next telling; at is what orders the lines of different writers.
type chain struct {
	writer string
	seq    uint64 // of its last line; 0 when it has written none
	prev   digest // of that line
}

// hash is prev as a line spells it: nothing before the first.
func (c chain) hash() string {
	if c.seq == 0 {
		return ""
	}
	return hex.EncodeToString(c.prev[:])
}

// finish ends the line that starts at b[from:], written when the file had at bytes, and moves c on.
func (c *chain) finish(b []byte, from int, at int64) []byte {
	b = append(append(append(b, tailMark...), c.writer...), `", "seq": `...)
	b = strconv.AppendUint(b, c.seq+1, 10)
	b = strconv.AppendInt(append(b, `, "at": `...), at, 10)
	b = append(b, `, "prev": "`...)
	if c.seq > 0 {
		b = hex.AppendEncode(b, c.prev[:])
	}
	b = append(b, `"}`...)
	c.seq, c.prev = c.seq+1, sha256.Sum256(b[from:])
	return append(b, '\n')
}

// introduce adds what a writer's first line says besides: where the log ended when it came, signed, so that nobody
// without the key can add a writer.
func (c *chain) introduce(b []byte, after mark, key note.Signer) ([]byte, error) {
	text := openedText(c.writer, after)
	signed, err := note.Sign(&note.Note{Text: text}, key)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	b = strconv.AppendInt(append(b, `, "after": {"size": `...), after.size, 10)
	b = append(append(append(b, `, "line": "`...), after.line...), `"}, "opened": `...)
	return appendQuoted(b, string(signed)), nil
}

// mark is a place in a file between two lines: its offset and the digest of the line that ends there.
type mark struct {
	size int64
	line string
}

func openedText(writer string, after mark) string {
	return fmt.Sprintf("bouncer audit writer\nwriter %s\nafter %d %s\n", writer, after.size, or(after.line, "-"))
}

// statement is what a checkpoint signs.
type statement struct {
	writer  string
	seq     uint64
	head    string
	segment int
	closed  bool
	seen    []head
}

// head is the last line of a writer, as far as somebody knows.
type head struct {
	writer string
	seq    uint64
	hash   string
	closed bool
}

func (s statement) text() string {
	var b strings.Builder
	state := "open"
	if s.closed {
		state = "closed"
	}
	fmt.Fprintf(&b, "bouncer audit checkpoint\nwriter %s\nseq %d\nhead %s\nsegment %d\nstate %s\n", s.writer, s.seq, s.head, s.segment, state)
	for _, h := range s.seen {
		fmt.Fprintf(&b, "seen %s %d %s\n", h.writer, h.seq, h.hash)
	}
	return b.String()
}

// readStatement reads a signed statement. It is an error if the signature is not key's.
func readStatement(signed string, key note.Verifier) (s statement, err error) {
	text, err := openNote(signed, key)
	if err != nil {
		return s, err
	}
	if !strings.HasPrefix(text, "bouncer audit checkpoint\n") {
		return s, errors.New("it is signed as something else")
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch name {
		case "writer":
			s.writer = value
		case "seq":
			s.seq, err = strconv.ParseUint(value, 10, 64)
		case "head":
			s.head = value
		case "segment":
			s.segment, err = strconv.Atoi(value)
		case "state":
			s.closed = value == "closed"
		case "seen":
			var h head
			_, err = fmt.Sscanf(value, "%s %d %s", &h.writer, &h.seq, &h.hash)
			s.seen = append(s.seen, h)
		}
		if err != nil {
			return s, fmt.Errorf("signed, but not to be read: %w", err)
		}
	}
	return s, nil
}

// openNote returns the text of a note that key signed. Kinds of notes differ in their first line, so one cannot be
// passed off as another.
func openNote(signed string, key note.Verifier) (string, error) {
	n, err := note.Open([]byte(signed), note.VerifierList(key))
	if err != nil {
		return "", err
	}
	return n.Text, nil
}

const tailMark = `, "v": 1, "writer": "`

const longestTail = 320 // mark, writer, two numbers, digest

// tail is the chain's part of a line.
type tail struct {
	writer string
	seq    uint64
	at     int64
	prev   string
}

// readTail reads the end of a line as finish writes it, to the letter. What stands in front of it is covered by the
// digest, so it is not parsed to verify.
func readTail(line []byte) (t tail, ok bool) {
	line = line[max(0, len(line)-longestTail):]
	at := bytes.LastIndex(line, []byte(tailMark))
	if at < 0 {
		return t, false
	}
	var seq, offset, rest string
	t.writer, rest, ok = strings.Cut(string(line[at+len(tailMark):]), `", "seq": `)
	if !ok || t.writer == "" || len(t.writer) > 64 || run(t.writer, 0, "") != len(t.writer) {
		return t, false
	}
	if seq, rest, ok = strings.Cut(rest, `, "at": `); !ok {
		return t, false
	}
	if offset, rest, ok = strings.Cut(rest, `, "prev": "`); !ok {
		return t, false
	}
	var err, err2 error
	t.seq, err = strconv.ParseUint(seq, 10, 64)
	t.at, err2 = strconv.ParseInt(offset, 10, 64)
	if t.prev, ok = strings.CutSuffix(rest, `"}`); !ok || err != nil || err2 != nil || t.seq == 0 || t.at < 0 {
		return t, false
	}
	return t, t.seq == 1 && t.prev == "" || t.seq > 1 && len(t.prev) == 2*sha256.Size && run(t.prev, 0, "") == len(t.prev)
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
