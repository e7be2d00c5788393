package destination

import (
	"net/url"
	"strings"
)

// maxNested is how many times a URL inside a URL is decoded.
const maxNested = 3

// asBrowsersRead does to a URL what browsers do before they read it: tabs and line breaks are dropped (ht\ttps://), and a backslash
// is a slash.
var asBrowsersRead = strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/")

// Nested returns the destinations that stand inside a URL: in its query, path or fragment, decoded up to three times, in base64, or
// without a scheme (//evil.example). A redirect or a preview on a trusted host hands its caller on to them (A14, A17).
func Nested(d Destination) (out []Destination) {
	if d.Kind != URL || len(d.Raw) > maxRaw {
		return nil
	}
	_, inside, ok := strings.Cut(strings.ReplaceAll(d.Raw, `\`, "/"), "://")
	if !ok {
		inside = d.Raw
	}
	i := strings.IndexAny(inside, "/?#")
	if i < 0 {
		return nil
	}
	inside = inside[i+1:]
	seen := map[string]bool{d.Canonical: true}
	add := func(text string) {
		for _, m := range append(Mentions(text), schemeless(text)...) {
			if key := string(m.Kind) + m.Canonical; !seen[key] && len(out) < maxMentions && (m.Kind == URL || m.Kind == Email) {
				seen[key] = true
				out = append(out, m.Destination)
			}
		}
	}
	for i := range maxNested {
		plain, err := url.PathUnescape(inside)
		done := err != nil || plain == inside || i == maxNested-1
		for _, part := range strings.FieldsFunc(inside, func(r rune) bool { return strings.ContainsRune("&=;?#,", r) }) {
			if done || !strings.Contains(part, "%") { // what has percent signs is read when they are off
				add(part)
			}
			for _, r := range Unveil([]byte(part)) {
				add(string(r.Text))
			}
		}
		if done {
			break
		}
		inside = asBrowsersRead.Replace(plain)
	}
	return out
}

// schemeless finds hosts that are named without a scheme, as //evil.example or http:/evil.example.
func schemeless(text string) []Mention {
	rest := text
	for _, scheme := range []string{"https:", "http:"} {
		if len(rest) > len(scheme) && strings.EqualFold(rest[:len(scheme)], scheme) {
			rest = rest[len(scheme):]
			break
		}
	}
	bare := strings.TrimLeft(rest, "/")
	if bare == rest || len(rest)-len(bare) < 2 && len(rest) == len(text) {
		return nil
	}
	var out []Mention
	for _, d := range Parse("https://" + bare) {
		if d.Kind == URL {
			out = append(out, Mention{Destination: d})
		}
	}
	return out
}
