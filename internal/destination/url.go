package destination

import (
	"net/url"
	"strings"
)

var (
	withoutBreaks = strings.NewReplacer("\t", "", "\r", "", "\n", "")
	withoutSpaces = strings.NewReplacer(" ", "%20", "\t", "", "\r", "", "\n", "")
)

// parseURL reads http and https URLs, and what browsers take for one (A32, A40). Other schemes are opaque: exact
// trust is possible, nothing else is (A35).
func parseURL(text string) []Destination {
	if ds := severalURLs(text); ds != nil {
		return ds
	}
	odd := ""
	compact := withoutBreaks.Replace(text)
	if low := strings.ToLower(compact); strings.HasPrefix(low, "http%3a") || strings.HasPrefix(low, "https%3a") {
		compact, odd = unescapeOnce(compact), "percent-encoded URL"
	}
	if strings.HasPrefix(compact, "//") && len(compact) > 2 && compact[2] != '/' {
		return []Destination{webURL(text, "https", compact, "no scheme")}
	}
	scheme, rest, ok := cutScheme(compact)
	if !ok {
		return nil
	}
	if compact != text && odd == "" {
		odd = "control characters"
	}
	switch scheme {
	case "http", "https":
		return []Destination{webURL(text, scheme, rest, odd)}
	case "file":
		return parseFileURL(text, rest)
	case "javascript", "data", "blob", "view-source", "ftp", "gopher", "ws", "wss":
		return one(Opaque, text, opaqueCanonical(text), odd)
	}
	if strings.HasPrefix(rest, "//") {
		return one(Opaque, text, opaqueCanonical(text), odd)
	}
	return nil
}

func cutScheme(s string) (scheme, rest string, ok bool) {
	i := strings.IndexByte(s, ':')
	if i < 1 {
		return "", "", false
	}
	for j := 0; j < i; j++ {
		c := s[j] | 0x20
		if !(c >= 'a' && c <= 'z' || j > 0 && (s[j] >= '0' && s[j] <= '9' || s[j] == '+' || s[j] == '-' || s[j] == '.')) {
			return "", "", false
		}
	}
	return strings.ToLower(s[:i]), s[i+1:], true
}

// webURL reads what follows "http:" or "https:". Every deviation from //host[:port][/path][?query][#fragment] is
// still read, because taint wants the best guess, and named, because trust wants certainty.
func webURL(raw, scheme, rest, odd string) Destination {
	whole := scheme + ":" + rest
	if strings.ContainsRune(rest, '\\') {
		odd = first(odd, "backslash")
		rest = strings.ReplaceAll(rest, `\`, "/")
	}
	if strings.ContainsAny(rest, " \t\r\n") {
		odd = first(odd, "blank in the URL")
		rest = withoutSpaces.Replace(rest)
	}
	bare := strings.TrimLeft(rest, "/")
	if len(rest)-len(bare) != 2 {
		odd = first(odd, "missing or superfluous slashes")
	}
	p, why := splitURL(bare, scheme)
	p.scheme = scheme
	odd = first(odd, why)
	if odd == "" {
		odd = disagreement(whole, p)
	}
	return Destination{Kind: URL, Raw: raw, Canonical: p.String(), Ambiguous: odd}
}

// parts are a URL's in canonical form. scheme is "" when the URL was written without one.
type parts struct{ scheme, host, port, path, query string }

func (p parts) String() string {
	return p.origin() + p.path + p.query
}

func (p parts) origin() string {
	s := p.host
	if p.scheme != "" {
		s = p.scheme + "://" + s
	}
	if p.port != "" {
		s += ":" + p.port
	}
	return s
}

// splitURL reads host[:port][/path][?query][#fragment].
func splitURL(s, scheme string) (p parts, odd string) {
	s, _, _ = strings.Cut(s, "#")
	end := strings.IndexAny(s, "/?")
	if end < 0 {
		end = len(s)
	}
	authority, tail := s[:end], s[end:]
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		odd = "user information before the host" // A29
		authority = authority[i+1:]
	}
	host := authority
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		host, p.port = authority[:i], authority[i+1:]
		var why string
		p.port, why = canonicalPort(p.port, scheme)
		odd = first(odd, why)
	}
	var why string
	p.host, why = CanonicalHost(host)
	odd = first(odd, why)
	path, query, ok := strings.Cut(tail, "?")
	p.path, why = cleanPath(escape(path))
	odd = first(odd, why)
	if ok && query != "" {
		p.query = "?" + escape(query)
	}
	return p, odd
}

func canonicalPort(s, scheme string) (port, odd string) {
	port = strings.TrimLeft(s, "0")
	if strings.Trim(s, "0123456789") != "" || len(port) > 5 || len(port) == 5 && port > "65535" || s != "" && port == "" {
		return "0", "invalid port"
	}
	if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return "", ""
	}
	return port, ""
}

// cleanPath removes dot segments, also percent-encoded ones, the way browsers do before they send. Others send them as
// they stand, and what the server makes of them is its own affair (A40).
func cleanPath(path string) (clean, odd string) {
	var out []string
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(s, "%2E", ".") {
		case ".":
			odd = "dot segments in the path"
			if last {
				out = append(out, "")
			}
		case "..":
			odd = "dot segments in the path"
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	return "/" + strings.Join(out, "/"), odd
}

// escape percent-encodes what is not printable ASCII and puts the hexadecimal digits of encodings in upper case.
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteString(strings.ToUpper(s[i : i+3]))
			i += 2
		case c <= ' ' || c >= 0x7f:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// unescapeOnce decodes valid percent encodings once and leaves everything else as it is.
func unescapeOnce(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			b.WriteByte(unhex(s[i+1])<<4 | unhex(s[i+2]))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// disagreement asks two other readers what they make of a URL. A server uses one of them or something like them.
func disagreement(whole string, p parts) string {
	u, err := url.Parse(whole)
	if err != nil {
		return "a common URL reader refuses it"
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	host, _ = CanonicalHost(host)
	port, _ := canonicalPort(u.Port(), u.Scheme)
	if u.Scheme != p.scheme || host != p.host || port != p.port || u.User != nil {
		return "URL readers disagree about the host"
	}
	return browserDisagreement(whole, p)
}

// parseHost reads a URL without its scheme: a name under a public suffix, an address, or a host with a port.
func parseHost(text string) []Destination {
	if strings.ContainsAny(text, " \t\r\n\\<>\",;") {
		return nil
	}
	end := strings.IndexAny(text, "/?#")
	if end < 0 {
		end = len(text)
	}
	if strings.ContainsRune(text[:end], '@') {
		return nil
	}
	p, odd := splitURL(text, "")
	switch {
	case strings.HasPrefix(p.host, "[") && odd == "":
	case strings.Count(text[:end], ".") == 3 && numeric(p.host[strings.LastIndexByte(p.host, '.')+1:]):
	case p.host == "localhost" && p.port != "" && odd == "":
	case !publicName(p.host) || odd == "invalid port":
		return nil
	case end == len(text) && p.port == "" && strings.Count(p.host, ".") == 1 && fileEndings[p.host[strings.IndexByte(p.host, '.')+1:]]:
		return nil
	}
	return one(URL, text, p.String(), odd)
}

// beyondASCII reports whether a canonical path or query holds a byte beyond ASCII, which stands there percent-encoded.
func beyondASCII(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '%' && s[i+1] >= '8' && isHex(s[i+1]) {
			return true
		}
	}
	return false
}

// splitCanonical takes a canonical URL apart.
func splitCanonical(s string) (p parts) {
	if scheme, rest, ok := strings.Cut(s, "://"); ok && (scheme == "http" || scheme == "https") {
		p.scheme, s = scheme, rest
	}
	end := strings.IndexAny(s, "/?")
	if end < 0 {
		end = len(s)
	}
	p.host = s[:end]
	if i := strings.LastIndexByte(p.host, ':'); i > strings.LastIndexByte(p.host, ']') {
		p.host, p.port = p.host[:i], p.host[i+1:]
	}
	path, query, ok := strings.Cut(s[end:], "?")
	p.path = path
	if ok {
		p.query = "?" + query
	}
	return p
}
