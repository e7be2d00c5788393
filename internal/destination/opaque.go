package destination

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// parseOpaque takes everything that is no other kind: channels, handles, ids, names.
func parseOpaque(text string) []Destination {
	odd := ""
	if strings.ContainsAny(text, "\n\r\t") {
		odd = "control characters"
	}
	if encoded(text) {
		odd = first(odd, "percent-encoded characters")
	}
	return one(Opaque, text, opaqueCanonical(text), odd)
}

// opaqueCanonical is what trust compares: letter by letter, for "C0ABC" and "c0abc" are two channels, and two blanks are
// not one. Taint folds for itself.
func opaqueCanonical(s string) string {
	text, _ := readable(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Trim(text, " \t\r\n")
}

// wideCanonical is a canonical form for what is ambiguous anyway: wide, so that taint finds it. It is composed, unlike
// Normalise: it is shown to people.
func wideCanonical(s string) string {
	text, _ := readable(strings.ToValidUTF8(s, "\uFFFD"))
	caser := cases.Fold()
	for range 3 {
		text = norm.NFKC.String(caser.String(norm.NFKC.String(text)))
	}
	return strings.Join(strings.Fields(text), " ")
}
