package destination

import "strings"

// Covers reports whether an allowlist entry vouches for d. Trust is exact: the entry is read by Parse and must have
// the same kind and canonical form. Three entries stand for more than one destination:
//
//	@corp.example            every address at exactly this domain
//	*.corp.example           every address and default-port URL at a name below the domain, not at the domain itself
//	https://corp.example/a/  every URL of the same scheme, host and port below the path; an origin covers all paths
//
// An ambiguous destination is never covered, unless it is opaque and the entry repeats it byte for byte; nor does an
// ambiguous entry cover anything else.
func Covers(entry string, d Destination) bool {
	if d.Ambiguous != "" {
		return d.Kind == Opaque && entry == d.Raw && strings.TrimSpace(entry) != ""
	}
	if domain, ok := strings.CutPrefix(entry, "@"); ok && d.Kind == Email {
		host, odd := CanonicalHost(domain)
		return odd == "" && host == d.Host()
	}
	if domain, ok := strings.CutPrefix(entry, "*."); ok && (d.Kind == Email || d.Kind == URL) {
		return below(domain, d)
	}
	es := Parse(entry)
	if len(es) != 1 || es[0].Ambiguous != "" || es[0].Kind != d.Kind {
		return false
	}
	if es[0].Canonical == d.Canonical {
		return true
	}
	return d.Kind == URL && prefix(splitCanonical(es[0].Canonical), splitCanonical(d.Canonical))
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

// prefix compares paths at a slash, after dot segments are gone. A path that a server may decode into another one
// stays outside (A40).
func prefix(e, d parts) bool {
	if e.origin() != d.origin() || e.query != "" || !strings.HasSuffix(e.path, "/") || !strings.HasPrefix(d.path, e.path) {
		return false
	}
	return !encoded(d.path) && !strings.Contains(d.path, `\`) && !strings.Contains(d.path, "//") && !strings.Contains(d.path, ";")
}
