package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-bouncer/bouncer/internal/provenance"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// Speaker says who can have written a prompt, and whether anybody is there to be asked.
type Speaker struct {
	Person   bool     // the client runs at a terminal, and a person types into it
	Attended bool     // a person can answer the client's questions
	Given    []string // the client's command line: a prompt that stands in it may come from whoever started the client
}

// Terminal makes a Speaker of what is known of the client's process: its command line, nil where the system does not show it, and
// the variables that it sets for what it starts, which a project's settings cannot. A headless run is fed by whatever started it, a
// shell script or a CI job, so that its prompt is nobody's word.
func Terminal(argv []string, entrypoint, attended string) Speaker {
	headless := slices.ContainsFunc(argv, func(a string) bool {
		flag, _, _ := strings.Cut(a, "=")
		return slices.Contains([]string{"-p", "--print", "--output-format", "--input-format", "--sdk-url", "--permission-prompt-tool"}, flag) ||
			len(flag) > 1 && flag[0] == '-' && flag[1] != '-' && strings.Contains(flag, "p") // -cp
	})
	s := Speaker{Given: argv, Attended: attended != "0" && !strings.HasPrefix(entrypoint, "sdk") && entrypoint != ""}
	s.Person = s.Attended && !headless && entrypoint == "cli"
	return s
}

// The names under which the store counts what only the hook needs to know.
const (
	book      = Server + " conversation"
	turns     = "\x00turns"     // of prompts
	scheduled = "\x00scheduled" // one more than turns for every call that may write a prompt itself
	starts    = "\x00starts"
)

// begin notes that a conversation starts. Only the first one of a client's process starts with nothing read: what is resumed,
// cleared or compacted holds what was read before.
func (h *Hook) begin(e event) error {
	s, err := h.facts()
	if err != nil {
		return err
	}
	mark := s.Mark()
	again := s.Reserve(book, starts) > 1
	s.Reserve(book, e.session)
	if again || e.source != "startup" {
		err = dirty(s, e, "a conversation that goes on: "+e.source)
	}
	return sound(s, mark, err)
}

// prompt notes what the user said. What vouches for nothing is still the end of what was asked before it.
func (h *Hook) prompt(e event) error {
	s, err := h.facts()
	if err != nil {
		return err
	}
	mark := s.Mark()
	if s.Reserve(book, e.session) == 1 { // no start of it was seen: the hook came later, or the id is made up
		err = dirty(s, e, "a conversation whose start was not seen")
	}
	err = errors.Join(err, attach(s, e))
	turn := s.Reserve(book, turns)
	own := s.Reserve(book, scheduled) == turn
	if !h.cfg.Speaker.Person {
		return sound(s, mark, err)
	}
	words := spoken(e.prompt)
	if !own || slices.Contains(h.cfg.Speaker.Given, e.prompt) || written(s, e.prompt) {
		words = ""
	}
	s.Say(words)
	return sound(s, mark, err)
}

func sound(s session.Store, mark uint64, err error) error {
	if err != nil {
		return err
	}
	return s.Err(mark)
}

// dirty makes the session one in which something was read.
func dirty(s session.Store, e event, why string) error {
	return s.Observe(provenance.Source{Server: Server, Tool: e.name, Call: e.session, Kind: "notification"}, fmt.Appendf(nil, "%q", why))
}

// Prompts that are longer hold something pasted. No person types as much.
const (
	longPrompt = 2000 // bytes
	manyLines  = 30
)

// spoken returns what of a prompt the user typed, as far as it can be told; "" when it cannot. A command (/, ! and #) is expanded
// into a text that others wrote. A prompt that begins with a tag is the client's own: a background task that ended, a message of
// another session. What the client marks as pasted is cut. Of a long one only the first paragraph counts, if it is short itself: where a pasted text ends is what its
// author would like to decide. Quotations and pasted mails in the rest are cut by who reads it.
func spoken(prompt string) string {
	text := strings.TrimSpace(unpasted(prompt))
	if text == "" || strings.ContainsRune("/!#<", rune(text[0])) || !utf8.ValidString(text) {
		return ""
	}
	if len(text) <= longPrompt && strings.Count(text, "\n") < manyLines {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	first, _, found := strings.Cut(text, "\n\n")
	if !found || len(first) > longPrompt/4 || strings.Count(first, "\n") > 4 {
		return ""
	}
	return first
}

// The marks that the client puts around what was pasted.
const (
	pasteOpens  = "<pasted_content"
	pasteCloses = "</pasted_content"
)

// unpasted cuts from the first mark of a paste to the last one: a pasted text may hold marks of its own, to end early.
func unpasted(prompt string) string {
	from := strings.Index(prompt, pasteOpens)
	to := strings.LastIndex(prompt, pasteCloses)
	if from < 0 && to < 0 {
		return prompt
	}
	end := strings.IndexByte(prompt[max(to, 0):], '>')
	if from < 0 || to < from || end < 0 {
		return "" // marks that do not belong together
	}
	return prompt[:from] + "\n\n" + prompt[to+end+1:]
}

// shortPrompt is what may stand anywhere: "go ahead".
const shortPrompt = 20

// written reports a prompt that stood, as a whole, in what some tool wrote.
func written(s session.Store, prompt string) bool {
	if len(strings.TrimSpace(prompt)) < shortPrompt {
		return false
	}
	for _, text := range []string{prompt, strings.TrimSpace(prompt)} {
		if _, found := s.Verbatim(opaque(text)); found {
			return true
		}
	}
	return false
}

// StartedBy reports that a shell's command line is how a client starts a hook: one command, and this one.
func StartedBy(argv []string) bool {
	return len(argv) == 3 && argv[1] == "-c" && strings.Contains(argv[2], " hook claude-code") && !strings.ContainsAny(argv[2], ";|&<>\n`$")
}
