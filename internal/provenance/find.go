package provenance

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Find returns the first sighting of d, if anything that was observed taints it:
//
//   - an address, or the host of a URL or of a remote (ssh://, git@host:path), in canonical form, that stood there as a
//     destination, whatever its length;
//   - the normalised form of d as it was written, of its canonical form, or of extra, when it has at least six
//     characters, anywhere in one leaf, as a plain substring.
//
// extra are other spellings of d. When a bound was reached before d could be ruled out, the sighting's Match is Bound.
func (ix *Index) Find(d destination.Destination, extra ...string) (Sighting, bool) {
	return ix.find(d, Substring, extra)
}

// FindTokens is Find, but that text counts only as whole tokens, that a host is tainted by its parents down to the one
// that is registered, and that an account is looked for in groups of four as well.
func (ix *Index) FindTokens(d destination.Destination, extra ...string) (Sighting, bool) {
	if d.Kind == destination.Account {
		extra = append(extra, grouped(d.Canonical))
	}
	return ix.find(d, Tokens, extra)
}

func (ix *Index) find(d destination.Destination, how Matching, extra []string) (Sighting, bool) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	work := workPerFind
	best := hit{}
	switch d.Kind {
	case destination.Phone:
		best = ix.findKey('p', "", d.Canonical[1:])
	case destination.Email:
		local, _, _ := strings.Cut(d.Canonical, "@")
		best = ix.findKey('e', local, d.Host())
	default:
		if host := d.Host(); host != "" {
			best = ix.findKey('h', "", host)
			for _, parent := range parents(host, how) {
				best = best.earlier(ix.findKey('h', "", parent))
			}
		}
	}
	if best.outcome == present {
		return ix.sighting(best, Exact), true
	}
	spellings := append([]string{d.Raw, d.Canonical, strings.TrimPrefix(d.Canonical, "./")}, extra...)
	for i, s := range spellings {
		needle := destination.Normalise(s)
		if i > 0 && needle == destination.Normalise(spellings[i-1]) {
			continue
		}
		best = best.earlier(ix.findText(needle, &work, how))
	}
	return ix.sighting(best, Text), best.outcome != absent
}

// FindText returns the first sighting of s as text: its normalised form, of at least six characters, anywhere in one
// leaf.
func (ix *Index) FindText(s string) (Sighting, bool) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	work := workPerFind
	h := ix.findText(destination.Normalise(s), &work, Substring)
	return ix.sighting(h, Text), h.outcome != absent
}

// hit is where a search ended.
type hit struct {
	outcome outcome
	pos     uint64
}

// earlier prefers what was seen to what could not be ruled out, and the first sighting to later ones.
func (h hit) earlier(o hit) hit {
	switch {
	case o.outcome == absent:
		return h
	case h.outcome == absent, h.outcome == unknown && o.outcome == present:
		return o
	case h.outcome == o.outcome && o.pos < h.pos:
		return o
	}
	return h
}

func (ix *Index) findKey(kind byte, local, host string) hit {
	pos, ok := ix.keys[ix.key(kind, []byte(destination.Normalise(local)), []byte(host))]
	switch {
	case ok:
		return hit{present, pos}
	case ix.lost:
		return hit{unknown, ix.arena.next()}
	}
	return hit{}
}

func (ix *Index) findText(needle string, work *int, how Matching) hit {
	if count := utf8.RuneCountInString(needle); count < minRunes || count < len(needle) && utf8.RuneCountInString(norm.NFC.String(needle)) < minRunes {
		return hit{}
	}
	var accept func([]byte, int) bool
	if how == Tokens {
		accept = func(text []byte, at int) bool { return whole(text, at, needle) }
	}
	pos, o := ix.arena.search([]byte(needle), work, accept)
	return hit{o, pos}
}

// sighting collects the evidence for a hit.
func (ix *Index) sighting(h hit, match string) Sighting {
	if h.outcome == absent {
		return Sighting{}
	}
	src, field, start := ix.book.find(h.pos)
	s := Sighting{Source: src, Field: field, Match: match}
	if h.outcome == unknown {
		s.Match = Bound
		s.Snippet = "too much was seen to rule it out"
		return s
	}
	c := ix.arena.at(int(h.pos >> blockBits))
	if c == nil || c.data == nil { // the key was kept, the text was not
		s.Snippet = "seen; its text is no longer kept"
		return s
	}
	base := uint64(c.first) << blockBits
	leaf := c.data[start-base : c.used]
	if end := bytes.IndexByte(leaf, 0); end >= 0 {
		leaf = leaf[:end]
	}
	at := int(h.pos - start)
	if inner := innerPlace(leaf, at); inner != "" && !strings.HasSuffix(field, inner) {
		s.Field = strings.TrimPrefix(field+" → "+inner, " → ")
	}
	s.Snippet = snippet(leaf, at)
	return s
}

// snippet is the text around an offset, at most 120 characters, composed again for the eye.
func snippet(leaf []byte, at int) string {
	const before = 40
	lo, prefix := 0, ""
	if at > before {
		lo, prefix = at-before, "…"
		for lo < at && !utf8.RuneStart(leaf[lo]) {
			lo++
		}
	}
	hi := min(len(leaf), lo+1000)
	return destination.Visible(prefix+norm.NFC.String(strings.ToValidUTF8(string(leaf[lo:hi]), "")), 120)
}
