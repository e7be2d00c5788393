package audit

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// shape is a kind of secret that its issuer made recognisable.
type shape struct {
	prefix string
	what   string
	more   string // what the token may hold besides letters and digits
	least  int    // characters after the prefix; fewer are prose about tokens
	word   bool   // the prefix is short enough to end other words ("task-", "half_")
	dots   int    // how many dots at least
}

// shapes by the last byte of their prefix: the scan looks at a byte, and only at the rare ones twice.
var shapes = func() (by [256][]shape) {
	for _, s := range []shape{
		{"AKIA", "aws access key", "", 16, false, 0},
		{"ASIA", "aws access key", "", 16, false, 0},
		{"ghp_", "github token", "_", 20, false, 0},
		{"gho_", "github token", "_", 20, false, 0},
		{"ghu_", "github token", "_", 20, false, 0},
		{"ghs_", "github token", "_", 20, false, 0},
		{"ghr_", "github token", "_", 20, false, 0},
		{"github_pat_", "github token", "_", 20, false, 0},
		{"glpat-", "gitlab token", "_-.", 16, false, 0},
		{"xoxa-", "slack token", "-", 10, false, 0},
		{"xoxb-", "slack token", "-", 10, false, 0},
		{"xoxc-", "slack token", "-", 10, false, 0},
		{"xoxd-", "slack token", "-%/+=", 10, false, 0},
		{"xoxe-", "slack token", "-", 10, false, 0},
		{"xoxe.", "slack token", "-.", 10, false, 0},
		{"xoxo-", "slack token", "-", 10, false, 0},
		{"xoxp-", "slack token", "-", 10, false, 0},
		{"xoxr-", "slack token", "-", 10, false, 0},
		{"xoxs-", "slack token", "-", 10, false, 0},
		{"xapp-", "slack token", "-", 10, false, 0},
		{"sk_live_", "stripe key", "_", 10, false, 0},
		{"rk_live_", "stripe key", "_", 10, false, 0},
		{"sk_test_", "stripe key", "_", 10, false, 0},
		{"rk_test_", "stripe key", "_", 10, false, 0},
		{"whsec_", "stripe key", "_+/=", 16, false, 0},
		{"AIz", "google api key", "_-", 30, false, 0},
		{"ya29.", "google token", "_-.", 20, false, 0},
		{"sk-", "model api key", "_-", 16, true, 0},
		{"npm_", "npm token", "", 30, true, 0},
		{"hf_", "hugging face token", "", 30, true, 0},
		{"AGE-SECRET-KEY-", "age key", "", 20, false, 0},
		{"eyJ", "jwt", "_-.=", 17, true, 2},
	} {
		last := s.prefix[len(s.prefix)-1]
		by[last] = append(by[last], s)
	}
	return by
}()

// rare marks the bytes that a secret can be recognised by.
var rare = func() (marks [256]bool) {
	for c := range shapes {
		marks[c] = len(shapes[c]) > 0
	}
	for _, c := range []byte("N =:") { // -----BEGIN, Bearer, name=, name: and ://
		marks[c] = true
	}
	return marks
}()

// maskText returns s with every secret in it replaced by what it is and how long. Where there is none, s itself.
func (m *masker) maskText(s string) string {
	var out []byte
	from := 0
	for i := 0; i < len(s); i++ {
		if !rare[s[i]] {
			continue
		}
		start, end, what := m.secretAt(s, from, i)
		if what == "" {
			continue
		}
		out = appendMask(append(out, s[from:start]...), what, s[start:end])
		from = end
		i = end - 1
	}
	if out == nil {
		return s
	}
	return string(append(out, s[from:]...))
}

func appendMask(b []byte, what, secret string) []byte {
	b = append(append(b, "[masked: "...), what...)
	b = strconv.AppendInt(append(b, ", "...), int64(utf8.RuneCountInString(secret)), 10)
	return append(b, " characters]"...)
}

// secretAt looks for a secret that is recognised by the byte at i and starts at from or later.
func (m *masker) secretAt(s string, from, i int) (start, end int, what string) {
	for _, sh := range shapes[s[i]] {
		start := i + 1 - len(sh.prefix)
		if start < from || s[start:i+1] != sh.prefix || sh.word && start > 0 && alnum(s[start-1]) {
			continue
		}
		end := run(s, i+1, sh.more)
		if end-i-1 >= sh.least && strings.Count(s[start:end], ".") >= sh.dots {
			return start, end, sh.what
		}
	}
	switch s[i] {
	case 'N':
		return privateKey(s, from, i)
	case ' ':
		return m.afterSpace(s, from, i)
	case ':':
		if strings.HasPrefix(s[i:], "://") {
			return urlPassword(s, i+3)
		}
		return m.assigned(s, from, i)
	case '=':
		return m.assigned(s, from, i)
	}
	return 0, 0, ""
}

func privateKey(s string, from, i int) (int, int, string) {
	const begin = "-----BEGIN"
	start := i + 1 - len(begin)
	if start < from || s[start:i+1] != begin {
		return 0, 0, ""
	}
	line, _, _ := strings.Cut(s[start:min(len(s), start+80)], "\n")
	if !strings.Contains(line, "PRIVATE KEY") {
		return 0, 0, ""
	}
	end := len(s) // a key that is cut off is a key as far as it goes
	if at := strings.Index(s[start:], "-----END"); at >= 0 {
		end = start + at + len("-----END")
		if dashes := strings.Index(s[end:min(len(s), end+80)], "-----"); dashes >= 0 {
			end += dashes + len("-----")
		}
	}
	return start, end, "private key"
}

// afterSpace finds "Bearer TOKEN", "Basic TOKEN" and "--password VALUE".
func (m *masker) afterSpace(s string, from, i int) (int, int, string) {
	back := i
	for back > from && back > i-maxName && (alnum(s[back-1]) || s[back-1] == '-' || s[back-1] == '_') {
		back--
	}
	switch word := s[back:i]; {
	case strings.EqualFold(word, "bearer") || strings.EqualFold(word, "basic"):
		start := i + 1
		for start < len(s) && s[start] == ' ' {
			start++
		}
		if end := run(s, start, "._~+/=-"); end-start >= 8 && (len(word) == len("bearer") || strings.ContainsAny(s[start:end], "0123456789=")) {
			return start, end, strings.ToLower(word) + " token"
		}
	case strings.HasPrefix(word, "--") && m.secretName(word):
		if start, end := value(s, i+1, false); start < end && s[start] != '-' {
			return start, end, "value of " + label(word)
		}
	}
	return 0, 0, ""
}

// urlPassword finds the password of an authority that starts at i.
func urlPassword(s string, i int) (int, int, string) {
	colon, at := -1, -1
	for k := i; k < len(s) && k < i+1024; k++ {
		switch s[k] {
		case ':':
			if colon < 0 {
				colon = k
			}
			continue
		case '@':
			at = k
			continue
		case '/', '?', '#', ' ', '\n', '\t', '"', '\'', '<', '>':
		default:
			continue
		}
		break
	}
	if colon < 0 || at <= colon+1 {
		return 0, 0, ""
	}
	return colon + 1, at, "password in a URL"
}

// maxName bounds how far a name is looked for.
const maxName = 64

// assigned finds the value in name=value, "name": "value" and their like.
func (m *masker) assigned(s string, from, i int) (int, int, string) {
	back := i
	for back > from && i-back < 3 && s[back-1] == ' ' {
		back--
	}
	for back > from && (s[back-1] == '"' || s[back-1] == '\'' || s[back-1] == '\\') && i-back < 6 {
		back--
	}
	stop := back
	for back > from && stop-back < maxName && (alnum(s[back-1]) || s[back-1] == '_' || s[back-1] == '-') {
		back--
	}
	if back == stop || !m.secretName(s[back:stop]) {
		return 0, 0, ""
	}
	name := normal(s[back:stop])
	start, end := value(s, i+1, strings.HasSuffix(name, "authorization") || strings.HasSuffix(name, "cookie"))
	if start >= end || strings.HasPrefix(s[start:end], "[masked") {
		return 0, 0, ""
	}
	switch s[start:end] {
	case "true", "false", "null", "none", "None", "nil":
		return 0, 0, ""
	}
	return start, end, "value of " + label(s[back:stop])
}

// value finds the value that starts at or after i: what stands in quotes, or else a word; whole takes the line, for
// headers whose value has spaces in it.
func value(s string, i int, whole bool) (start, end int) {
	for i < len(s) && (s[i] == ' ' || s[i] == '=' || s[i] == '>' || s[i] == '\\') {
		i++
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'' || s[i] == '`') {
		quote := s[i]
		for end = i + 1; end < len(s) && s[end] != quote; end++ {
		}
		return i + 1, end
	}
	ends := " \t\r\n\"'`,;&)]}<>"
	if whole {
		ends = "\r\n\"'`"
	}
	for end = i; end < len(s) && strings.IndexByte(ends, s[end]) < 0; end++ {
	}
	return i, end
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// run returns where the letters, digits and more end.
func run(s string, i int, more string) int {
	for i < len(s) && (alnum(s[i]) || strings.IndexByte(more, s[i]) >= 0) {
		i++
	}
	return i
}
