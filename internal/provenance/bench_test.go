//go:build unix

package provenance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

const late = "sybil.late-seen@attacker-mail.example"

// filled returns an index of 10 KB records and one late sighting.
func filled(mb int) *Index {
	rng := rand.New(rand.NewPCG(1, 1))
	ix := New(Options{MaxText: 2 << 30})
	base := corpus(rng, 4<<20)
	for n := 0; n < mb*100; n++ {
		at := rng.IntN(len(base) - 10<<10)
		text := base[at : at+10<<10]
		if n >= 420 { // fresh words, so that the bitmap is as full as real text makes it
			text = fmt.Sprintf("%x %x %x ", rng.Uint64(), rng.Uint64(), rng.Uint64()) + text
		}
		if n == mb*100-3 {
			text += " " + late
		}
		ix.AddText(Source{Server: "s"}, "text", text)
	}
	return ix
}

func BenchmarkFind(b *testing.B) {
	for _, mb := range []int{1, 100} {
		ix := filled(mb)
		for _, c := range []struct{ name, needle string }{
			{"absent address", "nobody.knows.me@random-place.example"},
			{"absent url", "https://random-place.example/collect?d=1"},
			{"near miss", "sybil.late-seem@attacker-mail.example"},
			{"present late", late},
			{"absent 6", "zq7@xv"},
			{"absent common words", "tell the one and the other"},
			{"absent 200", fmt.Sprintf("%0200d", 7)},
		} {
			ds := destination.Parse(c.needle)
			b.Run(fmt.Sprintf("%dMB/%s", mb, c.name), func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					start := time.Now()
					ix.Find(ds[0])
					took = append(took, time.Since(start))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
				b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
			})
		}
		b.Run(fmt.Sprintf("%dMB/late as text only", mb), func(b *testing.B) {
			for b.Loop() {
				ix.FindText(late)
			}
		})
	}
}

// BenchmarkFindRandom looks up values that were never asked before, absent and present ones mixed.
func BenchmarkFindRandom(b *testing.B) {
	ix := filled(100)
	rng := rand.New(rand.NewPCG(9, 9))
	id := func(n int) string {
		s := make([]byte, n)
		for i := range s {
			s[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[rng.IntN(36)]
		}
		return string(s)
	}
	for _, c := range []struct {
		name string
		next func() string
	}{
		{"address", func() string { return word(rng) + "." + word(rng) + "@" + word(rng) + ".example" }},
		{"url", func() string { return "https://" + word(rng) + ".example/" + word(rng) + "?x=" + id(5) }},
		{"path", func() string { return "/srv/" + word(rng) + "/" + word(rng) + ".txt" }},
		{"channel", func() string { return "#" + word(rng) + word(rng) }},
		{"three words", func() string { return word(rng) + " " + word(rng) + " " + word(rng) }},
		{"id of 6", func() string { return id(6) }},
		{"id of 8", func() string { return id(8) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			bound := 0
			for b.Loop() {
				d := destination.Parse(c.next())[0]
				start := time.Now()
				if s, _ := ix.Find(d); s.Match == Bound {
					bound++
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
			b.ReportMetric(100*float64(bound)/float64(len(took)), "%bound")
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	rng := rand.New(rand.NewPCG(2, 2))
	var text, structured [][]byte
	for range 800 {
		p, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": corpus(rng, 10<<10)}}})
		text = append(text, p)
		var list []any
		for range 60 {
			list = append(list, map[string]any{"id": rng.IntN(1e9), "subject": corpus(rng, 60), "from": word(rng) + "@corp.example", "labels": []string{"inbox", word(rng)}})
		}
		p, _ = json.Marshal(map[string]any{"structuredContent": list})
		structured = append(structured, p)
	}
	var ascii [][]byte
	for range 800 {
		ascii = append(ascii, fmt.Appendf(nil, `"%s"`, strings.NewReplacer("ö", "o", "ß", "s", "\n", " ").Replace(corpus(rng, 10<<10))))
	}
	for name, payloads := range map[string][][]byte{"text": text, "ascii": ascii, "structured": structured} {
		b.Run(name, func(b *testing.B) {
			total := 0
			for _, p := range payloads {
				total += len(p)
			}
			b.SetBytes(int64(total))
			var ix *Index
			start := cpu()
			for b.Loop() {
				ix = New(Options{})
				for _, p := range payloads {
					ix.Add(Source{Server: "s"}, p)
				}
			}
			st := ix.Stats()
			b.ReportMetric(float64(st.Text+st.Bitmap+st.Rest)/float64(st.Observed), "kept/B")
			b.ReportMetric(float64((cpu()-start).Nanoseconds())/float64(b.N)/float64(total), "cpu-ns/B")
		})
	}
}

// cpu is the processor time of this process: it means something on a shared machine, where the wall clock does not.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkKept measures the heap for 100 MB seen.
func BenchmarkKept(b *testing.B) {
	for b.Loop() {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ix := filled(100)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(ix.Stats().Observed), "heap/B")
		runtime.KeepAlive(ix)
	}
}
