package destination

import (
	"net/url"
	"strings"
)

// parseEmails reads one address or a list of them, in every shape that mail servers take: separated by comma,
// semicolon or line, with display names, in an RFC 5322 group (A37). It returns nil when text holds no address.
func parseEmails(text string) []Destination {
	if i := strings.IndexByte(text, '@'); i < 0 || scpLike(text) {
		return nil
	}
	items, odd := splitList(text)
	var ds []Destination
	found := false
	for i, item := range items {
		got := parseAddresses(item)
		if got == nil {
			got = other(item)
		} else {
			found = true
		}
		if ds = append(ds, got...); len(ds) > maxRecipients { // one item can hold many, with blanks between
			ds = append(ds[:maxRecipients], one(Opaque, strings.Join(items[i:], ","), "", "more than 1000 recipients")...)
			break
		}
	}
	if !found {
		return nil
	}
	for i := range ds {
		ds[i].Ambiguous = first(ds[i].Ambiguous, odd)
	}
	return ds
}

// other is an entry of an address list that is no address. It may still be where mail goes (an alias, a phone).
func other(item string) []Destination {
	d := one(Opaque, item, opaqueCanonical(item), "no address, in a list of addresses")
	for _, kind := range []func(string) []Destination{parseURL, parseHost} {
		if ds := kind(item); len(ds) == 1 {
			d = ds
			d[0].Ambiguous = first(d[0].Ambiguous, "no address, in a list of addresses")
			break
		}
	}
	return d
}

// splitList cuts at separators outside quotes and angle brackets. odd is about the whole list: with a header smuggled
// in, nothing in it is what it seems (A38).
func splitList(text string) (items []string, odd string) {
	if strings.ContainsRune(text, '\r') || strings.ContainsRune(text, '\t') {
		odd = "control characters"
	}
	quoted, angle, start := false, false, 0
	cut := func(i int) {
		if item := strings.TrimSpace(text[start:i]); item != "" {
			items = append(items, item)
		}
		start = i + 1
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"' && !angle:
			quoted = !quoted
		case c == '\n':
			if quoted || angle {
				odd = first(odd, "line break inside a name or an address")
			}
			quoted, angle = false, false
			cut(i)
		case quoted:
		case c == '<':
			angle = true
		case c == '>':
			angle = false
		case (c == ',' || c == ';') && !angle:
			cut(i)
		}
	}
	if quoted || angle {
		odd = first(odd, "unbalanced quotes or brackets")
	}
	cut(len(text))
	for i, item := range items {
		head, tail, ok := strings.Cut(item, ":")
		if !ok || strings.ContainsAny(head, "@<\"") {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(head)) {
		case "to", "cc", "bcc", "from", "sender", "reply-to", "subject", "content-type", "mime-version":
			odd = first(odd, "header injection")
			items[i] = strings.TrimSpace(tail)
		case "mailto":
		default: // a group: "Team: a@x.example, b@x.example;"
			if !strings.Contains(text, ";") {
				odd = first(odd, "text before a colon")
			}
			items[i] = strings.TrimSpace(tail)
		}
	}
	return items, odd
}

// parseAddresses reads one entry of a list. It returns nil when there is no address in it, and every address, marked
// ambiguous, when there is more than an address and its display name.
func parseAddresses(item string) []Destination {
	addr, odd := item, ""
	if open := strings.LastIndexByte(item, '<'); open >= 0 && strings.HasSuffix(item, ">") {
		addr = strings.TrimSpace(item[open+1 : len(item)-1])
		odd = oddName(strings.TrimSpace(item[:open]))
	}
	if len(addr) > 7 && strings.EqualFold(addr[:7], "mailto:") {
		addr = addr[7:]
	}
	if c, why, ok := canonicalAddress(addr); ok && odd == "" {
		return one(Email, item, c, why)
	}
	var ds []Destination
	for _, token := range strings.FieldsFunc(item, func(r rune) bool { return strings.ContainsRune(" \t\r\n<>()[]\",;:\\", r) }) {
		if c, why, ok := canonicalAddress(token); ok {
			ds = append(ds, one(Email, token, c, first(first(odd, why), "more than an address"))...)
		}
	}
	if ds == nil && strings.Contains(strings.Trim(item, "@"), "@") {
		return one(Email, item, wideCanonical(item), "unreadable address")
	}
	return ds
}

// oddName judges the display name: plain words, or one quoted string without anything that a careless splitter cuts at.
func oddName(name string) string {
	if len(name) >= 2 && name[0] == '"' && name[len(name)-1] == '"' {
		name = name[1 : len(name)-1]
	}
	if strings.ContainsAny(name, "@<>(),;:\\\"") {
		return "display name with separators in it"
	}
	return ""
}

// canonicalAddress reads local@domain. ok is false when it has not that shape at all; odd says why it is no address
// that everybody reads alike: quoted or percent-hacked local parts, bang paths, doubled dots, odd domains.
func canonicalAddress(s string) (canonical, odd string, ok bool) {
	at := strings.IndexByte(s, '@')
	if at < 1 || at == len(s)-1 || strings.Count(s, "@") != 1 || strings.ContainsAny(s, " \t\r\n<>,;()[]\\\":") {
		return "", "", false
	}
	local := strings.ToLower(s[:at])
	switch {
	case ascii(local) && !ascii(s[:at]):
		odd = "characters that are read as others before the @"
	case strings.ContainsAny(local, "%!|/`^"):
		odd = "routing characters in the address"
	case local[0] == '.' || local[len(local)-1] == '.' || strings.Contains(local, ".."):
		odd = "misplaced dots in the address"
	case local[0] == '~':
		odd = "address that looks like a path"
	case !ascii(local):
		odd = "characters beyond ASCII before the @"
	case len(local) > 64:
		odd = "overlong address"
	}
	host, why := CanonicalHost(s[at+1:])
	if why == "" && strings.HasSuffix(s, ".") {
		why = "dot at the end of the address"
	}
	if why == "" && numeric(host[strings.LastIndexByte(host, '.')+1:]) {
		why = "address at a bare IP"
	}
	return local + "@" + host, first(odd, why), true
}

// parseMailto reads a mailto URL: its recipients and those in its to, cc and bcc fields are all destinations (A35).
func parseMailto(text string) []Destination {
	if len(text) < 7 || !strings.EqualFold(text[:7], "mailto:") {
		return nil
	}
	to, query, _ := strings.Cut(text[7:], "?")
	lists, odd := []string{to}, ""
	for _, field := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == '#' }) {
		name, value, _ := strings.Cut(field, "=")
		switch strings.ToLower(unescapeOnce(strings.TrimSpace(strings.TrimPrefix(name, "amp;")))) {
		case "to", "cc", "bcc":
			lists = append(lists, value)
		case "subject", "body":
		default:
			odd = "unknown field in a mailto URL"
		}
	}
	var ds []Destination
	for _, l := range lists {
		plain, err := url.PathUnescape(l)
		if err != nil {
			odd, plain = first(odd, "invalid percent encoding"), unescapeOnce(l)
		}
		if l == "" {
			continue
		}
		plain, why := clean(plain)
		if strings.ContainsAny(plain, "%\n") {
			why = first(why, "line break or percent sign in an address")
		}
		got := parseEmails(plain)
		if got == nil {
			got = one(Opaque, l, opaqueCanonical(plain), "no address in a mailto URL")
		}
		for i := range got {
			got[i].Ambiguous = first(got[i].Ambiguous, why)
		}
		ds = append(ds, got...)
	}
	if len(ds) > maxRecipients {
		ds = append(ds[:maxRecipients], one(Opaque, text, "", "more than 1000 recipients")...)
	}
	for i := range ds {
		ds[i].Ambiguous = first(ds[i].Ambiguous, odd)
	}
	if ds == nil {
		return one(Opaque, text, opaqueCanonical(text), "mailto URL without an address")
	}
	return ds
}
