package clientconfig

import (
	"regexp"
	"strings"
)

// token is what a TOML or YAML line is made of, as far as hiding secrets goes.
var token = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\n])*'|#[^\n]*|\n|[^\s,\[\]{}="'#]+`)

// maskLines returns the lines of an entry as they may be shown: the command and its arguments without what looks like a
// secret, and of every other member the name alone.
func maskLines(text string) string {
	var b strings.Builder
	at, key, before := 0, "", ""
	for _, m := range token.FindAllStringIndex(text, -1) {
		word := text[m[0]:m[1]]
		b.WriteString(text[at:m[0]])
		at = m[1]
		switch {
		case word == "\n" || word[0] == '#' || word == "-" || word == ":":
		case isKey(word, text[m[1]:]):
			key = lastPart(word)
		case !shownKeys[key]:
			word = hidden
		default:
			plain := strings.Trim(word, `"'`)
			if secretFlag.MatchString(before) {
				word = hidden
			} else if masked := maskText(plain); masked != plain {
				word = strings.Replace(word, plain, masked, 1)
			}
			before = plain
		}
		b.WriteString(word)
	}
	return b.String() + text[at:]
}

var shownKeys = map[string]bool{"command": true, "cmd": true, "args": true}

// isKey reports whether a word is followed by its value.
func isKey(word, rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	if strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, ":") {
		return true
	}
	return word[0] != '"' && word[0] != '\'' && strings.HasSuffix(word, ":")
}

// lastPart is the name that a key ends in.
func lastPart(word string) string {
	word = strings.TrimSuffix(word, ":")
	if word[0] != '"' && word[0] != '\'' {
		word = word[strings.LastIndexByte(word, '.')+1:]
	}
	return strings.Trim(word, `"'`)
}
