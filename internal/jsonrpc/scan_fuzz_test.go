package jsonrpc

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

var seeds = []string{
	`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"x","arguments":{"a":[1e400,-0,0.1]}}}`,
	`{"a":1,"\u0061":2}`, `{"a":{"a":1},"b":[{"a":1,"a":1}]}`, `[true,false,null,"",{},[]]`,
	`"\ud83d\ude00\ud83d"`, `"\ude00"`, "\"\u2028é😀\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\x7f\x1f\"", "\"a\tb\"",
	`01`, `-`, `1.`, `1e`, `-0.0e-0`, `.5`, `+1`, `1 2`, `{"a":1,}`, `[1,]`, `{"a" 1}`, `{a:1}`, ` [ 1 , 2 ] `, "[\r\n1]",
	"\uFEFF1", "tru", "nul", `"abc`, `"\`, `"\u12`, `"\x41"`, `{"`, "{\"to\\u0000\":1}", "",
	strings.Repeat("[", 200) + strings.Repeat("]", 200), strings.Repeat("[", 201) + strings.Repeat("]", 201),
	strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200),
	`"0123456789abcdef0123456789abcdef0123456789abcdef\n0123456789abcdef0123456789abcde"`,
	`{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0,"o":0,"p":0,"q":0,"\u0061":0}`,
}

// deep reports whether brackets outside strings nest deeper than MaxDepth. It is only asked about valid JSON.
func deep(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			if depth++; depth > MaxDepth {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}

// nulName reports whether a member name of valid JSON has a NUL in it.
func nulName(text []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		tok, err := d.ReadToken()
		if err != nil {
			return false
		}
		kind, n := d.StackIndex(d.StackDepth())
		if isName := kind == '{' && n%2 == 1; isName && tok.Kind() == '"' && strings.Contains(tok.String(), "\x00") {
			return true
		}
	}
}

// FuzzScan holds the scanner against an independent one: what it takes as JSON, and what it refuses beyond that, are
// what the package says.
func FuzzScan(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		valid := jsontext.Value(text).IsValid()
		want := valid && !deep(text) && !nulName(text)
		_, err := Decode(text)
		if (err == nil) != want {
			t.Fatalf("%q: got error %v, want accepted %v", text, err, want)
		}
		// A frame is a value without line breaks between its tokens; inside strings there are none in valid JSON.
		s := newScanner(text, false, MaxDepth, false)
		defer s.free()
		if got := s.whole(plain, nil); got != (want && !bytes.ContainsAny(text, "\r\n")) {
			t.Fatalf("%q: as a frame: %v", text, got)
		}
		// The server's liberties are two and no more.
		tolerant := jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
		switch _, err := DecodeLenient(text); {
		case tolerant && !deep(text) && !nulName(text) && err != nil && !strings.Contains(err.Error(), "NUL"):
			t.Fatalf("%q: lenient: %v", text, err)
		case err == nil && !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
			t.Fatalf("%q: lenient accepted it", text)
		}
	})
}

// FuzzParse checks what must hold for every frame whatever it is, and that a client's frame that passes is JSON to an
// independent parser with the very members that were read.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte(call(s)))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"text":"\ud83d"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"ID":2,"method":"m"}`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, from := range []Side{FromClient, FromServer} {
			m, refused := Parse(frame, from)
			if refused != nil {
				if refused.Code != codeNotJSON && refused.Code != codeNotRequest || refused.Reason == "" {
					t.Fatalf("%q: %+v", frame, refused)
				}
				continue
			}
			if !bytes.Equal(m.Raw, frame) {
				t.Fatalf("%q: Raw differs", frame)
			}
			if from == FromServer {
				continue
			}
			if _, strict := Parse(frame, FromServer); strict != nil {
				t.Fatalf("%q: accepted from the client and not from the server: %v", frame, strict)
			}
			sameMembers(t, frame, m)
			var k skim
			k.feed(frame)
			if k.id() != m.ID || k.isResponse() != (m.Shape == Response) {
				t.Fatalf("%q: skimmed id %q, parsed %q", frame, k.id(), m.ID)
			}
			_, _ = m.ToolCall()
		}
	})
}

func sameMembers(t *testing.T, frame []byte, m Message) {
	t.Helper()
	got := map[string][]byte{"params": m.Params, "result": m.Result, "error": m.Error}
	if !m.ID.IsZero() {
		got["id"] = []byte(m.ID.String())
	}
	d := jsontext.NewDecoder(bytes.NewReader(frame))
	if _, err := d.ReadToken(); err != nil {
		t.Fatalf("%q: %v", frame, err)
	}
	for d.PeekKind() == '"' {
		name, _ := d.ReadToken()
		n := name.String()
		v, err := d.ReadValue()
		if err != nil {
			t.Fatalf("%q: %v", frame, err)
		}
		if _, known := got[n]; known && !bytes.Equal(v, got[n]) {
			t.Fatalf("%q: %s is %q, want %q", frame, n, got[n], v)
		}
		if n == "method" {
			if u, _ := jsontext.AppendUnquote(nil, v); string(u) != m.Method {
				t.Fatalf("%q: method %q, want %q", frame, m.Method, u)
			}
		}
		delete(got, n)
	}
	for n, v := range got {
		if v != nil {
			t.Fatalf("%q: %s was made up", frame, n)
		}
	}
}

// encode writes a Value without looking at Raw.
func encode(dst []byte, v Value) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool, Number:
		return append(dst, v.Text...)
	case String:
		return append(dst, Quote(v.Text)...)
	case Array:
		dst = append(dst, '[')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = encode(dst, e)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range v.Members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, Quote(m.Name)...)
		dst = append(dst, ':')
		dst = encode(dst, m.Value)
	}
	return append(dst, '}')
}

// equal compares Values, their spelling too when spans is true. (go-cmp takes exponential time on lists 200 deep.)
func equal(a, b Value, spans bool) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Elems) != len(b.Elems) || len(a.Members) != len(b.Members) ||
		spans && !bytes.Equal(a.Raw, b.Raw) {
		return false
	}
	for i := range a.Elems {
		if !equal(a.Elems[i], b.Elems[i], spans) {
			return false
		}
	}
	for i, m := range a.Members {
		if m.Name != b.Members[i].Name || !equal(m.Value, b.Members[i].Value, spans) {
			return false
		}
	}
	return true
}

// FuzzDecode checks that nothing is lost: what is decoded can be written and decoded again, an independent parser reads
// the written text as the same value as the original, and every Raw decodes to its own Value.
func FuzzDecode(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Decode(text)
		if err != nil {
			if v.Kind != Null || v.Raw != nil {
				t.Fatalf("%q: error beside a value", text)
			}
			return
		}
		lenient, err := DecodeLenient(text)
		if err != nil || !equal(v, lenient, true) {
			t.Fatalf("%q: lenient differs (%v)", text, err)
		}
		checkSpans(t, v)
		written := encode(nil, v)
		again, err := Decode(written)
		if err != nil {
			t.Fatalf("%q: written as %q: %v", text, written, err)
		}
		if !equal(v, again, false) {
			t.Fatalf("%q: written as %q, which is another value", text, written)
		}
		if a, b := respell(t, text), respell(t, written); !bytes.Equal(a, b) {
			t.Fatalf("%q: means %s, written %s", text, a, b)
		}
	})
}

// respell writes text without whitespace and with one spelling per string; numbers keep theirs.
func respell(t *testing.T, text []byte) []byte {
	t.Helper()
	out := jsontext.Value(bytes.Clone(text))
	if err := out.Format(jsontext.PreserveRawStrings(false)); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return out
}

func checkSpans(t *testing.T, v Value) {
	t.Helper()
	again, err := Decode(v.Raw)
	if err != nil || !equal(v, again, true) {
		t.Fatalf("raw %q is not its value (%v)", v.Raw, err)
	}
	// One level is enough: the inner ones are checked as the outermost of inputs of their own, and each level
	// anew would be quadratic.
	for _, e := range v.Elems {
		if !bytes.Contains(v.Raw, e.Raw) || len(e.Raw) == 0 {
			t.Fatalf("%q is not inside %q", e.Raw, v.Raw)
		}
	}
}
