package provenance

import (
	"bytes"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// whole reports whether the needle that begins at text[at] is a token of its own: no letter or digit goes on with it, nor
// a dot with more of a host behind, nor, for an address, more of a local part before it.
func whole(text []byte, at int, needle string) bool {
	first, last := needle[0], needle[len(needle)-1]
	mail := strings.IndexByte(needle, '@') > 0
	if at > 0 {
		before := text[at-1]
		if letter(first) && letter(before) || mail && strings.IndexByte(".-_+", before) >= 0 {
			return false
		}
	}
	end := at + len(needle)
	if end >= len(text) || !letter(last) {
		return true
	}
	if letter(text[end]) {
		return false
	}
	named := mail || strings.IndexByte(needle, '.') > 0
	return !(named && (text[end] == '.' || text[end] == '-') && end+1 < len(text) && letter(text[end+1]))
}

// letter reports a byte of a letter or a digit. Everything beyond ASCII is taken for one, which may miss a token between
// ideographs: it is then unproven.
func letter(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// parents returns the hosts above host, down to the registered one: who holds evil.example holds x.evil.example. Under
// Substring there are none.
func parents(host string, how Matching) (out []string) {
	if how != Tokens {
		return nil
	}
	root, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return nil
	}
	for len(host) > len(root) {
		host = host[strings.IndexByte(host, '.')+1:]
		out = append(out, host)
	}
	return out
}

// grouped spells an account as it is printed.
func grouped(account string) string {
	var b strings.Builder
	for i, c := range []byte(account) {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Verbatim returns where a URL stood as a whole in the spelling raw, its scheme and a last slash apart. Of the first
// sightings one that the user pointed at is preferred. A bound that is reached is no sighting: Verbatim may loosen.
func (ix *Index) Verbatim(raw string) (Sighting, bool) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	needle := destination.Normalise(raw)
	for _, scheme := range []string{"https://", "http://"} {
		needle = strings.TrimPrefix(needle, scheme)
	}
	needle = strings.TrimSuffix(needle, "/")
	if len(needle) < minRunes {
		return Sighting{}, false
	}
	const most = 64
	var best Sighting
	work, found := workPerFind, 0
	ix.arena.search([]byte(needle), &work, func(text []byte, at int) bool {
		if !wholeURL(text, at, len(needle)) {
			return false
		}
		chunk := ix.arena.chunkOf(text)
		if chunk == nil {
			return false
		}
		s := ix.sighting(hit{present, uint64(chunk.first)<<blockBits + uint64(at)}, Text)
		if strings.Contains(s.Field, through) {
			return false // a disguise is not how it stood there
		}
		if found++; found == 1 || s.Source.Named {
			best = s
		}
		return s.Source.Named || found == most
	})
	return best, found > 0
}

// wholeURL reports whether nothing goes on with the URL at either end.
func wholeURL(text []byte, at, n int) bool {
	before := bytes.TrimSuffix(bytes.TrimSuffix(text[:at], []byte("http://")), []byte("https://"))
	if k := len(before); k > 0 && (letter(before[k-1]) || strings.IndexByte("/.-_@%=&#?+~", before[k-1]) >= 0) {
		return false
	}
	after := text[at+n:]
	if len(after) > 0 && after[0] == '/' {
		after = after[1:]
	}
	if len(after) == 0 || !letter(after[0]) && strings.IndexByte("/?#&=%_-~@:+.!;,", after[0]) < 0 {
		return true
	}
	return strings.IndexByte(".,:;!?", after[0]) >= 0 && (len(after) == 1 || !letter(after[1]) && strings.IndexByte("/?#&=%_-~@", after[1]) < 0)
}
