package provenance

import "bytes"

// finding is one typed destination in a normalised text.
type finding struct {
	kind  byte // 'e' address, 'h' host
	local []byte
	host  []byte
	at    int
}

// typed appends the addresses and hosts in a normalised text. It looks only around '@', "://" and dots inside words,
// and at each byte a few times at most: expansion from one '@' stops at the next, and a dotted word is read once.
func typed(out []finding, text []byte) []finding {
	for i := 0; ; i++ {
		j := bytes.IndexByte(text[i:], '@')
		if j < 0 {
			break
		}
		i += j
		out = address(out, text, i)
	}
	for i := 0; ; i += 3 {
		j := bytes.Index(text[i:], []byte("://"))
		if j < 0 {
			break
		}
		i += j
		out = host(out, text, i+3)
	}
	out = phones(out, text)
	for i := 0; i < len(text); {
		j := bytes.IndexByte(text[i:], '.')
		if j < 0 {
			break
		}
		out, i = bareHost(out, text, i, i+j)
	}
	return out
}

// apart appends what stands between the seams of a text: there, invisible characters are read as ends. A reader that
// drops them sees the text that typed saw.
func apart(out []finding, text []byte, seams []int) []finding {
	if len(seams) == 0 {
		return out
	}
	from := 0
	for i := range len(seams) + 1 {
		to := len(text)
		if i < len(seams) {
			to = min(seams[i], to)
		}
		n := len(out)
		if out = typed(out, text[from:to]); from > 0 {
			for k := range out[n:] {
				out[n+k].at += from
			}
		}
		from = to
	}
	return out
}

// bareHost takes a dotted word for a host without a scheme (evil.example/drop), unless it is a part of an address, of
// a file's path or of something longer. It returns where to go on. Most dots end a sentence and cost one look.
func bareHost(out []finding, text []byte, from, dot int) ([]finding, int) {
	if dot == from || dot+1 == len(text) || text[dot+1] == '.' || class[text[dot+1]]&inHost == 0 || class[text[dot-1]]&inHost == 0 {
		return out, dot + 1
	}
	start, end := runStart(text, dot, from), runEnd(text, dot, len(text))
	if end-start < 3 {
		return out, max(end, dot+1)
	}
	r := run{text: text[start:end], at: start}
	r.openEnd = end == len(text) || text[end] != '@'
	r.openStart = start == 0 || text[start-1] != '@' && (text[start-1] != '/' || start > 1 && text[start-2] == '/')
	return r.hosts(out), end
}

// likely keeps numbers, dates and versions out: a host ends in letters or is a whole IPv4 address.
func likely(h []byte) bool {
	last := h[bytes.LastIndexByte(h, '.')+1:]
	if len(last) < 2 || last[0] < 'a' {
		return bytes.Count(h, []byte(".")) == 3 && len(last) > 0 && last[0] >= '0' && last[0] <= '9'
	}
	return true
}

// address reads around an '@', forwards once and backwards three times: as far as an ordinary local part reaches, any
// letters, and everything that a local part may hold.
func address(out []finding, text []byte, at int) []finding {
	word, letters, local := at, at, at
	for word > 0 && class[text[word-1]]&inWord != 0 && at-word < 64 {
		word--
	}
	for local > 0 && class[text[local-1]]&inLocal != 0 && at-local < 64 {
		local--
	}
	for letters > local {
		n := runeBefore(text[local:letters], inLocal)
		if n == 0 {
			break
		}
		letters -= n
	}
	end := runEnd(text, at+1, min(len(text), at+512))
	if local == at || end == at+1 {
		return out
	}
	for word < at && (text[word] == '.' || text[word] == '-') { // a list's dash, an ellipsis
		word++
	}
	for i, domain := range prefixes(text[at+1 : end]) {
		if domain = bytes.TrimRight(domain, ".-_%"); len(domain) == 0 || i > 0 && bytes.IndexByte(domain, '.') < 0 {
			continue
		}
		domain = canonicalHost(domain)
		if word < at {
			out = append(out, finding{'e', text[word:at], domain, word})
		}
		if letters != word && letters < at {
			out = append(out, finding{'e', text[letters:at], domain, letters})
		}
		if local != word && local != letters {
			out = append(out, finding{'e', text[local:at], domain, local})
		}
		if i == 0 && remote(text[end:]) { // git@evil.example:other/x.git (A25)
			out = append(out, finding{'h', nil, domain, at + 1})
		}
	}
	return out
}

// remote reports whether what follows user@host makes it a place for scp and git.
func remote(rest []byte) bool {
	return len(rest) > 1 && rest[0] == ':' && (class[rest[1]]&inHost != 0 || rest[1] == '/' || rest[1] == '~')
}

// host reads what follows "://".
func host(out []finding, text []byte, from int) []finding {
	end := from
	for end < len(text) && end-from < 512 {
		c := text[end]
		if c == '/' || c == '?' || c == '#' || c == '\\' || c == ' ' || c == '"' || c == '<' || c == '>' || c == '\'' || c == ')' || c == ',' {
			break
		}
		end++
	}
	for _, authority := range prefixes(text[from:end]) {
		out = authorityHost(out, authority, from)
	}
	return out
}

func authorityHost(out []finding, authority []byte, from int) []finding {
	if i := bytes.LastIndexByte(authority, '@'); i >= 0 {
		from += i + 1
		authority = authority[i+1:]
	}
	if i := bytes.LastIndexByte(authority, ':'); i > bytes.LastIndexByte(authority, ']') {
		authority = authority[:i]
	}
	if n := bytes.IndexByte(authority, ']'); n >= 0 {
		authority = authority[:n+1]
	} else {
		authority = bytes.TrimRight(authority, ".;:!*_`|}")
	}
	if len(authority) == 0 {
		return out
	}
	return append(out, finding{'h', nil, canonicalHost(authority), from})
}

// phones appends the telephone numbers that are written with a plus, and what messengers make of them.
func phones(out []finding, text []byte) []finding {
	for i := 0; ; i++ {
		j := bytes.IndexByte(text[i:], '+')
		if j < 0 {
			break
		}
		i += j
		out = phone(out, text, i)
	}
	for _, host := range [][]byte{[]byte("@s.whatsapp.net"), []byte("@c.us")} {
		for i := 0; ; i++ {
			j := bytes.Index(text[i:], host)
			if j < 0 {
				break
			}
			i += j
			from := i
			for from > 0 && i-from < 16 && text[from-1] >= '0' && text[from-1] <= '9' {
				from--
			}
			if i-from >= 8 && i-from <= 15 {
				out = append(out, finding{'p', nil, text[from:i], from})
			}
		}
	}
	return out
}

// phone reads the digits behind a plus. Where they are followed by more numbers, every length from eight digits on is one reading.
func phone(out []finding, text []byte, plus int) []finding {
	digits := make([]byte, 0, 15)
	for i := plus + 1; i < len(text) && len(digits) < 15; i++ {
		c := text[i]
		switch {
		case c >= '0' && c <= '9':
			if digits = append(digits, c); len(digits) >= 8 && (i+1 == len(text) || text[i+1] < '0' || text[i+1] > '9') {
				out = append(out, finding{'p', nil, bytes.Clone(digits), plus})
			}
		case bytes.IndexByte([]byte(" ()-./"), c) < 0:
			return out
		}
	}
	return out
}
