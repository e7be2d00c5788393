package proxy_test

import (
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// TestRandomSessions throws everything at once at the relay, in an order of chance: calls of every verdict, people who
// say yes, no, both or nothing, cancellations, noise, answers that come late, twice or for nobody, changed lists. What
// must hold holds whatever the order was.
func TestRandomSessions(t *testing.T) {
	seeds := 30
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { randomSession(t, int64(seed)) })
	}
}

func randomSession(t *testing.T, seed int64) {
	var mu sync.Mutex
	approved := map[string]bool{} // bodies of calls that a person said yes to
	person := rand.New(rand.NewSource(seed))
	server := rand.New(rand.NewSource(seed + 1000))
	r := start(t, options{
		version: []string{"2025-06-18", "2025-11-25"}[seed%2],
		person: func(s *side, msg jsonrpc.Message) {
			if msg.Method != "elicitation/create" {
				return
			}
			no := result(msg.ID.String(), `{"action":"decline"}`)
			switch person.Intn(5) {
			case 0, 1:
				mu.Lock()
				approved[bodyOf(string(msg.Params))] = true
				mu.Unlock()
				s.send(result(msg.ID.String(), yes), no)
			case 2:
				s.send(no, result(msg.ID.String(), yes))
			case 3:
				s.send(`{"jsonrpc":"2.0","id":` + msg.ID.String() + `,"error":{"code":-32601,"message":"x"}}`)
			}
		},
		server: func(s *side, msg jsonrpc.Message) bool { return chaosServer(server, s, msg) },
	})
	chance := rand.New(rand.NewSource(seed + 2000))
	cancelled := map[int]bool{}
	var ids []string
	for n := range 300 {
		id := fmt.Sprint(n)
		switch k := chance.Intn(10); {
		case k < 3:
			r.client.send(call(id, "echo", `{"text":"fine"}`))
		case k < 4:
			r.client.send(call(id, "only", `{"mode":"needle"}`))
		case k < 5:
			r.client.send(call(id, "ghost", `{"x":"needle"}`))
		case k < 8:
			r.client.send(call(id, "send", `{"to":"new@random.example","body":"body-`+id+`-"}`))
		case k < 9:
			r.client.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		default:
			r.client.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"Tools/Call","params":{"name":"needle"}}`)
		}
		ids = append(ids, id)
		if victim := chance.Intn(n + 1); chance.Intn(4) == 0 {
			cancelled[victim] = true
			r.client.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, victim))
		}
	}
	r.client.send(`{"jsonrpc":"2.0","id":"end","method":"ping"}`)
	r.client.response(t, `"end"`) // every frame of the client was handled, though not all are settled
	if chance.Intn(2) == 0 {
		r.server.hangUp()
		r.join()
	} else {
		r.finish()
	}
	all := r.client.got.list()
	responses := map[string]int{}
	for _, line := range all {
		if msg, bad := jsonrpc.Parse([]byte(line), jsonrpc.FromServer); bad == nil && msg.Shape == jsonrpc.Response {
			responses[msg.ID.String()]++
		}
	}
	for n, id := range ids {
		if got := responses[id]; got > 1 || got == 0 && !cancelled[n] {
			t.Errorf("%d responses to %s", got, id)
		}
	}
	r.never("needle")
	for _, line := range r.server.got.list() {
		if body := bodyOf(line); body != "" && !approved[body] {
			t.Errorf("nobody approved %s", line)
		}
	}
	asked, settled := 0, 0
	for _, v := range r.log.verdicts("send") {
		if v == "ask" {
			asked++
		} else if strings.Contains(v, "(") {
			settled++
		}
	}
	if asked != settled {
		t.Errorf("%d questions in the log and %d outcomes", asked, settled)
	}
}

func bodyOf(line string) string {
	if i := strings.Index(line, "body-"); i >= 0 {
		return line[i : i+5+strings.Index(line[i+5:], "-")]
	}
	return ""
}

// chaosServer answers calls at once, twice, wrongly or never, and says other things in between.
func chaosServer(chance *rand.Rand, s *side, msg jsonrpc.Message) bool {
	switch chance.Intn(12) {
	case 0:
		s.send("log line", `{"level":"info"}`)
	case 1:
		s.send(listChanged)
	case 2:
		s.send(result(fmt.Sprint(chance.Intn(300)), `{"forged":true}`), result(`"x"`, `{}`))
	case 3:
		s.send(`{"jsonrpc":"2.0","method":"vendor/x","params":{"a":1}}`)
	}
	if msg.Method != "tools/call" {
		return false
	}
	id := msg.ID.String()
	switch chance.Intn(6) {
	case 0:
		s.send(result(id, `{"n":1}`), result(id, `{"n":2}`))
	case 1:
		s.send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"a":`)
	case 2: // never
	default:
		s.send(result(id, `{"content":[]}`))
	}
	return true
}
