// Package destination says what an argument points at: an e-mail address, a URL, a path, an opaque id. It is pure:
// no I/O, no clock, no name resolution (a look-up would itself carry data out).
//
// It must not decide anything. Parse reads, Covers compares; what follows from that is the gate's business. Whenever
// two honest readers could read one spelling differently, Ambiguous says so and the destination can never be trusted:
// being wrong about a spelling may cost a question, never a leak.
package destination

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kind is what sort of thing a destination is.
type Kind string

// The kinds of destination.
const (
	Email   Kind = "email"
	URL     Kind = "url"
	Path    Kind = "path"
	Account Kind = "account" // an IBAN, or what has the shape of one
	Phone   Kind = "phone"   // E.164: "+" and digits
	Opaque  Kind = "opaque"
)

// Destination is one place that a value can be sent to.
type Destination struct {
	Kind      Kind
	Raw       string // as it stood in the argument
	Canonical string // two spellings of one destination share it; trust compares it and nothing else
	Ambiguous string // why two readers could read it differently; "" when they cannot. Ambiguous is never trusted
}

const (
	maxRaw        = 64 << 10 // a longer argument is no destination that a person could vouch for
	maxRecipients = 1000     // in one string; what lies beyond is one ambiguous rest
)

// Parse reads an argument's text. It never returns an empty slice: one Destination for every recipient when the text
// is a list of addresses, else exactly one. What it cannot place is Opaque, what it cannot read for certain has
// Ambiguous set; there is no error, because every text is some destination to the server that gets it.
func Parse(raw string) []Destination {
	if len(raw) > memoLongest {
		return parse(raw)
	}
	if ds, ok := memo.get(raw); ok {
		return ds
	}
	ds := parse(raw)
	memo.put(raw, ds)
	return ds
}

func parse(raw string) []Destination {
	if len(raw) > maxRaw {
		return one(Opaque, raw, opaqueCanonical(raw), "longer than 64 KiB")
	}
	text, odd := clean(raw)
	if text == "" {
		if odd == "" {
			odd = "empty"
		}
		return one(Opaque, raw, "", odd)
	}
	ds := classify(text)
	for i := range ds {
		ds[i].Ambiguous = first(ds[i].Ambiguous, first(odd, altered(ds[i], raw)))
		if len(ds) == 1 {
			ds[i].Raw = raw
		}
	}
	return ds
}

// classify tries the kinds in order, most certain first. A new kind is one line here and one file.
func classify(text string) []Destination {
	for _, kind := range []func(string) []Destination{parseMailto, parsePhone, parseURL, parsePath, parseEmails, parseHost, parseRelative, parseAccount} {
		if ds := kind(text); ds != nil {
			return ds
		}
	}
	return parseOpaque(text)
}

// altered says what cleaning took from raw that this kind of destination depends on: a file system and most servers
// keep é and e with an accent apart, and "x" and "x " are two files. Hosts compose by their own rules, and an address
// beyond ASCII before the @ is ambiguous anyway.
func altered(d Destination, raw string) string {
	if d.Kind == Path && strings.Trim(raw, " \t\r\n") != raw {
		return "blank at the end of a name"
	}
	switch {
	case d.Kind == Email, norm.NFC.IsNormalString(raw):
		return ""
	case d.Kind == URL:
		if p := splitCanonical(d.Canonical); !beyondASCII(p.path + p.query) {
			return ""
		}
	}
	return "characters that can be written in several ways"
}

func one(k Kind, raw, canonical, ambiguous string) []Destination {
	return []Destination{{Kind: k, Raw: raw, Canonical: canonical, Ambiguous: ambiguous}}
}

// Display returns the canonical form for people and terminals: one line of some 120 characters, with control, bidi and
// invisible characters as escapes, so that what is approved is what is read. A long one is cut in its middle, and where
// a host is in it the whole end of that host is shown: alice@corp.example.aaaa….evil.example is not at corp.example.
func (d Destination) Display() string {
	text := d.Canonical
	if text == "" {
		text = d.Raw
	}
	runes := []rune(text)
	if len(runes) <= displayed {
		return Visible(text, 6*displayed)
	}
	end := ""
	if host := []rune(d.Host()); len(host) > displayed/3 {
		end = ", host …" + string(host[len(host)-displayed/3:])
	}
	return Visible(string(runes[:displayed/2])+"…"+string(runes[len(runes)-displayed/3:])+end, 12*displayed)
}

// displayed is how many characters of a destination are shown whole.
const displayed = 120

// Host returns the host of a URL or the domain of an e-mail address in canonical form. For a Path or Opaque that names
// a machine (ssh://, ftp://, git@host:path) it is the best guess at which, good for taint only; else it is "".
func (d Destination) Host() string {
	switch d.Kind {
	case Email:
		return d.Canonical[strings.LastIndexByte(d.Canonical, '@')+1:]
	case URL:
		return splitCanonical(d.Canonical).host
	}
	text, _ := clean(d.Raw) // cleaning a path can eat the host
	return remoteHost(text)
}

// clean strips what cannot be seen and applies compatibility normalisation, and says whether that changed anything
// beyond surrounding blanks: a server that does not do the same would send to somebody else (A31, A38).
func clean(raw string) (text, odd string) {
	if !utf8.ValidString(raw) {
		odd = "invalid UTF-8"
	}
	text, why := readable(raw)
	if odd == "" {
		odd = why
	}
	return strings.Trim(text, " \t\r\n"), odd
}
