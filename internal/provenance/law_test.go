package provenance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// corpus writes pseudo-words with addresses, URLs and paths among them, like records that tools return.
func corpus(rng *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		switch rng.IntN(40) {
		case 0:
			fmt.Fprintf(&b, "%s.%s@%s.example, ", word(rng), word(rng), word(rng))
		case 1:
			fmt.Fprintf(&b, "https://%s.example/%s/%d?x=%s ", word(rng), word(rng), rng.IntN(1e6), word(rng))
		case 2:
			fmt.Fprintf(&b, "/srv/%s/%s.txt\n", word(rng), word(rng))
		case 3:
			b.WriteString("Größe  ")
		default:
			b.WriteString(word(rng))
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// word draws from some 50,000 words, short ones far more often than long ones.
func word(rng *rand.Rand) string {
	f := rng.Float64()
	n := int(50000 * f * f * f * f)
	r := rand.New(rand.NewPCG(uint64(n), 7))
	w := make([]byte, 2+n%4+r.IntN(6))
	for i := range w {
		w[i] = "eeeeaaatttooiinnsshhrrddlluccmmwfgypbvkxjqz"[r.IntN(43)]
	}
	return string(w)
}

// TestNoFalseNegative compares with a plain search, both ways: everything that stands in one leaf is found, first
// sighting first, and nothing is found that stands in none.
func TestNoFalseNegative(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	ix := New(Options{})
	var leaves, folded []string
	for i := range 150 {
		size := 200 + rng.IntN(2000)
		if i%50 == 30 {
			size = 300_000 // larger than several blocks
		}
		leaf := corpus(rng, size)
		leaves = append(leaves, leaf)
		folded = append(folded, destination.Normalise(leaf))
		ix.AddText(mail, fmt.Sprint(i), leaf)
	}
	needles := 20_000
	if testing.Short() {
		needles = 2_000
	}
	for range needles {
		l := leaves[rng.IntN(len(leaves))]
		n := 6 + rng.IntN(20)
		if rng.IntN(50) == 0 {
			n = 6 + rng.IntN(len(l)-6)
		}
		i := rng.IntN(len(l) - n + 1)
		checkNeedle(t, ix, folded, l[i:i+n])
		if rng.IntN(4) == 0 { // a near miss
			b := []byte(l[i : i+n])
			b[rng.IntN(n)] = "qz7@ e"[rng.IntN(6)]
			checkNeedle(t, ix, folded, string(b))
		}
	}
}

func checkNeedle(t *testing.T, ix *Index, folded []string, needle string) {
	t.Helper()
	if !utf8.ValidString(needle) {
		return
	}
	norm := destination.Normalise(needle)
	if utf8.RuneCountInString(norm) < minRunes+2 { // what counts as a character is tested elsewhere
		return
	}
	want := ""
	for i, f := range folded {
		if strings.Contains(f, norm) {
			want = fmt.Sprint(i)
			break
		}
	}
	s, ok := ix.FindText(needle)
	if ok && strings.Contains(s.Field, through) {
		return // a disguise that the corpus has by chance
	}
	if ok != (want != "") || s.Field != want || ok && s.Match != Text {
		t.Fatalf("%q: %v %+v, a plain search says leaf %q", needle, ok, s, want)
	}
}

// TestMonotone adds more and more text and asks again: no sighting ever changes or goes away.
func TestMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ix := New(Options{MaxText: 1 << 20})
	type asked struct {
		needle string
		s      Sighting
	}
	var all []asked
	for i := range 300 {
		text := corpus(rng, 20_000)
		ix.AddText(mail, fmt.Sprint(i), text)
		at := rng.IntN(len(text) - 30)
		if s, ok := ix.FindText(text[at : at+30]); ok {
			all = append(all, asked{text[at : at+30], s})
		} else if utf8.ValidString(text[at : at+30]) {
			t.Fatalf("%q is not found right after it was added", text[at:at+30])
		}
		if i%20 != 0 {
			continue
		}
		for _, a := range all {
			s, ok := ix.FindText(a.needle)
			if !ok || a.s.Match == Text && s != a.s {
				t.Fatalf("%q was %+v, is %v %+v", a.needle, a.s, ok, s)
			}
		}
	}
	if !ix.Stats().Capped {
		t.Error("the cap was not reached: the test adds too little")
	}
}

func FuzzAdd(f *testing.F) {
	for _, s := range []string{`{"a":["x@y.example"]}`, `"{\"a\":\"b\\n\"}"`, "plain", `{"a":1}{`, `[[["\u0000"]]]`, "\"\xff\xfe\"", `"http://[::1]@a:b/"`} {
		f.Add([]byte(s), "needle")
	}
	f.Fuzz(func(t *testing.T, payload []byte, text string) {
		ix := New(Options{MaxText: 1 << 17})
		ix.Add(mail, payload)
		ix.AddText(mail, "t", text)
		if n := destination.Normalise(text); utf8.RuneCountInString(n) >= 3*minRunes {
			if s, ok := ix.FindText(text); !ok {
				t.Fatalf("%q is not found: %+v", text, s)
			}
		}
		for _, d := range destination.Parse(text) {
			ix.Find(d)
		}
		ix.FindText(string(payload))
	})
}
