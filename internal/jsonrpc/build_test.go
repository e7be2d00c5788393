package jsonrpc

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func TestFrames(t *testing.T) {
	id, _ := ParseID([]byte(`"\u0061"`))
	tests := []struct {
		got  []byte
		want string
		from Side
	}{
		{ErrorFrame(id, -32600, "no \"x\"\n"), `{"jsonrpc":"2.0","id":"\u0061","error":{"code":-32600,"message":"no \"x\"\n"}}`, FromServer},
		{ErrorFrame(ID{}, -32700, "m"), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, FromServer},
		{ResultFrame(id, []byte("{\r\n}")), `{"jsonrpc":"2.0","id":"\u0061","result":{  }}`, FromServer},
		{ResultFrame(id, nil), `{"jsonrpc":"2.0","id":"\u0061","result":{}}`, FromServer},
		{RequestFrame(StringID("q"), "m", []byte(`{"a":1}`)), `{"jsonrpc":"2.0","id":"q","method":"m","params":{"a":1}}`, FromClient},
		{RequestFrame(StringID("q"), "m", nil), `{"jsonrpc":"2.0","id":"q","method":"m"}`, FromClient},
		{NotificationFrame("a/b", []byte("[\n]")), `{"jsonrpc":"2.0","method":"a/b","params":[ ]}`, FromClient},
		{NotificationFrame("a/b", nil), `{"jsonrpc":"2.0","method":"a/b"}`, FromClient},
	}
	for _, tt := range tests {
		if string(tt.got) != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
		if _, err := Parse(tt.got, tt.from); err != nil {
			t.Errorf("%s: %v", tt.got, err)
		}
	}
	if _, err := Parse(RequestFrame(ID{}, "m", nil), FromClient); err == nil {
		t.Error("a request without an id must not parse")
	}
}

// FuzzQuote checks that any text becomes one JSON string on one line that says it.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a\"\\\n\r\t\x00\x1f\x7f", "\u2028\u2029😀", "\xff\xc0\xaf", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := Quote(s)
		// As Go reads s: a U+FFFD for each byte that is not UTF-8.
		want := string([]rune(s))
		got, err := jsontext.AppendUnquote(nil, q)
		if err != nil || string(got) != want {
			t.Fatalf("%q: quoted as %s: %q, %v", s, q, got, err)
		}
		if strings.ContainsAny(string(q), "\n\r\u2028\u2029") || !utf8.Valid(q) {
			t.Fatalf("%q: quoted as %q", s, q)
		}
		if v, err := Decode(q); err != nil || v.Text != want {
			t.Fatalf("%q: read back as %q, %v", s, v.Text, err)
		}
	})
}
