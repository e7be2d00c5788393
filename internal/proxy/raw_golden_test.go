package proxy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// exchange is a request as the client writes it and the response as the server writes it.
type exchange struct{ id, request, response string }

// oddities are frames that a decoder and encoder would change.
func oddities() []exchange {
	var out []exchange
	for _, id := range []string{`"a"`, `""`, `-1`, `0`, `"0"`, `9007199254740993`, `1`, `"1"`, `-9007199254740993`, `"\u0062"`, `"ü"`, `123456789012345678901234567890`} {
		out = append(out, exchange{id, call(id, "echo", `{"text":"`+strings.Repeat("x", 3)+`"}`), result(id, `{"content":[]}`)})
	}
	add := func(id, request, response string) { out = append(out, exchange{id, request, response}) }
	add(`20`, " {\t\"params\" : {\"arguments\":{ \"text\" : \"a\" } ,\"name\":\"echo\"},  \"method\":\"tools\\u002fcall\",\"id\" :20 , \"jsonrpc\":\"2.0\"}\t ",
		"  {\"result\" :\t{ } ,\"id\":20, \"jsonrpc\" : \"2.0\" }  ")
	add(`21`, `{"jsonrpc":"2.0","id":21,"method":"tools/call","params":{"name":"echo","arguments":{"id":725653563933458432,"x":1e400,"d":0.1000000000000000055,"e":-0.0,"f":1E+2},"_meta":{"progressToken":"p1","traceparent":"00-1-2-3","x":1},"task":{"ttl":1},"future":[1,{"a":null}]},"x-top":{"z":1,"a":2}}`,
		`{"jsonrpc":"2.0","id":21,"result":{"content":[],"structuredContent":{"id":725653563933458432,"x":1e400,"d":0.1000000000000000055},"_meta":{"x":1},"isError":false},"x-top":1}`) // B13, B16, B26
	add(`22`, `{"jsonrpc":"2.0","id":22,"method":"vendor/unknown","params":["a",{"b":1}]}`, `{"jsonrpc":"2.0","id":22,"error":{"code":-32601,"message":"no","data":{"k":[1e400]},"x":true}}`)
	add(`23`, `{"jsonrpc":"2.0","id":23,"method":"vendor/no-params"}`, `{"jsonrpc":"2.0","id":23,"result":null}`)
	add(`24`, `{"jsonrpc":"2.0","id":24,"method":"tasks/get","params":{"taskId":"t1"}}`, `{"jsonrpc":"2.0","id":24,"result":{"taskId":"t1","status":"working"}}`)
	add(`25`, `{"jsonrpc":"2.0","id":25,"method":"tasks/result","params":{"taskId":"t1"}}`, `{"jsonrpc":"2.0","id":25,"result":{"content":[]}}`)
	add(`26`, `{"jsonrpc":"2.0","id":26,"method":"tasks/cancel","params":{"taskId":"t1"}}`, `{"jsonrpc":"2.0","id":26,"result":{}}`)
	add(`27`, `{"jsonrpc":"2.0","id":27,"method":"tasks/list"}`, `{"jsonrpc":"2.0","id":27,"result":{"tasks":[]}}`)
	add(`28`, call(`28`, "echo", `{"text":"\u2028 raw `+"\u2028 \u2029 😀 \u007f"+` \/ \b \ud83d\ude00"}`), result(`28`, `{"content":[{"type":"text","text":"raw `+"\u2028"+` \u2028 \ud83d alone \/"}]}`)) // B43
	add(`29`, `{"jsonrpc":"2.0","id":29,"method":"ping"}`+"\r", `{"jsonrpc":"2.0","id":29,"result":{}}`+"\r")
	for _, size := range []int{65_537, 1 << 20, 5 << 20} { // B01
		id := `"` + strings.Repeat("z", size%7+2) + `"`
		add(id, call(id, "echo", `{"text":"`+strings.Repeat("y", size)+`"}`), result(id, `{"content":[{"type":"text","text":"`+strings.Repeat("r", size)+`"}]}`))
	}
	return out
}

// TestRawGolden plays both sides of a session with odd frames: every one arrives as the bytes it was written in.
func TestRawGolden(t *testing.T) {
	r := start(t, options{})
	r.pinned()
	var fromClient, fromServer []string
	say := func(frame string) { fromClient = append(fromClient, frame); r.client.send(frame) }
	answer := func(frame string) { fromServer = append(fromServer, frame); r.server.send(frame) }
	r.server.auto = nil // from here on the test is the server

	all := oddities()
	for _, x := range all {
		say(x.request)
	}
	for _, frame := range []string{
		`{"jsonrpc":"2.0","method":"vendor/note","params":{"a":1e400},"x":[]}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.10}}`,
		`{"method":"notifications/roots/list_changed","jsonrpc":"2.0"}`,
	} {
		say(frame)
	}
	for i := len(all) - 1; i >= 0; i-- { // a server answers in the order it likes
		r.server.got.wait(t, all[i].id, func(line string) bool { return line == all[i].request })
		answer(all[i].response)
	}
	for _, frame := range []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p1","progress":1.0,"total":1e1}}`,
		` {"jsonrpc":"2.0","method":"vendor/from-server","params":{"s":"` + "\u2028" + `"} , "x":0}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t1","status":"completed"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"vendor/server-request","params":[0]}`,
		`{"jsonrpc":"2.0","id":"1","method":"sampling/createMessage","params":{"messages":[]}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`,
	} {
		answer(frame)
	}
	r.client.request(t, "sampling/createMessage")
	say(`{ "id":1,"jsonrpc":"2.0","result":{"x":1e400} }`)
	say(`{"jsonrpc":"2.0","id":"1","error":{"code":-1,"message":"user said no","data":{}}}`)
	if err := r.finish(); err != nil {
		t.Errorf("Run: %v", err)
	}
	compare(t, "client to server", fromClient, foreign(r.server.got.list())[3:]) // initialize, initialized, warm-up
	compare(t, "server to client", fromServer, foreign(r.client.got.list())[2:])
}

// compare compares two transcripts, without printing megabytes.
func compare(t *testing.T, what string, want, got []string) {
	t.Helper()
	short := func(all []string) (out []string) {
		for _, line := range all {
			if len(line) > 500 {
				line = line[:500]
			}
			out = append(out, line)
		}
		return out
	}
	if diff := cmp.Diff(short(want), short(got)); diff != "" {
		t.Errorf("%s (-written +read):\n%s", what, diff)
		return
	}
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("%s: frame %d differs after its start: %.80s", what, i, want[i])
		}
	}
}

// TestFrameAtLimitB02: a frame of exactly the limit passes both ways, one byte more is answered and the session goes on.
func TestFrameAtLimitB02(t *testing.T) {
	const limit = 4096
	r := start(t, options{limit: limit})
	r.pinned()
	r.server.auto = nil
	pad := func(frame string, size int) string {
		return strings.Replace(frame, "PAD", strings.Repeat("p", size-len(frame)+3), 1)
	}
	exact := pad(call(`1`, "echo", `{"text":"PAD"}`), limit)
	r.client.send(exact)
	r.server.got.wait(t, "the frame at the limit", func(line string) bool { return line == exact })
	answer := pad(result(`1`, `{"content":[{"type":"text","text":"PAD"}]}`), limit)
	r.server.send(answer)
	if got := r.client.response(t, `1`); got != answer {
		t.Errorf("the answer at the limit was changed: %.100s", got)
	}
	r.client.send(pad(call(`2`, "echo", `{"text":"PAD"}`), limit+1))
	blocked(t, r.client.response(t, `2`))

	r.client.send(call(`3`, "echo", `{}`))
	r.server.got.wait(t, "call 3", func(line string) bool { return strings.Contains(line, `"id":3`) })
	r.server.send(pad(result(`3`, `{"content":[{"type":"text","text":"PAD"}]}`), limit+1))
	if got := r.client.response(t, `3`); !strings.Contains(got, `"code":1002`) {
		t.Errorf("an answer over the limit became %.200s", got)
	}
	r.client.send(call(`4`, "echo", `{}`)) // the session lives
	r.server.got.wait(t, "call 4", func(line string) bool { return strings.Contains(line, `"id":4`) })
	r.server.send(result(`4`, `{"content":[]}`))
	passed(t, r.client.response(t, `4`))
	if err := r.finish(); err != nil {
		t.Errorf("Run: %v", err)
	}
	r.never(`"id":2`)
	r.once(`1`, `2`, `3`, `4`)
}
