package pin

import (
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy/policytest"
)

// TestHidden: what a reader does not see and a model reads is found wherever it stands, and honest signs are not taken for it.
func TestHidden(t *testing.T) {
	for _, tt := range []struct{ definition, want string }{
		{`{"name":"add","description":"Adds\u200d \ud83d\udc69\u200d\ud83d\udcbb \u2764\ufe0f\n\tmore"}`, ""},
		{`{"name":"add","description":"\ufeffAdds"}`, ""},
		{`{"name":"add","description":"a\ufeffb"}`, "U+FEFF in description"},
		{`{"name":"add","description":"a\u200b\u200bb"}`, "U+200B in description"},
		{`{"name":"add","inputSchema":{"properties":{"a":{"enum":["x","\u001b[8m"]}}}}`, "U+001B in inputSchema.properties.a.enum[1]"},
		{`{"name":"add","inputSchema":{"properties":{"a\u202e":{}}}}`, "U+202E in the name inputSchema.properties.a\\u{202e}"},
		{`{"name":"add","description":"\udb40\udc41"}`, "U+E0041 in description"},
		{`{"name":"add","description":"\ud83c\udff4\udb40\udc67\udb40\udc62\udb40\udc65\udb40\udc6e\udb40\udc67\udb40\udc7f"}`, ""},
		{`{"name":"add","description":"\ud83c\udff4\udb40\udc67\udb40\udc62\udb40\udc65\udb40\udc6e\udb40\udc67"}`, "U+E0067 in description"},
		{`{"name":"add","description":"x\ufe00\ufe01"}`, "U+FE01 in description"},
		{`{"name":"add","description":"x\u009by"}`, "U+009B in description"},
	} {
		v, err := jsonrpc.Decode([]byte(tt.definition))
		if err != nil {
			t.Fatal(err)
		}
		if got := Hidden(v); got != tt.want {
			t.Errorf("Hidden(%s) = %q, want %q", tt.definition, got, tt.want)
		}
	}
}

// TestRealServersHideNothing: no tool of a real server is taken for one that hides something, or that looks like another.
func TestRealServersHideNothing(t *testing.T) {
	for _, server := range policytest.Servers(t) {
		var names []string
		for _, definition := range server.Definitions {
			if found := Hidden(definition); found != "" {
				t.Errorf("%s: %s: %s", server.File, toolName(definition), found)
			}
			names = append(names, toolName(definition))
		}
		if found := alike(names); len(found) > 0 {
			t.Errorf("%s: look-alikes %q", server.File, found)
		}
	}
}
