package jsonrpc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// body returns a server's answer of about n bytes: one long text with an escape a line, one without, or many small
// objects.
func body(kind string, n int) []byte {
	unit := map[string]string{
		"text":   `The quarterly report is attached; \"net\" figures are on page 7, as agreed last week.\n`,
		"plain":  `The quarterly report is attached; net figures are on page 7, as agreed last week. `,
		"cjk":    `四半期報告書を添付します。`,
		"struct": `{"id":725653563933458432,"name":"report","ok":true,"tags":["a","b"],"size":1.5e3},`,
	}[kind]
	text := strings.Repeat(unit, n/len(unit)+1)
	if kind == "struct" {
		return []byte(`{"jsonrpc":"2.0","id":1,"result":{"rows":[` + strings.TrimSuffix(text, ",") + `]}}`)
	}
	return []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`)
}

func benchBodies(b *testing.B, run func(frame []byte) bool) {
	for _, kind := range []string{"text", "plain", "cjk", "struct"} {
		for _, size := range []int{1 << 10, 10 << 10, 1 << 20} {
			frame := body(kind, size)
			b.Run(fmt.Sprintf("%s-%dK", kind, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(frame)))
				b.ReportAllocs()
				for b.Loop() {
					if !run(frame) {
						b.Fatal("refused")
					}
				}
			})
		}
	}
}

func BenchmarkParseClient(b *testing.B) {
	benchBodies(b, func(f []byte) bool { _, err := Parse(f, FromClient); return err == nil })
}

func BenchmarkParseServer(b *testing.B) {
	benchBodies(b, func(f []byte) bool { _, err := Parse(f, FromServer); return err == nil })
}

func BenchmarkJSONText(b *testing.B) {
	benchBodies(b, func(f []byte) bool { return jsontext.Value(f).IsValid() })
}

func BenchmarkDecode(b *testing.B) {
	benchBodies(b, func(f []byte) bool { _, err := Decode(f); return err == nil })
}

func BenchmarkReader(b *testing.B) {
	for _, size := range []int{100, 10 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			r := NewReader(&endless{text: []byte(strings.Repeat("x", size) + "\n")}, 0)
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSkim(b *testing.B) {
	for _, kind := range []string{"text", "struct"} {
		frame := body(kind, 1<<20)
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				var k skim
				if k.feed(frame); k.id().IsZero() {
					b.Fatal("no id")
				}
			}
		})
	}
}
