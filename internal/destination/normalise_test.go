package destination

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"  A \t\n B  ":                  "a b",
		"ABCDEFGHIJ KLMNOP[@`{":         "abcdefghij klmnop[@`{",
		"spy\u200b@\u00adEvil.Example":  "spy@evil.example",
		"\ufeffx\U000e0041y":            "xy",
		"ｓｐｙ＠ｅｖｉｌ":                      "spy@evil",
		"a\u00a0\u3000b":                "a b",
		"a\x00b\x7fc":                   "abc",
		"Straße ﬁ":                      "strasse fi",
		"evil.example\u0301":            "evil.example\u0301", // the mark must not swallow the e
		"\u00e9":                        "e\u0301",
		"a\u0301\u0323":                 "a\u0323\u0301",
		"a\u0301\x01\u034f\u0323":       "a\u0323\u0301",
		"\u212a\u017f":                  "ks",
		"\u00a0x\u00a0":                 "x",
		"aaaaaaa bbbbbbb  ccccccccccc ": "aaaaaaa bbbbbbb ccccccccccc",
		"\xff\xfe":                      "\ufffd\ufffd",
	} {
		if got := Normalise(in); got != want {
			t.Errorf("Normalise(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSeams(t *testing.T) {
	for in, want := range map[string][]int{
		"":                            nil,
		"plain, é 漢":                  nil,
		"ab\u200bcd":                  {2},
		"ab\u200b\u200b\ufeffcd":      {2},
		"a\x00b\u00adc\x1b\u200bé":    {1, 2, 3},
		"\u200bab \u200b":             {0, 2},
		"ab™":                         {2, 4},
		"ab²c":                        {2, 3},
		"ａ．ｂ":                         {1, 2},
		"a\u00a0b\u2003c \u3000":      nil,
		"12345678abcdefgh\x07ijklmno": {16},
	} {
		got, seams := AppendNormalisedSeams(nil, []byte(in), nil)
		if diff := cmp.Diff(want, seams); diff != "" {
			t.Errorf("seams of %q in %q (-want +got):\n%s", in, got, diff)
		}
	}
}

// slowNormalise says in the plainest way what Normalise must do.
func slowNormalise(s string) string {
	var valid strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if !ignorable(r) && (unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f || !unicode.IsControl(r)) {
			valid.WriteRune(r)
		}
	}
	caser := cases.Fold()
	text := valid.String()
	for range 4 {
		text = strings.ReplaceAll(norm.NFKD.String(text), "\u0345", "")
		text = norm.NFKD.String(caser.String(text))
	}
	text = strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		if r >= 0x1c && r <= 0x1f {
			return ' '
		}
		return r
	}, text)
	return norm.NFKD.String(strings.Join(strings.Fields(text), " "))
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"", "A  b", "e\u0301\u0323", "\u0345\u0301", "x\u1160y", "\u00b4 \u00b4", "12345678 ABCDEFG\tx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Normalise(s)
		if want := slowNormalise(s); got != want {
			t.Fatalf("Normalise(%q) = %q, the slow one says %q", s, got, want)
		}
		if same, seams := AppendNormalisedSeams([]byte("x"), []byte(s), nil); string(same) != "x"+got || !slices.IsSorted(seams) ||
			len(seams) > 0 && (seams[0] < 1 || seams[len(seams)-1] > len(same)) {
			t.Fatalf("%q with seams %v, without %q", same, seams, got)
		}
		if again := Normalise(got); again != got {
			t.Fatalf("not idempotent: %q, %q", got, again)
		}
		for i := 0; i < len(got); i++ {
			if got[i] < 0x20 {
				t.Fatalf("control character in %q", got)
			}
		}
	})
}

func TestNormaliseKeepsSubstrings(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "B", "Z", " ", "\n", "\t", "@", ".", "e", "\x00", "é", "\u0301", "ß", "\u200b", "漢", "한"}
	for range 20000 {
		var b strings.Builder
		for range rng.IntN(60) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		s := b.String()
		i := rng.IntN(len(s) + 1)
		j := i + rng.IntN(len(s)+1-i)
		if !utf8.ValidString(s[i:j]) || cutsMarks(s, i) || cutsMarks(s, j) {
			continue
		}
		if n := Normalise(s[i:j]); !strings.Contains(Normalise(s), n) {
			t.Fatalf("%q in %q: %q not in %q", s[i:j], s, n, Normalise(s))
		}
	}
}

// cutsMarks reports whether a cut falls where marks may change places.
func cutsMarks(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r == '\u0301' || r == 0 || r == '\u200b'
}

func BenchmarkNormalise(b *testing.B) {
	ascii := []byte(strings.Repeat("Please forward the Report to Alice@corp.example, see https://docs.corp.example/a?b=1 for more.\n", 1000))
	mixed := []byte(strings.Repeat("Größe über alles; 漢字かな交じり文 and some English, привет мир. ", 1000))
	for name, src := range map[string][]byte{"ascii": ascii, "mixed": mixed} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			var dst []byte
			for b.Loop() {
				dst = AppendNormalised(dst[:0], src)
			}
		})
	}
}
