package provenance

import (
	"bytes"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

const (
	maxEchoes = 64
	longEcho  = 256
)

// echoes prepares the values that an answer may repeat.
//
// Whoever writes the answer could use them: he has the agent pass a destination that it was given in some disguise, and
// repeats it. What he wins is that it is unproven, which is asked about, where it would have been untrusted.
func (w *walker) echoes(values []string) {
	w.echo = w.echo[:0]
	for _, v := range values {
		if len(w.echo) == maxEchoes {
			return
		}
		if n := destination.Normalise(v); len(v) <= longEcho && len(n) >= minRunes {
			w.echo = append(w.echo, []byte(n))
		}
	}
}

// blank overwrites the echoed values where they stand in a text as whole tokens: "evil.example" in the call does not
// hide https://evil.example/x in the answer.
func (w *walker) blank(text []byte) {
	for _, echo := range w.echo {
		for from := 0; ; {
			i := bytes.Index(text[from:], echo)
			if i < 0 {
				break
			}
			at := from + i
			end := at + len(echo)
			from = at + 1
			if opens(text[:at]) && closes(text[end:]) {
				for k := at; k < end; k++ {
					text[k] = ' '
				}
				from = end
			}
		}
	}
}

func opens(before []byte) bool {
	return len(before) == 0 || bytes.IndexByte([]byte(" \t\n\r\"'`(<[{,;=:"), before[len(before)-1]) >= 0
}

func closes(after []byte) bool {
	for len(after) > 0 && bytes.IndexByte([]byte(".:!?"), after[0]) >= 0 {
		if after = after[1:]; len(after) > 0 && letter(after[0]) {
			return false
		}
	}
	return len(after) == 0 || bytes.IndexByte([]byte(" \t\n\r\"'`)>]},;"), after[0]) >= 0
}
