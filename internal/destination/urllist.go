package destination

import "strings"

const inList = "several destinations in one value"

// severalURLs splits a value that holds a URL and something else that a server could take for a destination, at blanks,
// commas and semicolons (A37). No server says how it takes such a value, so none of it is trusted. It returns nil for
// a single URL, whatever its punctuation, and for what is no URL.
func severalURLs(text string) []Destination {
	if !strings.ContainsAny(text, ",; \t\r\n") || !webLike(text) && strings.Count(text, "://") < 2 {
		return nil
	}
	var ds []Destination
	urls := 0
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",; \t\r\n", r) }) {
		if len(ds) >= maxRecipients {
			ds = append(ds, one(Opaque, text, "", "more than 1000 URLs")...)
			break
		}
		got := listed(bare(item))
		ds = append(ds, got...)
		if len(got) == 1 && got[0].Kind != Email {
			urls++
		}
	}
	if len(ds) < 2 || urls == 0 || urls == 1 && !webLike(text) {
		return nil
	}
	if compact := withoutBreaks.Replace(text); compact != text { // browsers drop line breaks: "https://ev\nil.example"
		ds = append(ds, listed(compact)...)
	}
	for i := range ds {
		ds[i].Ambiguous = first(ds[i].Ambiguous, inList)
	}
	return ds
}

// bare takes off the brackets and quotes around an item, but not those of an IPv6 address.
func bare(item string) string {
	item = strings.TrimLeft(item, `<>"'([{`)
	if strings.Contains(item, "[") {
		return strings.TrimRight(item, `<>"')}`)
	}
	return strings.TrimRight(item, `<>"')}]`)
}

// webLike reports whether a value starts as a web URL does, with or without its scheme.
func webLike(text string) bool {
	scheme, _, ok := cutScheme(withoutBreaks.Replace(text))
	return ok && (scheme == "http" || scheme == "https") || strings.HasPrefix(text, "//")
}

// listed reads one item of such a list, and returns nil for what nobody would take for a destination.
func listed(item string) []Destination {
	scheme, rest, ok := cutScheme(item)
	switch {
	case ok && (scheme == "http" || scheme == "https"):
		return []Destination{webURL(item, scheme, rest, inList)}
	case strings.HasPrefix(item, "//") && len(item) > 2:
		return []Destination{webURL(item, "https", item, inList)}
	}
	for _, kind := range []func(string) []Destination{parseMailto, parseRemote, parseEmails, parseHost} {
		if ds := kind(item); ds != nil {
			return ds
		}
	}
	return nil
}

func parseRemote(item string) []Destination {
	if remoteHost(item) == "" {
		return nil
	}
	return one(Opaque, item, opaqueCanonical(item), "")
}
