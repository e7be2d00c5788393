package jsonrpc

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// call returns a tools/call frame with the given params.
func call(params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
}

func nest(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// TestParseRefuses names, for each field case, the frames that must not get through. from tells whose frame it is;
// "both" is the rule.
func TestParseRefuses(t *testing.T) {
	tests := []struct {
		id, frame string
		code      int
		reason    string // substring
		gotID     string // spelling; "" when nobody can be told
		client    bool   // refused from the client only
	}{
		// A49: case variants.
		{"A49", call(`{"name":"read","Name":"delete_all","arguments":{}}`), -32600, `member name "Name"`, "1", true},
		{"A49", `{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"ping"}`, -32600, `"Method" at byte 24`, "1", false},
		{"A49", `{"jsonrpc":"2.0","id":1,"method":"x","params":{},"Params":{}}`, -32600, `"Params"`, "1", false},
		{"A49", `{"jsonrpc":"2.0","id":1,"re\u017fult":{}}`, -32600, "disguised", "1", false},
		{"A49", `{"jsonrpc":"2.0","id":1,"result":{},"ReSULT":{}}`, -32600, "disguised", "1", false},
		{"A49", `{"jsonrpc":"2.0","id":1,"method":"ping","param` + "\u017f" + `":{}}`, -32600, "disguised", "1", false},
		{"A49", `{"jſonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}`, -32600, "disguised", "1", false},
		{"A49", call(`{"name":"x","ta` + "\u017f" + `\u212a":1}`), -32600, "disguised", "1", true},
		{"A49", call(`{"name":"x","ARGUMENTS":{}}`), -32600, `"ARGUMENTS"`, "1", true},
		{"A49", call(`{"name":"x","\u0041rguments":{}}`), -32600, `"Arguments"`, "1", true},
		{"A49", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a:","URI":"b:"}}`, -32600, `"URI"`, "1", true},
		{"A49", `{"params":{"requeststate":"x"},"jsonrpc":"2.0","id":1,"method":"m"}`, -32600, "disguised", "1", true},
		{"A49", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"inputresponses":{}}}`, -32600, "disguised", "1", true},
		{"A49", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"Cursor":"c","Ref":{},"Argument":{}}}`, -32600, `"Cursor"`, "1", true},
		{"A49", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_Meta":{}}}`, -32600, `"_Meta"`, "1", true},

		// A50: duplicates.
		{"A50", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, -32600, `duplicate name "method" at byte 40`, "1", false},
		{"A50", `{"jsonrpc":"2.0","id":1,"method":"ping","me\u0074hod":"tools/call"}`, -32600, `duplicate name "method"`, "1", false},
		{"A50", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, -32600, `duplicate name "id"`, "", false},
		{"A50", `{"jsonrpc":"2.0","id":1,"x":1,"x":2,"method":"ping"}`, -32600, `duplicate name "x"`, "1", false},
		{"A50", call(`{"name":"w","arguments":{"path":"/srv/a","path":"/etc/passwd"}}`), -32600, `duplicate name "path"`, "1", true},
		{"A50", call(`{"name":"w","arguments":{"path":"/srv/a","pa\u0074h":"/etc/passwd"}}`), -32600, `duplicate name "path"`, "1", true},
		{"A50", call(`{"name":"w","arguments":{"a":[{"b":{"\ud83d\ude00":1,"😀":2}}]}}`), -32600, `duplicate name "😀"`, "1", true},
		{"A50", call(`{"name":"w","arguments":{"":1,"":2}}`), -32600, `duplicate name ""`, "1", true},
		{"A50", call(`{"name":"w","arguments":{"\u202e":1,"\u202e":2}}`), -32600, `"\u202e"`, "1", true},
		{"A50", call(`{"name":"w","arguments":{"to\u0000x":1}}`), -32600, `NUL in the member name "to\x00x"`, "1", false},

		// A52: framing.
		{"A52", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"tools/call"}`, -32700, "data after", "", false},
		{"A52", `{"jsonrpc":"2.0","id":1,"method":"ping"}x`, -32700, "data after", "1", false},
		{"A52", "\uFEFF" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, -32700, "byte order mark", "1", false},
		{"A52", "\x00" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, -32700, "at byte 0", "", false},
		{"A52", `{"jsonrpc":"2.0","id":1,` + "\r" + `"method":"ping"}`, -32600, "line break", "1", false},
		{"A52", `{"jsonrpc":"2.0","id":1,` + "\n" + `"method":"ping"}`, -32600, "line break", "1", false},
		{"A52", "\r" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, -32600, "line break", "1", false},
		{"A52", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r\r", -32600, "line break", "1", false},
		{"A52", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\v", -32700, "data after", "1", false},
		{"A52", call(`{"name":"x` + "\xc0\xaf" + `"}`), -32700, "invalid UTF-8 at byte 65", "1", false},
		{"A52", call(`{"name":"x` + "\xed\xa0\x80" + `"}`), -32700, "invalid UTF-8", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":"\ud800"}}`), -32600, "lone surrogate", "1", true},
		{"A52", call(`{"name":"x","arguments":{"a":"\ude00\ud83d"}}`), -32600, "lone surrogate", "1", true},
		{"A52", call(`{"name":"x","arguments":{"a":"\ud83d\ud83d\ude00"}}`), -32600, "lone surrogate", "1", true},
		{"A52", call(`{"name":"x","arguments":{"a":"\ud83dx"}}`), -32600, "lone surrogate", "1", true},
		{"A52", call(`{"name":"x","arguments":{"a":"b` + "\t" + `"}}`), -32700, "raw control character", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":01}}`), -32700, "comma or }", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":NaN}}`), -32700, "unexpected character", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":-}}`), -32700, "digit", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":1.}}`), -32700, "digit", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":1e+}}`), -32700, "digit", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":.5}}`), -32700, "unexpected character", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":"\x41"}}`), -32700, "unknown escape", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":"\u00g0"}}`), -32700, "malformed escape", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":1,}}`), -32700, "member name", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":[1,]}}`), -32700, "unexpected character", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a" 1}}`), -32700, "colon", "1", false},
		{"A52", call(`{"name":"x","arguments":{a:1}}`), -32700, "member name", "1", false},
		{"A52", call(`{"name":"x","arguments":{"a":tru}}`), -32700, "unexpected character", "1", false},
		{"A52", `{"jsonrpc":"2.0","id":1,"method":"ping"`, -32700, "unexpected end", "1", false},
		{"A52", `{"jsonrpc":"2.0","id":1,"method":"pi`, -32700, "unterminated", "1", false},
		{"A52", `{"jsonrpc":"2.0","id":1,"method":"pi\`, -32700, "unterminated", "1", false},
		{"A52", `{"jsonrpc":"2.0","id":12`, -32700, "unexpected end", "", false},
		{"depth", call(`{"a":` + nest(199) + `}`), -32600, "nested deeper", "1", false},
		{"depth", call(`{"a":` + strings.Repeat("[", 1<<20)), -32600, "nested deeper", "1", false},
		{"both", call(`{"a":1,"a":2,]`), -32700, "member name", "1", false}, // not JSON comes before a duplicate

		// A53: ids, methods, versions, hybrids.
		{"A53", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "id is not", "", false},
		{"A53", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, "id is not", "", false},
		{"A53", `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, -32600, "id is not", "", false},
		{"A53", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "id is not", "", false},
		{"A53", `{"jsonrpc":"2.0","id":1e0,"method":"ping"}`, -32600, "id is not", "", false},
		{"A53", `{"jsonrpc":"2.0","id":1E2,"method":"ping"}`, -32600, "id is not", "", false},
		{"A53", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "id is not", "", false},
		{"A53", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, -32600, "id is not", "", false},
		{"A53", `{"jsonrpc":"2.0","id":"\ud83d","method":"ping"}`, -32600, "", "", false},
		{"A53", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", MaxID-1) + `","method":"ping"}`, -32600, "longer", "", false},
		{"A53", `{"id":1,"method":"ping"}`, -32600, "jsonrpc", "1", false},
		{"A53", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600, "jsonrpc", "1", false},
		{"A53", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, -32600, "jsonrpc", "1", false},
		{"A53", `{"jsonrpc":"2.0 ","id":1,"method":"ping"}`, -32600, "jsonrpc", "1", false},
		{"A53", `{"jsonrpc":null,"id":1,"method":"ping"}`, -32600, "jsonrpc", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":""}`, -32600, "method", "1", false},
		{"A53", `{"jsonrpc":"2.0","method":""}`, -32600, "method", "", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":null}`, -32600, "method", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":["tools/call"]}`, -32600, "method", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":"\udc00"}`, -32600, "", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{}}`, -32600, "method and an answer", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":"tools/call","error":{}}`, -32600, "method and an answer", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":"tools/call","result":null}`, -32600, "method and an answer", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, -32600, "result and error", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, -32600, "result and error", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"error":null}`, -32600, "error is not", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":null,"result":{}}`, -32600, "id is not", "", false},
		{"A53", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, -32600, "id is not", "", true},
		{"A53", `{"jsonrpc":"2.0","result":{}}`, -32600, "without an id", "", false},
		{"A53", `{"jsonrpc":"2.0","error":{}}`, -32600, "without an id", "", false},
		{"A53", `{"jsonrpc":"2.0","id":1}`, -32600, "neither", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, -32600, "params", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}`, -32600, "params", "1", false},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":"m","params":7}`, -32600, "params", "1", false},

		// B05: noise that looks like JSON.
		{"B05", `{ debug: 1 }`, -32700, "member name", "", false},
		{"B05", `"ready"`, -32600, "not an object", "", false},
		{"B05", `42`, -32600, "not an object", "", false},
		{"B05", `{"level":"info","msg":"hi"}`, -32600, "jsonrpc", "", false},
		{"B05", `{`, -32700, "member name", "", false},
		{"B05", `}`, -32700, "unexpected character", "", false},
		{"B05", `Server started`, -32700, "unexpected character", "", false},
		{"B05", ``, -32700, "unexpected end", "", false},
		{"B05", "\r", -32700, "unexpected end", "", false},
		{"B05", "  \t", -32700, "unexpected end", "", false},

		// B44: batches.
		{"B44", `[INFO] x`, -32600, "batch", "", false},
		{"B44", ` [{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, "batch", "", false},
	}
	for _, tt := range tests {
		for _, from := range []Side{FromClient, FromServer} {
			m, err := Parse([]byte(tt.frame), from)
			name := tt.id + " " + show([]byte(tt.frame))
			if from == FromServer && tt.client {
				if err != nil {
					t.Errorf("%s: from the server: refused: %v", name, err)
				}
				continue
			}
			if err == nil {
				t.Errorf("%s: from %d: accepted as %+v", name, from, m)
				continue
			}
			if err.Code != tt.code || !strings.Contains(err.Reason, tt.reason) || err.ID.String() != tt.gotID {
				t.Errorf("%s: from %d: got %d %q id %q, want %d %q id %q", name, from,
					err.Code, err.Reason, err.ID, tt.code, tt.reason, tt.gotID)
			}
			if !strings.Contains(err.Reason, " at byte ") {
				t.Errorf("%s: reason %q has no offset", name, err.Reason)
			}
			if want := tt.id == "B44"; err.Batch != want {
				t.Errorf("%s: Batch is %v", name, err.Batch)
			}
		}
	}
}

// TestParseAccepts names the frames that must get through unchanged.
func TestParseAccepts(t *testing.T) {
	type want struct {
		shape                             Shape
		id, method, params, result, error string
	}
	tests := []struct {
		id, frame string
		server    bool // from the server only
		want      want
	}{
		{"plain", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, false, want{shape: Request, id: "1", method: "ping"}},
		{"order", `{"params":{"a":[1]},"method":"m","id":"x","jsonrpc":"2.0"}`, false,
			want{shape: Request, id: `"x"`, method: "m", params: `{"a":[1]}`}},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":"tools\u002fcall","params":{}}`, false,
			want{shape: Request, id: "1", method: "tools/call", params: "{}"}},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":"tools/call "}`, false, want{shape: Request, id: "1", method: "tools/call "}},
		{"A53", `{"jsonrpc":"2.0","id":1,"method":"TOOLS/CALL"}`, false, want{shape: Request, id: "1", method: "TOOLS/CALL"}},
		{"A53", `{"jsonrpc":"2.0","method":"tools/call","params":{}}`, false,
			want{shape: Notification, method: "tools/call", params: "{}"}},
		{"A53", `{"\u006asonrpc":"\u0032.0","\u0069d":1,"method":"m"}`, false, want{shape: Request, id: "1", method: "m"}},
		{"A52", " \t" + `{ "jsonrpc" : "2.0" , "id" : 1 , "method" : "m" , "params" : [ ] }` + " \t\r", false,
			want{shape: Request, id: "1", method: "m", params: "[ ]"}},
		{"A52", strings.Repeat(" ", 5<<20) + `{"jsonrpc":"2.0","id":1,"method":"m"}`, false,
			want{shape: Request, id: "1", method: "m"}},
		{"A46", call(`{"name":"send","arguments":{"to":"a","To":"b","to ":"c"}}`), false, // the judge's business, not ours
			want{shape: Request, id: "1", method: "tools/call", params: `{"name":"send","arguments":{"to":"a","To":"b","to ":"c"}}`}},
		{"B25", `{"jsonrpc":"2.0","id":"","method":"m"}`, false, want{shape: Request, id: `""`, method: "m"}},
		{"B25", `{"jsonrpc":"2.0","id":0,"method":"m"}`, false, want{shape: Request, id: "0", method: "m"}},
		{"B25", `{"jsonrpc":"2.0","id":-1,"method":"m"}`, false, want{shape: Request, id: "-1", method: "m"}},
		{"B25", `{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}`, false,
			want{shape: Request, id: "9007199254740993", method: "m"}},
		{"B25", `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 200) + `,"method":"m"}`, false,
			want{shape: Request, id: strings.Repeat("9", 200), method: "m"}},
		{"B26", `{"jsonrpc":"2.0","id":1,"result":{"id":725653563933458432,"x":1e400,"d":0.1000000000000000055}}`, false,
			want{shape: Response, id: "1", result: `{"id":725653563933458432,"x":1e400,"d":0.1000000000000000055}`}},
		{"B43", `{"jsonrpc":"2.0","id":1,"result":"` + "\u2028 é 😀" + `"}`, false,
			want{shape: Response, id: "1", result: `"` + "\u2028 é 😀" + `"`}},
		{"B43", `{"jsonrpc":"2.0","id":1,"result":{"text":"\ud83d"}}`, true,
			want{shape: Response, id: "1", result: `{"text":"\ud83d"}`}},
		{"B43", `{"jsonrpc":"2.0","id":1,"result":{"\ud83d":1,"a":1,"a":2}}`, true,
			want{shape: Response, id: "1", result: `{"\ud83d":1,"a":1,"a":2}`}},
		{"extra", `{"jsonrpc":"2.0","id":1,"result":null,"x-trace":{"a":1}}`, false,
			want{shape: Response, id: "1", result: "null"}},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","more":1}}`, false,
			want{shape: Response, id: "1", error: `{"code":-1,"message":"m","more":1}`}},
		{"null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, true,
			want{shape: Response, error: `{"code":-32700,"message":"m"}`}},
		{"depth", `{"jsonrpc":"2.0","method":"m","params":` + nest(199) + `}`, false,
			want{shape: Notification, method: "m", params: nest(199)}},
	}
	for _, tt := range tests {
		for _, from := range []Side{FromClient, FromServer} {
			if tt.server && from == FromClient {
				continue
			}
			m, err := Parse([]byte(tt.frame), from)
			if err != nil {
				t.Errorf("%s %s: from %d: %v", tt.id, show([]byte(tt.frame)), from, err)
				continue
			}
			got := want{m.Shape, m.ID.String(), m.Method, string(m.Params), string(m.Result), string(m.Error)}
			if got != tt.want {
				t.Errorf("%s: from %d: got %+v, want %+v", tt.id, from, got, tt.want)
			}
			if !bytes.Equal(m.Raw, []byte(tt.frame)) {
				t.Errorf("%s: Raw is not the frame", tt.id)
			}
		}
	}
}

// A malformed answer has an id of the other side's: its sender must not be told off under a number of its own.
func TestErrorOfResponse(t *testing.T) {
	for frame, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{"a":1}} x`:             true,
		`{"jsonrpc":"2.0","id":1,"result":{"a":tru`:               true,
		`{"jsonrpc":"2.0","id":1,"error":{"a":"` + "\x01" + `"}}`: true,
		`{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`:       false,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{x}}`:      false,
		`{"id":1}`: false,
	} {
		_, err := Parse([]byte(frame), FromClient)
		if err == nil || err.Response != want || err.ID.String() != "1" {
			t.Errorf("%s: got %+v, want Response %v", frame, err, want)
		}
	}
}

// Names in large objects are found by another way than in small ones, so A50 is tried around the change-over.
func TestDuplicateInLargeObject(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 1000} {
		for _, dup := range []int{-1, 0, n / 2, n - 1} {
			var b bytes.Buffer
			b.WriteString(`{`)
			for i := range n {
				// Same length, same first and last bytes, so that the cheap key says nothing.
				b.WriteString(`"sameprefix` + strings.Repeat("a", i%7) + string(rune('A'+i%26)) +
					string(Quote(string(rune(0x100 + i)))[1:3]) + strings.Repeat("b", 6-i%7) + `samesuffix":{"x":1,"\u0079":2},`)
			}
			if dup >= 0 {
				b.WriteString(`"sameprefix` + strings.Repeat("a", dup%7) + `\u00` + hexByte(byte('A'+dup%26)) +
					string(rune(0x100+dup)) + strings.Repeat("b", 6-dup%7) + `samesuffix":0}`)
			} else {
				b.WriteString(`"other":0}`)
			}
			_, err := Decode(b.Bytes())
			if got, want := err != nil, dup >= 0; got != want {
				t.Errorf("%d names, duplicate of %d: got error %v", n, dup, err)
			}
		}
	}
}

func hexByte(c byte) string {
	const hex = "0123456789abcdef"
	return string([]byte{hex[c>>4], hex[c&15]})
}

// Scanners are pooled: what one frame leaves behind must not show in another's verdict, span or reason.
func TestParseConcurrently(t *testing.T) {
	var done sync.WaitGroup
	for n := range 8 {
		done.Go(func() {
			arg := strings.Repeat("x", n*50)
			good := call(`{"name":"` + arg + `","arguments":{"\u0061` + arg + `":{"\u0062":1}}}`)
			bad := call(`{"arguments":{"\u0061":{"` + arg + `\u0063":1,"\u0064":2,"d":3},"e":{"\u0066":1}}}`)
			for range 500 {
				m, err := Parse([]byte(good), FromClient)
				if err != nil {
					t.Error(err)
					return
				}
				if c, err := m.ToolCall(); err != nil || c.Name != arg {
					t.Errorf("got %+v, %v", c, err)
				}
				if _, err := Parse([]byte(bad), FromClient); err == nil || !strings.HasPrefix(err.Reason, `duplicate name "d" at`) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	done.Wait()
}
