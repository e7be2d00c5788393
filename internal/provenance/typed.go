package provenance

import (
	"bytes"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// finding is one typed destination in a normalised text.
type finding struct {
	kind      byte // 'e' address, 'h' host
	canonical string
	at        int
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

// typed appends the addresses and hosts in a normalised text. It looks only around '@' and "://", and each byte at
// most a few times: expansion from one '@' stops at the next. Hosts without a scheme are left to the text search, which
// finds them with their boundaries.
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
	return out
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
	host, _ := destination.CanonicalHost(string(domain))
	for word < at && (text[word] == '.' || text[word] == '-') { // a list's dash, an ellipsis
		word++
	}
	if word < at {
		out = append(out, finding{'e', string(text[word:at]) + "@" + host, word})
	}
	if local != word {
		out = append(out, finding{'e', string(text[local:at]) + "@" + host, local})
	}
	return out
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
	h, _ := destination.CanonicalHost(string(authority))
	return append(out, finding{'h', h, from})
}
