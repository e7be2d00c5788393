package pin

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Hidden says what a definition holds that a person who reads it does not see, and the model does: the first such
// character and where it stands. "" is nothing. A text can hide in tag characters, variation selectors, runs of zero-width
// characters and behind changes of direction (A58), and an escape sequence rewrites the terminal that shows it (A59).
func Hidden(definition jsonrpc.Value) string { return hidden(definition, "", 0) }

func hidden(v jsonrpc.Value, at string, depth int) string {
	if depth > 200 { // nothing that is read goes so deep
		return "more levels than anybody reads, in " + at
	}
	if v.Kind == jsonrpc.String {
		if r, found := unseen(v.Text); found {
			return fmt.Sprintf("U+%04X in %s", r, destination.Visible(at, 80))
		}
		return ""
	}
	for i, e := range v.Elems {
		if found := hidden(e, fmt.Sprintf("%s[%d]", at, i), depth+1); found != "" {
			return found
		}
	}
	for _, m := range v.Members {
		path := strings.TrimPrefix(at+"."+m.Name, ".")
		if r, found := unseen(m.Name); found {
			return fmt.Sprintf("U+%04X in the name %s", r, destination.Visible(path, 80))
		}
		if found := hidden(m.Value, path, depth+1); found != "" {
			return found
		}
	}
	return ""
}

// flags are the emoji that are spelled with tag characters: England, Scotland, Wales.
var flags = func() (out []string) {
	for _, region := range []string{"gbeng", "gbsct", "gbwls"} {
		flag := "\U0001F3F4"
		for _, letter := range region {
			flag += string(0xE0000 + letter)
		}
		out = append(out, flag+"\U000E007F")
	}
	return out
}()

// unseen returns the first character that no honest text needs. One joiner or one selector belongs to emoji and to
// some scripts; two of them in a row say something else.
func unseen(s string) (rune, bool) {
	for _, flag := range flags {
		s = strings.ReplaceAll(s, flag, "")
	}
	before := rune(0)
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
		case r < 0x20 || r >= 0x7F && r < 0xA0:
			return r, true
		case r >= 0xE0000 && r <= 0xE0FFF, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			return r, true
		case faint(r) && (faint(before) || r == 0x200B || r == 0x2060):
			return r, true
		case r == 0xFEFF && i > 0:
			return r, true
		}
		before = r
	}
	return 0, false
}

// faint are the characters without a width of their own that have honest uses: joiners, marks of direction, selectors.
func faint(r rune) bool {
	return r >= 0x200B && r <= 0x200F || r >= 0x2060 && r <= 0x2064 || r == 0xFEFF || r == 0x00AD || unicode.Is(unicode.Variation_Selector, r)
}

// alike returns the names that a person, or a careless program, takes for one another: letters of other scripts and
// widths, invisible characters, another case, blanks around (A61).
func alike(names []string) []string {
	looks := map[string]int{}
	look := func(name string) string { return destination.Skeleton(destination.Normalise(name)) }
	for _, name := range names {
		looks[look(name)]++
	}
	var out []string
	for _, name := range names {
		if looks[look(name)] > 1 {
			out = append(out, name)
		}
	}
	return out
}
