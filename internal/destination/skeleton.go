package destination

import (
	"strings"
	"sync"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

var twins = sync.OnceValue(func() map[rune]byte {
	out := map[rune]byte{}
	for to, group := range confusable {
		for _, r := range group {
			out[r] = to
		}
	}
	return out
})

// pairs are ASCII letters that look like others when they stand together or in some fonts.
var pairs = strings.NewReplacer("rn", "m", "vv", "w", "cl", "d", "0", "o", "1", "l", "|", "l", "5", "s")

// Skeleton returns a text as a hasty eye reads it: two texts with one skeleton look alike (UTS 39, with the usual pairs of ASCII
// letters). It compares; it is no spelling of anything.
func Skeleton(s string) string {
	if strings.Contains(s, "xn--") {
		if u, err := idna.ToUnicode(s); err == nil {
			s = u
		}
	}
	if !ascii(s) {
		var b strings.Builder
		for _, r := range norm.NFKD.String(s) {
			to, twin := twins()[r]
			switch {
			case twin:
				b.WriteByte(to)
			case r >= 0x300 && r < 0x370 || ignorable(r): // an accent is easily overlooked
			default:
				b.WriteRune(r)
			}
		}
		s = b.String()
	}
	return pairs.Replace(strings.ToLower(s))
}
