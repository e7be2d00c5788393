package destination

import "strings"

// Entry is one line of an allowlist, read once.
type Entry struct {
	raw    string
	parsed []Destination
}

// ParseEntry reads a line of an allowlist. Trust is exact: the entry is read by Parse, and vouches for destinations of
// the same kind and canonical form. Three entries stand for more than one destination:
//
//	@corp.example            every address at exactly this domain
//	*.corp.example           every address and default-port URL at a name below the domain, not at the domain itself
//	https://corp.example/a/  every URL of the same scheme, host and port below the path; an origin covers all paths, unless
//	                         many strangers share its host (https://github.com/): then it stands for itself alone (A16)
//
// A host without a scheme (corp.example) is a name, not an origin: it stands for itself alone, and says nothing about
// corp.example/steal nor about https://corp.example.
func ParseEntry(raw string) Entry { return Entry{raw, Parse(raw)} }

// Host returns the host that an entry stands for as a whole: of "@corp.example", "*.corp.example", a bare host or an
// origin. It is "" for an entry with a path, and for anything else.
func (e Entry) Host() string {
	for _, mark := range []string{"@", "*."} {
		if domain, ok := strings.CutPrefix(e.raw, mark); ok {
			host, _ := CanonicalHost(domain)
			return host
		}
	}
	if len(e.parsed) != 1 || e.parsed[0].Kind != URL {
		return ""
	}
	if p := splitCanonical(e.parsed[0].Canonical); p.path == "" || p.path == "/" {
		return e.parsed[0].Host()
	}
	return ""
}

// Covers reports whether entry, as ParseEntry reads it, vouches for d.
func Covers(entry string, d Destination) bool { return ParseEntry(entry).Covers(d) }

// Covers reports whether the entry vouches for d. An ambiguous destination is never covered, unless it is opaque and
// the entry repeats it byte for byte; nor does an ambiguous entry cover anything else.
func (e Entry) Covers(d Destination) bool {
	if d.Ambiguous != "" {
		return d.Kind == Opaque && e.raw == d.Raw && strings.TrimSpace(e.raw) != ""
	}
	if domain, ok := strings.CutPrefix(e.raw, "@"); ok && d.Kind == Email {
		host, odd := CanonicalHost(domain)
		return odd == "" && host == d.Host()
	}
	if domain, ok := strings.CutPrefix(e.raw, "*."); ok && (d.Kind == Email || d.Kind == URL) {
		return below(domain, d)
	}
	if len(e.parsed) != 1 || e.parsed[0].Ambiguous != "" || e.parsed[0].Kind != d.Kind {
		return false
	}
	own := e.parsed[0].Canonical
	if own == d.Canonical {
		return true
	}
	return d.Kind == URL && !e.TooWide() && prefix(splitCanonical(own), splitCanonical(d.Canonical))
}

// below compares at a dot: evilcorp.example is not below corp.example (A28).
func below(domain string, d Destination) bool {
	apex, odd := CanonicalHost(domain)
	host := d.Host()
	if odd != "" || !strings.HasSuffix(host, "."+apex) || numeric(apex[strings.LastIndexByte(apex, '.')+1:]) {
		return false
	}
	return d.Kind == Email || splitCanonical(d.Canonical).port == ""
}

// prefix compares paths at a slash. A path that a server may decode into another one, or split into several, stays
// outside (A37, A40); one with dot segments is ambiguous and does not come here.
func prefix(e, d parts) bool {
	if e.origin() != d.origin() || e.query != "" || !strings.HasSuffix(e.path, "/") || !strings.HasPrefix(d.path, e.path) {
		return false
	}
	if e.scheme == "" && e.path == "/" {
		return false
	}
	return !encoded(d.path) && !strings.Contains(d.path, "//") && !strings.ContainsAny(d.path, `\;,|`)
}
