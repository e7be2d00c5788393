package destination

import "strings"

// remoteHost returns the host that scheme://[user@]host[:port]/path or [user@]host:path names, in canonical form, and
// "" for every other text. Repositories, file servers and sockets are reached by these (A25, A35). The value as a whole
// stays what trust compares.
func remoteHost(text string) string {
	authority := ""
	if before, after, ok := strings.Cut(text, "://"); ok {
		if !schemes(before) {
			return ""
		}
		authority = after
		if end := strings.IndexAny(after, `/?#\`); end >= 0 {
			authority = after[:end]
		}
		authority = authority[strings.LastIndexByte(authority, '@')+1:]
		if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
			authority = authority[:i]
		}
	} else {
		authority = scpHost(text)
	}
	if authority == "" {
		return ""
	}
	host, _ := CanonicalHost(authority)
	return host
}

// schemes reports whether s is a scheme, or several of them: view-source:https, jdbc:mysql, git+ssh.
func schemes(s string) bool {
	for part := range strings.SplitSeq(s, ":") {
		if _, _, ok := cutScheme(part + ":"); !ok {
			return false
		}
	}
	return true
}

// scpHost returns the host of [user@]host:path as it is written. Without a user it must be a name that can be looked up:
// "key:value" and "main.go:12" are none.
func scpHost(s string) string {
	user, rest, ok := strings.Cut(s, "@")
	if !ok {
		user, rest = "", s
	}
	colon := strings.IndexByte(rest, ':')
	if strings.HasPrefix(rest, "[") {
		end := strings.IndexByte(rest, ']')
		if colon = end + 1; end < 0 || colon == len(rest) || rest[colon] != ':' {
			return ""
		}
	}
	if colon < 1 || colon == len(rest)-1 || strings.ContainsAny(user+rest[:colon], " \t\r\n,;<>\"()/\\") || ok && user == "" {
		return ""
	}
	if host, _ := CanonicalHost(rest[:colon]); !ok && !publicName(host) && strings.Count(rest[:colon], ".") != 3 {
		return ""
	}
	return rest[:colon]
}

// scpLike reports git's user@host:path, which is no address.
func scpLike(s string) bool {
	at, colon := strings.IndexByte(s, '@'), strings.IndexByte(s, ':')
	return at > 0 && colon > at+1 && strings.Count(s, "@") == 1 && !strings.ContainsAny(s, " \t\r\n,;<>\"()") && colon < len(s)-1
}
