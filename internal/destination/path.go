package destination

import (
	"path"
	"strings"
	"unicode/utf8"
)

// parsePath reads what can only be a path: absolute, relative to here or to a home directory, a drive, a share.
func parsePath(text string) []Destination {
	switch {
	case strings.HasPrefix(text, "/"), strings.HasPrefix(text, "~"), text == ".", text == "..",
		strings.HasPrefix(text, "./"), strings.HasPrefix(text, "../"),
		strings.HasPrefix(text, `.\`), strings.HasPrefix(text, `..\`), strings.HasPrefix(text, `\`), drive(text):
		return []Destination{newPath(text, text, "")}
	}
	return nil
}

// parseRelative reads what has a separator and was nothing else.
func parseRelative(text string) []Destination {
	if !strings.ContainsAny(text, `/\`) || strings.ContainsAny(text, "\n\r\t") {
		return nil
	}
	return []Destination{newPath(text, text, "")}
}

func newPath(raw, p, odd string) Destination {
	switch {
	case drive(p):
		p = strings.ReplaceAll(p, `\`, "/")
	case strings.HasPrefix(p, `\\`), strings.HasPrefix(p, "//"):
		odd = first(odd, "network share or doubled slash") // another machine to some
	case strings.Contains(p, `\`):
		odd = first(odd, "backslash") // a separator to some, a character to others
	}
	if strings.ContainsAny(p, "\n\r\t") {
		odd = first(odd, "control characters")
	}
	if encoded(p) {
		odd = first(odd, "percent-encoded separator or dot")
	}
	if climbs(p) {
		odd = first(odd, "climbs out of a directory that may be a link")
	}
	c := path.Clean(p)
	if !unmistakable(c) || strings.HasPrefix(p, ".") && (strings.HasPrefix(c, "~") || drive(c)) {
		c = "./" + c // "./README.md" must not become a word, "./corp.example/x" a host, nor "./~/x" the home directory
	}
	if strings.TrimSpace(c) != c {
		odd = first(odd, "blank at the end of a name")
	}
	return Destination{Kind: Path, Raw: raw, Canonical: c, Ambiguous: odd}
}

// unmistakable reports whether a cleaned path is read as a path again.
func unmistakable(c string) bool {
	if strings.HasPrefix(c, "/") || strings.HasPrefix(c, "~") || strings.HasPrefix(c, "../") || c == "." || c == ".." || drive(c) {
		return true
	}
	for _, kind := range []func(string) []Destination{parseMailto, parseURL, parseEmails, parseHost} {
		if kind(c) != nil {
			return false
		}
	}
	return strings.Contains(c, "/")
}

// climbs reports whether ".." follows a name. Which directory that is depends on links that are not known here.
func climbs(p string) bool {
	named := false
	for _, s := range strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' }) {
		switch s {
		case ".":
		case "..":
			if named {
				return true
			}
		default:
			named = true
		}
	}
	return false
}

// encoded reports whether a server that decodes once more than another would see other separators or dots (A40).
func encoded(s string) bool {
	if !strings.Contains(s, "%") {
		return false
	}
	u := strings.ToUpper(s)
	return strings.Contains(u, "%2E") || strings.Contains(u, "%2F") || strings.Contains(u, "%5C") || strings.Contains(u, "%25") ||
		strings.Contains(u, "%0") || strings.Contains(u, "%40")
}

func drive(s string) bool {
	return len(s) >= 3 && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z') && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// parseFileURL reads what follows "file:".
func parseFileURL(raw, rest string) []Destination {
	odd := ""
	p, ok := strings.CutPrefix(rest, "//")
	if !ok {
		odd = "file URL without slashes"
	}
	if h, tail, found := strings.Cut(p, "/"); ok && h != "" && found {
		if !strings.EqualFold(h, "localhost") {
			odd = first(odd, "file on another machine")
		}
		p = "/" + tail
	}
	if strings.ContainsAny(p, "?#") {
		odd = first(odd, "query in a file URL")
	}
	if encoded(p) {
		odd = first(odd, "percent-encoded separator or dot")
	}
	p = unescapeOnce(p)
	if d, ok := strings.CutPrefix(p, "/"); ok && drive(d) {
		p = d
	}
	if !strings.HasPrefix(p, "/") && !drive(p) {
		odd = first(odd, "relative file URL")
	}
	if p == "" {
		return one(Path, raw, "", first(odd, "empty"))
	}
	if _, why := readable(p); why != "" {
		odd = first(odd, why)
	}
	if !utf8.ValidString(p) {
		odd = first(odd, "invalid UTF-8")
	}
	odd = first(odd, altered(Destination{Kind: Path}, p))
	d := newPath(raw, p, odd)
	return []Destination{d}
}
