package casefile

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// scriptedServer plays the server behind the relay. It answers everything at once, from a script that the runner
// changes between steps, and keeps every frame it got before it answers it.
type scriptedServer struct {
	spec      server
	dir       string
	version   string
	stateless bool
	got       *inbox
	answers   chan string
	ended     chan struct{} // closed when the relay has nothing more to say

	mu      sync.Mutex
	tools   toolPages
	returns scripted
	last    []byte // the answer to the last tools/call
}

func newScriptedServer(spec server, c clientSpec, dir string, clock *atomic.Int64) *scriptedServer {
	return &scriptedServer{spec: spec, dir: dir, version: c.version, stateless: c.stateless(), got: newInbox(clock),
		answers: make(chan string, 64), ended: make(chan struct{}), tools: spec.tools}
}

// serve reads the relay's frames from in and writes answers to out, until in ends. Reading and writing are two
// goroutines: a server that reads nothing while it writes would stop the relay, and with it the case.
func (s *scriptedServer) serve(in io.Reader, out io.WriteCloser) {
	go s.write(out)
	s.got.fill(in, func(frame []byte) {
		if answer := s.answer(frame); answer != nil {
			s.say(string(answer))
		}
	})
	close(s.ended)
}

// write writes answers until the input has ended and none are left. Where the relay takes no more, they are dropped:
// the reader must not wait for room.
func (s *scriptedServer) write(out io.WriteCloser) {
	defer out.Close()
	for {
		select {
		case frame := <-s.answers:
			io.WriteString(out, frame+"\n")
			continue
		default:
		}
		select {
		case frame := <-s.answers:
			io.WriteString(out, frame+"\n")
		case <-s.ended:
			if len(s.answers) == 0 {
				return
			}
		}
	}
}

// say writes a frame. After the end of the session it says nothing.
func (s *scriptedServer) say(frame string) {
	select {
	case s.answers <- frame:
	case <-s.ended:
	}
}

func (s *scriptedServer) script(returns scripted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.returns, s.last = returns, nil
}

func (s *scriptedServer) list(tools toolPages) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = tools
}

func (s *scriptedServer) lastAnswer() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// answer returns the response to a frame, nil when it gets none. A frame that has no single reading gets none: that it
// arrived at all is what the runner sees.
func (s *scriptedServer) answer(frame []byte) []byte {
	msg, bad := jsonrpc.Parse(frame, jsonrpc.FromClient)
	if bad != nil || msg.Shape != jsonrpc.Request {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := scripted{members: `"ok":true`}
	switch msg.Method {
	case "initialize":
		answer.members = `"protocolVersion":"` + s.version + `",` + s.about()
	case "server/discover":
		answer.members = `"supportedVersions":["` + modern + `"],` + s.about()
	case "tools/list":
		answer.members = s.page(msg.Params)
	case "tools/call":
		answer = s.returns
		s.last = []byte(inJSON(answer.frame(msg.ID.String(), s.stateless), s.dir))
		return s.last
	}
	return []byte(inJSON(answer.frame(msg.ID.String(), s.stateless), s.dir))
}

func (s *scriptedServer) about() string {
	out := `"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":` + string(jsonrpc.Quote(s.spec.reported)) + `,"version":"1.0.0"}`
	if s.spec.instructions != "" {
		out += `,"instructions":` + string(jsonrpc.Quote(s.spec.instructions))
	}
	return out
}

// page returns the page that a cursor names. Cursors are a page's number in letters: page a, then aa, then aaa.
func (s *scriptedServer) page(params []byte) string {
	v, _ := jsonrpc.Decode(params)
	cursor, _ := v.Get("cursor")
	last := len(s.tools.pages) - 1
	at := min(len(cursor.Text), last)
	out := `"tools":` + s.tools.pages[at]
	if at < last || s.tools.endless {
		out += `,"nextCursor":"` + cursor.Text[:min(at, len(cursor.Text))] + `a"`
	}
	return out
}
