package jsonrpc

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	raw := `{"id":725653563933458432, "x":1e400,"l":["a\u0062\ud83d\ude00",true,null,-0.10],"o":{"\u0074o":{}}}`
	got, err := Decode([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := Value{Kind: Object, Raw: []byte(raw), Members: []Member{
		{"id", []byte(`"id"`), Value{Kind: Number, Raw: []byte("725653563933458432"), Text: "725653563933458432"}},
		{"x", []byte(`"x"`), Value{Kind: Number, Raw: []byte("1e400"), Text: "1e400"}},
		{"l", []byte(`"l"`), Value{Kind: Array, Raw: []byte(`["a\u0062\ud83d\ude00",true,null,-0.10]`), Elems: []Value{
			{Kind: String, Raw: []byte(`"a\u0062\ud83d\ude00"`), Text: "ab😀"},
			{Kind: Bool, Raw: []byte("true"), Text: "true"},
			{Raw: []byte("null")},
			{Kind: Number, Raw: []byte("-0.10"), Text: "-0.10"},
		}}},
		{"o", []byte(`"o"`), Value{Kind: Object, Raw: []byte(`{"\u0074o":{}}`), Members: []Member{
			{"to", []byte(`"\u0074o"`), Value{Kind: Object, Raw: []byte("{}")}},
		}}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if v, ok := got.Get("o"); !ok || len(v.Members) != 1 {
		t.Errorf("Get o: %v, %v", v, ok)
	}
	if _, ok := got.Get("O"); ok {
		t.Error("Get must not fold")
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		raw     string
		lenient bool
		text    string // of the lenient reading, where it says something
	}{
		{`{"a":1,"a":2}`, true, ""},
		{`{"a":{"b":1,"\u0062":2}}`, true, ""},
		{`"\ud83d"`, true, "\uFFFD"},
		{`"a\udc00\ud83d\ude00b"`, true, "a\uFFFD😀b"},
		{`"\ud83d\u0041"`, true, "\uFFFDA"},
		{"\"\xff\"", false, ""},
		{"\"\x01\"", false, ""},
		{`{"a\u0000":1}`, false, ""},
		{`1 1`, false, ""},
		{``, false, ""},
		{nest(201), false, ""},
		{strings.Repeat(`{"a":`, 1<<16), false, ""},
		{"[" + strings.Repeat("0,", maxValues) + "0]", false, ""},
	}
	for _, tt := range tests {
		v, err := Decode([]byte(tt.raw))
		var e *Error
		if !errors.As(err, &e) || e.Code == 0 || cmp.Diff(v, Value{}) != "" {
			t.Errorf("%s: got %v", show([]byte(tt.raw)), err)
		}
		v, err = DecodeLenient([]byte(tt.raw))
		if (err == nil) != tt.lenient || v.Text != tt.text {
			t.Errorf("%s: lenient: got %q, %v", show([]byte(tt.raw)), v.Text, err)
		}
	}
	v, err := DecodeLenient([]byte(`{"a":1,"b":2,"a":3}`))
	if err != nil || len(v.Members) != 3 || v.Members[2].Name != "a" || v.Members[2].Value.Text != "3" {
		t.Errorf("duplicates are not all there: %+v, %v", v, err)
	}
	if _, err := Decode([]byte(nest(MaxDepth))); err != nil {
		t.Errorf("depth 200: %v", err)
	}
	if _, err := Decode([]byte("{\r\n\t\"a\": 1\n}\n")); err != nil {
		t.Errorf("a file: %v", err)
	}
}

func TestID(t *testing.T) {
	same := [][2]string{{`"a"`, `"\u0061"`}, {`0`, `-0`}, {`"/"`, `"\/"`}, {`"😀"`, `"\ud83d\uDE00"`}, {`7`, `7`}}
	for _, p := range same {
		a, okA := ParseID([]byte(p[0]))
		b, okB := ParseID([]byte(p[1]))
		if !okA || !okB || a.Key() != b.Key() || a.String() != p[0] || b.String() != p[1] {
			t.Errorf("%s and %s: keys %q, %q", p[0], p[1], a.Key(), b.Key())
		}
	}
	seen := map[string]string{"": "no id"}
	for _, raw := range []string{`1`, `"1"`, `"n1"`, `-1`, `"s1"`, `""`, `"-0"`, `0`, `"null"`, `"\""`, `"\\"`,
		`9007199254740992`, `9007199254740993`} {
		id, ok := ParseID([]byte(raw))
		if other, dup := seen[id.Key()]; !ok || dup {
			t.Errorf("%s: key %q (ok %v), also of %s", raw, id.Key(), ok, other)
		}
		seen[id.Key()] = raw
	}
	for _, raw := range []string{``, ` 1`, `1 `, "1\n", `1.0`, `1e0`, `1E0`, `01`, `+1`, `-`, `null`, `true`, `{}`, `[]`, `"a`,
		`"\ud800"`, "\"\xff\"", `1 2`, strings.Repeat("1", MaxID+1)} {
		if id, ok := ParseID([]byte(raw)); ok || !id.IsZero() {
			t.Errorf("%s: read as %s", raw, id)
		}
	}
	for _, s := range []string{"", "a", `"`, "\x00\n\u2028😀"} {
		id, ok := ParseID([]byte(StringID(s).String()))
		if !ok || id.Key() != StringID(s).Key() || id.Key() != "s"+s {
			t.Errorf("%q: got %q", s, id)
		}
	}
}
