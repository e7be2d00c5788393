package provenance

import (
	"bytes"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// finding is one typed destination in a normalised text.
type finding struct {
	kind  byte // 'e' address, 'h' host
	local []byte
	host  []byte
	at    int
}

// class says where a byte of normalised text may stand.
const (
	inWord  = 1 << iota // of an ordinary local part
	inLocal             // of any local part
	inHost
)

var class = func() (t [256]uint8) {
	for i := range t {
		c := byte(i)
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			t[i] = inWord | inLocal | inHost
		case c >= 0x80:
			t[i] = inLocal | inHost
		case c == '+':
			t[i] = inWord | inLocal
		case bytes.IndexByte([]byte("!#$&'*/=?^`{|}~%"), c) >= 0:
			t[i] = inLocal
		}
		if c == '%' {
			t[i] |= inHost
		}
	}
	return t
}()

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
	for i := 0; i < len(text); {
		j := bytes.IndexByte(text[i:], '.')
		if j < 0 {
			break
		}
		out, i = bareHost(out, text, i, i+j)
	}
	return out
}

// bareHost takes a dotted word for a host without a scheme (evil.example/drop), unless it is a part of an address, of
// a file's path or of something longer. It returns where to go on. Most dots end a sentence and cost one look.
func bareHost(out []finding, text []byte, from, dot int) ([]finding, int) {
	if dot == from || dot+1 == len(text) || class[text[dot+1]]&inHost == 0 || class[text[dot-1]]&inHost == 0 {
		return out, dot + 1
	}
	start, end := dot, dot
	for start > from && class[text[start-1]]&inHost != 0 {
		start--
	}
	for end < len(text) && class[text[end]]&inHost != 0 {
		end++
	}
	word := bytes.Trim(text[start:end], ".-_")
	switch {
	case len(word) > 253 || bytes.IndexByte(word, '.') < 0:
	case end < len(text) && text[end] == '@':
	case start > 0 && (text[start-1] == '@' || text[start-1] == '/' && (start < 2 || text[start-2] != '/')):
	default:
		if likely(word) {
			at := start + bytes.IndexByte(text[start:end], word[0])
			out = append(out, finding{'h', nil, canonicalHost(word), at})
		}
	}
	return out, end
}

// likely keeps numbers, dates and versions out: a host ends in letters or is a whole IPv4 address.
func likely(h []byte) bool {
	last := h[bytes.LastIndexByte(h, '.')+1:]
	if len(last) < 2 || last[0] < 'a' {
		return bytes.Count(h, []byte(".")) == 3 && len(last) > 0 && last[0] >= '0' && last[0] <= '9'
	}
	return true
}

func address(out []finding, text []byte, at int) []finding {
	end := at + 1
	for end < len(text) && class[text[end]]&inHost != 0 && end-at < 512 {
		end++
	}
	domain := bytes.TrimRight(text[at+1:end], ".-_%")
	word, local := at, at
	for word > 0 && class[text[word-1]]&inWord != 0 && at-word < 64 {
		word--
	}
	for local > 0 && class[text[local-1]]&inLocal != 0 && at-local < 64 {
		local--
	}
	if len(domain) == 0 || local == at {
		return out
	}
	domain = canonicalHost(domain)
	for word < at && (text[word] == '.' || text[word] == '-') { // a list's dash, an ellipsis
		word++
	}
	if word < at {
		out = append(out, finding{'e', text[word:at], domain, word})
	}
	if local != word {
		out = append(out, finding{'e', text[local:at], domain, local})
	}
	return out
}

// canonicalHost is destination.CanonicalHost without its cost for what is canonical already, which is nearly all.
func canonicalHost(h []byte) []byte {
	last := h[bytes.LastIndexByte(h, '.')+1:]
	plain := len(last) > 0 && last[0] >= 'a' && last[0] <= 'z'
	for _, c := range h {
		plain = plain && c < 0x80 && c != '%' && class[c]&inHost != 0
	}
	if plain {
		return h
	}
	canonical, _ := destination.CanonicalHost(string(h))
	return []byte(canonical)
}

func host(out []finding, text []byte, from int) []finding {
	end := from
	for end < len(text) && end-from < 512 {
		c := text[end]
		if c == '/' || c == '?' || c == '#' || c == '\\' || c == ' ' || c == '"' || c == '<' || c == '>' || c == '\'' || c == ')' || c == ',' {
			break
		}
		end++
	}
	authority := text[from:end]
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
