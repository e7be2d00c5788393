package policy

import (
	"strings"
	"unicode"
)

// words splits a name as people write names in code: send_email, sendEmail, SEND-EMAIL, HTMLBody, webhookURLs. The
// words are lower case, and stand in the singular.
func words(name string) []string {
	for _, plural := range []string{"URL", "URI", "ID"} {
		name = strings.ReplaceAll(name, plural+"s", plural[:1]+strings.ToLower(plural[1:])+"s")
	}
	var out []string
	runes := []rune(name)
	start := 0
	flush := func(end int) {
		if w := singular(strings.ToLower(string(runes[start:end]))); w != "" {
			out = append(out, w)
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			start = i + 1
		case i > start && startsWord(runes, i):
			flush(i)
		}
	}
	flush(len(runes))
	return out
}

// startsWord reports whether a new word starts at runes[i], which is not the first of its word.
func startsWord(runes []rune, i int) bool {
	prev, r := runes[i-1], runes[i]
	if unicode.IsUpper(r) {
		if !unicode.IsUpper(prev) {
			return true
		}
		return i+1 < len(runes) && unicode.IsLower(runes[i+1])
	}
	return unicode.IsDigit(r) != unicode.IsDigit(prev)
}

func singular(w string) string {
	switch {
	case w == "ids":
		return "id"
	case len(w) <= 3 || strings.HasSuffix(w, "ss") || w == "alias" || w == "sms" || w == "dms":
		return w
	case strings.HasSuffix(w, "sses"):
		return strings.TrimSuffix(w, "es")
	}
	return strings.TrimSuffix(w, "s")
}

// set is a word list.
type set map[string]bool

func setOf(list string) set {
	s := set{}
	for _, w := range strings.Fields(list) {
		s[w] = true
	}
	return s
}

func (s set) any(ws []string) bool {
	for _, w := range ws {
		if s[w] {
			return true
		}
	}
	return false
}
