package audit

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

func mask(args string) string {
	return string(newMasker([]string{"Vault-Key"}).args(nil, []byte(args)))
}

const longAlnum = "0123456789abcdefghijABCDEFGHIJ012345"

func TestMask(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", `{"to":"a@b.example", "n": 1.50e3,"x":[true,null]}`, `{"to":"a@b.example", "n": 1.50e3,"x":[true,null]}`},
		{"password", `{"password":"hunter2"}`, `{"password":"[masked: value of password, 7 characters]"}`},
		{"spelled by escapes", `{"pass\u0077ord":"hunter2"}`, `{"pass\u0077ord":"[masked: value of password, 7 characters]"}`},
		{"case and separators", `{"X-Api-Key":"k","dbPassword":"p","client_secret":"s"}`,
			`{"X-Api-Key":"[masked: value of X-Api-Key, 1 characters]","dbPassword":"[masked: value of dbPassword, 1 characters]","client_secret":"[masked: value of client_secret, 1 characters]"}`},
		{"number", `{"otp":123456}`, `{"otp":"[masked: value of otp, 6 characters]"}`},
		{"below", `{"credentials":{"user":"u","list":["a",{"b":"c"}],"ok":true}}`,
			`{"credentials":{"user":"[masked: value of credentials, 1 characters]","list":["[masked: value of credentials, 1 characters]",{"b":"[masked: value of credentials, 1 characters]"}],"ok":true}}`},
		{"not a secret's name", `{"max_tokens":100,"token_count":3,"secret_name":"db","passenger":"p"}`, `{"max_tokens":100,"token_count":3,"secret_name":"db","passenger":"p"}`},
		{"configured", `{"vault_key":"v"}`, `{"vault_key":"[masked: value of vault_key, 1 characters]"}`},
		{"name and value", `{"env":[{"name":"DB_PASSWORD","value":"p"}]}`, `{"env":[{"name":"DB_PASSWORD","value":"[masked: value of DB_PASSWORD, 1 characters]"}]}`},
		{"value and name", `{"value":{"a":"p"},"key":"Authorization","z":"sk-0123456789abcdef0"}`,
			`{"value":{"a":"[masked: value of Authorization, 1 characters]"},"key":"Authorization","z":"[masked: model api key, 20 characters]"}`},
		{"flag", `["--password","p","--verbose","v"]`, `["--password","[masked: value of password, 1 characters]","--verbose","v"]`},
		{"in text", `{"cmd":"mysql --password=p4ss -h db; echo token: abc"}`, `{"cmd":"mysql --password=[masked: value of password, 4 characters] -h db; echo token: [masked: value of token, 3 characters]"}`},
		{"JSON in text", `{"body":"{\"api_key\": \"k k\", \"to\": 1}"}`, `{"body":"{\"api_key\": \"[masked: value of api_key, 3 characters]\", \"to\": 1}"}`},
		{"header", `{"h":"Authorization: Basic dXNlcjpwYXNz"}`, `{"h":"Authorization: [masked: value of Authorization, 18 characters]"}`},
		{"bearer", `{"h":"use Bearer abcdefgh12345 now"}`, `{"h":"use Bearer [masked: bearer token, 13 characters] now"}`},
		{"url", `{"u":"postgres://u:p%40ss@db.example/x?token=t1&y=2"}`, `{"u":"postgres://u:[masked: password in a URL, 6 characters]@db.example/x?token=[masked: value of token, 2 characters]&y=2"}`},
		{"line breaks", "{\"a\":\r\n1}", `{"a":  1}`},
		{"as a name", `{"ghp_` + longAlnum + `":1}`, `{"[masked: github token, 40 characters]":1}`},
		{"words", `{"t":"task-0123456789abcdef0 and the keyboard: x, half_` + longAlnum + `"}`, `{"t":"task-0123456789abcdef0 and the keyboard: x, half_` + longAlnum + `"}`},
	} {
		if got := mask(c.in); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// planted are secrets of every shape, with what a mask calls them.
var planted = map[string]string{
	"AKIAIOSFODNN7EXAMPLE": "aws access key", "ghp_" + longAlnum: "github token", "github_pat_11ABCDEFG0" + longAlnum: "github token",
	"xoxb-123456789012-abcdefABCDEF": "slack token", "sk_live_" + longAlnum: "stripe key", "AIzaSy" + longAlnum: "google api key",
	"sk-ant-api03-" + longAlnum: "model api key", "sk-proj-" + longAlnum: "model api key", "glpat-0123456789abcdefghij": "gitlab token",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk":       "jwt",
	"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123456789\n-----END RSA PRIVATE KEY-----": "private key",
}

func TestMaskShapes(t *testing.T) {
	for secret, what := range planted {
		in := string(jsonrpc.Quote("before " + secret + " after"))
		got := mask(`{"text":` + in + `}`)
		if strings.Contains(got, secret[:12]) || !strings.Contains(got, `"before [masked: `+what+`, `) || !strings.Contains(got, ` characters] after"`) {
			t.Errorf("%s: %s", what, got)
		}
		e := Entry{Reason: "to='" + secret + "'", Evidence: []Evidence{{Snippet: secret, Destination: "https://x.example/" + secret, Reason: secret}}}
		if line := string(e.append(nil, newMasker(nil), false)); strings.Contains(line, secret[8:16]) {
			t.Errorf("%s in a line: %s", what, line)
		}
	}
}

// FuzzMask: what is written is always JSON on one line and bounded; it is the arguments if they were JSON, and a digest
// if not; no planted secret survives.
func FuzzMask(f *testing.F) {
	for _, seed := range []string{`{}`, `[1,-0.5e+10,"\u00e9\ud83d\ude00"]`, `{"password":{"a":[1,"x"]}}`, `{"a":"password=x"}`, `{"a":"Bearer \"x"}`, `nul`, `{"name":"token","value":"a","value":2}`,
		`"://a:b@"`, `{"a":01}`, `["--token",{"a":"b"}]`, "\"\xff\"", `"token=\\\"a"`} {
		f.Add([]byte(seed), uint8(0), false)
	}
	var secrets []string
	for s := range planted {
		secrets = append(secrets, s)
	}
	f.Fuzz(func(t *testing.T, args []byte, which uint8, plant bool) {
		secret := secrets[int(which)%len(secrets)]
		if plant && json.Valid(args) {
			args = append(append(append([]byte(`{"a":`), args...), `,"b":`...), append(jsonrpc.Quote(" "+secret+" "), '}')...)
		}
		got := newMasker(nil).args(nil, args)
		if args == nil {
			args = []byte{}
		}
		if !json.Valid(got) || strings.ContainsAny(string(got), "\r\n") {
			t.Fatalf("%q became %q", args, got)
		}
		if len(got) > argsLimit+1024 {
			t.Fatalf("%d bytes became %d", len(args), len(got))
		}
		unreadable := strings.HasPrefix(string(got), `{"bouncer:unreadable": `)
		if valid := json.Valid(args) && utf8.Valid(args); valid == unreadable && !strings.HasPrefix(string(args), `{"bouncer:unreadable": `) && depth(args) < deepest {
			t.Fatalf("%q (valid %v) became %q", args, valid, got)
		}
		if plant && strings.Contains(string(got), secret[:12]) {
			t.Fatalf("the planted secret survives in %q", got)
		}
	})
}

func depth(b []byte) (n int) {
	for _, c := range b {
		if c == '[' || c == '{' {
			n++
		}
	}
	return n
}

// FuzzQuote: the log spells strings as frames do.
func FuzzQuote(f *testing.F) {
	f.Add("a\"\\\n\x00\u2028\xff\U0001f600")
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := string(appendQuoted(nil, s)), string(jsonrpc.Quote(s)); got != want {
			t.Fatalf("%q: %s, want %s", s, got, want)
		}
	})
}
