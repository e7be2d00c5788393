package destination

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/unicode/norm"
)

// CanonicalHost returns the one spelling of a host name or address: lower case, punycode, no trailing dot, IPv4
// dotted, IPv6 compressed in brackets, an IPv4 address inside IPv6 on its own. odd says why readers could disagree
// about it (A31, A32); host is then the best guess, good for looking up taint and for nothing else.
func CanonicalHost(raw string) (host, odd string) {
	host = strings.ToLower(raw)
	if strings.ContainsFunc(raw, func(r rune) bool { return r >= 0x80 && unicode.ToLower(r) < 0x80 }) {
		odd = "host contains characters that are read as others"
	}
	if strings.Contains(host, "%") {
		odd = first(odd, "percent sign in the host")
		host = strings.ToLower(unescapeOnce(host))
	}
	if strings.HasPrefix(host, "[") {
		return canonicalIPv6(host, odd)
	}
	if !ascii(host) {
		var why string
		host, why = punycode(host)
		odd = first(odd, why)
	}
	host, dotted := strings.CutSuffix(host, ".")
	if dotted && strings.HasSuffix(host, ".") {
		odd = first(odd, "several dots at the end of the host")
	}
	labels := strings.Split(host, ".")
	if numeric(labels[len(labels)-1]) {
		ip, why := canonicalIPv4(labels)
		if ip == "" {
			return host, first(odd, why)
		}
		return ip, first(odd, why)
	}
	for _, l := range labels {
		odd = first(odd, oddLabel(l))
	}
	if len(host) > 253 {
		odd = first(odd, "host longer than 253 characters")
	}
	return host, odd
}

func oddLabel(l string) string {
	if l == "" || len(l) > 63 {
		return "empty or overlong part in the host"
	}
	for i := 0; i < len(l); i++ {
		c := l[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return "characters in the host that no host has"
		}
	}
	if l[0] == '-' || l[len(l)-1] == '-' {
		return "part of the host starts or ends with a hyphen"
	}
	if strings.HasPrefix(l, "xn--") {
		u, err := idna.Lookup.ToUnicode(l)
		back, err2 := idna.Lookup.ToASCII(u)
		if err != nil || err2 != nil || back != l || ascii(u) {
			return "invalid punycode in the host"
		}
	}
	return ""
}

// punycode converts a host beyond ASCII. A character that the conversion replaces by another (full-width letters,
// ideographic full stops, U+2113) or that the two IDNA generations treat differently is read as one host by some and
// as another by others (A31).
func punycode(host string) (string, string) {
	a, err := idna.Lookup.ToASCII(host)
	if err != nil {
		if a == "" {
			a = host
		}
		return a, "host is no valid international name"
	}
	u, err := idna.Lookup.ToUnicode(a)
	if err != nil || u != norm.NFC.String(host) || strings.ContainsAny(host, "ßς\u200c\u200d") {
		return a, "host contains characters that are read as others"
	}
	return a, ""
}

func canonicalIPv6(host, odd string) (string, string) {
	inner, ok := strings.CutSuffix(host[1:], "]")
	ip, err := netip.ParseAddr(inner)
	if !ok || err != nil || !ip.Is6() {
		return host, first(odd, "invalid IPv6 address")
	}
	if ip.Zone() != "" {
		odd = first(odd, "IPv6 zone")
		ip = ip.WithZone("")
	}
	if ip.Is4In6() {
		return ip.Unmap().String(), odd
	}
	return "[" + ip.String() + "]", odd
}

// canonicalIPv4 reads an address the way browsers do: one to four numbers, decimal, octal or hexadecimal, the last of
// which fills the rest. Only the plain dotted form is read the same by everybody.
func canonicalIPv4(labels []string) (ip, odd string) {
	if len(labels) > 4 {
		return "", "invalid IPv4 address"
	}
	if len(labels) != 4 {
		odd = "unusual spelling of an IPv4 address"
	}
	var v uint64
	for i, l := range labels {
		base, digits := 10, l
		if strings.HasPrefix(l, "0x") {
			base, digits = 16, l[2:]
		} else if len(l) > 1 && l[0] == '0' {
			base, digits = 8, l[1:]
		}
		if base != 10 {
			odd = first(odd, "unusual spelling of an IPv4 address")
		}
		if digits == "" && base == 16 {
			digits = "0"
		}
		n, err := strconv.ParseUint(digits, base, 32)
		limit := uint64(256)
		if i == len(labels)-1 {
			limit = 1 << (8 * (5 - len(labels)))
		}
		if err != nil || n >= limit {
			return "", "invalid IPv4 address"
		}
		if i == len(labels)-1 {
			v |= n
		} else {
			v |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}).String(), odd
}

// numeric reports whether a last label makes its host an IPv4 address.
func numeric(l string) bool {
	if h, ok := strings.CutPrefix(l, "0x"); ok {
		return strings.Trim(h, "0123456789abcdef") == ""
	}
	return l != "" && strings.Trim(l, "0123456789") == ""
}

// reserved are the last labels that no registry gives out but that examples, tests and private networks use.
var reserved = map[string]bool{
	"example": true, "test": true, "invalid": true, "localhost": true, "local": true, "internal": true,
	"onion": true, "lan": true, "intranet": true, "corp": true, "home": true, "arpa": true,
}

// fileEndings are registered top-level domains that, behind a bare word, are far more often the ending of a file.
var fileEndings = map[string]bool{
	"md": true, "sh": true, "rs": true, "py": true, "pl": true, "zip": true, "mov": true, "ps": true, "cc": true,
	"so": true, "ml": true, "mk": true,
}

// publicName reports whether a canonical host ends in a suffix under which names are registered.
func publicName(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == host {
		return false
	}
	suffix, icann := publicsuffix.PublicSuffix(host)
	return (icann || reserved[last] || strings.Contains(suffix, ".")) && suffix != host
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
