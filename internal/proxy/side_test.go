package proxy_test

import (
	"bufio"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// side is the client or the server of a scripted session. What it writes never waits for the other side to read, and
// what it is sent is always read at once (unless paused), so that whatever hangs is the relay.
type side struct {
	got  *lines
	auto func(*side, jsonrpc.Message)

	mu     sync.Mutex
	out    chan item
	closed bool
	muted  chan struct{} // the side reads nothing until this is closed; nil when it reads
}

// item is bytes to write. done, if there is one, is closed when they and everything before them were taken.
type item struct {
	text string
	done chan struct{}
}

func newSide(from io.Reader, to io.WriteCloser, speaker jsonrpc.Side, auto func(*side, jsonrpc.Message), paused bool) *side {
	s := &side{got: newLines(), out: make(chan item, 1<<17), auto: auto}
	if paused {
		s.mute()
	}
	go func() {
		defer to.Close()
		for it := range s.out {
			io.WriteString(to, it.text) // a reader that is gone gets nothing; that is what some tests are about
			if it.done != nil {
				close(it.done)
			}
		}
	}()
	go func() {
		r := bufio.NewReaderSize(from, 1<<16)
		for {
			s.awaitUnmute()
			line, err := r.ReadString('\n')
			if line != "" {
				line = strings.TrimSuffix(line, "\n")
				s.got.add(line)
				if msg, bad := jsonrpc.Parse([]byte(line), speaker); bad == nil && s.auto != nil {
					s.auto(s, msg)
				}
			}
			if err != nil {
				s.got.end()
				return
			}
		}
	}()
	return s
}

func (s *side) send(frames ...string) {
	for _, f := range frames {
		s.put(item{text: f + "\n"})
	}
}

// cut writes bytes without a newline.
func (s *side) cut(text string) { s.put(item{text: text}) }

func (s *side) put(it item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.out <- it
	} else if it.done != nil {
		close(it.done)
	}
}

// flush waits until the relay took everything that was sent.
func (s *side) flush(t *testing.T) {
	t.Helper()
	done := make(chan struct{})
	s.put(item{done: done})
	within(t, "the relay does not read", func() { <-done })
}

func (s *side) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.out)
	}
}

// mute makes the side read nothing more, but for a frame that it is waiting for already.
func (s *side) mute() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.muted = make(chan struct{})
}

func (s *side) unmute() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.muted != nil {
		close(s.muted)
		s.muted = nil
	}
}

func (s *side) awaitUnmute() {
	s.mu.Lock()
	muted := s.muted
	s.mu.Unlock()
	if muted != nil {
		<-muted
	}
}

// response waits for the response to an id as it is spelled.
func (s *side) response(t *testing.T, id string) string {
	t.Helper()
	return s.got.wait(t, "response to "+id, func(line string) bool { return answers(line, id) })
}

func answers(line, id string) bool {
	if !strings.Contains(line, id) { // spares thousands of lines the parser
		return false
	}
	msg, bad := jsonrpc.Parse([]byte(line), jsonrpc.FromServer)
	return bad == nil && msg.Shape == jsonrpc.Response && msg.ID.String() == id
}

// request waits for a request of this method that is not one of the relay's own lists.
func (s *side) request(t *testing.T, method string) jsonrpc.Message {
	t.Helper()
	line := s.got.wait(t, "a "+method, func(line string) bool {
		msg, bad := jsonrpc.Parse([]byte(line), jsonrpc.FromServer)
		return bad == nil && msg.Shape != jsonrpc.Response && msg.Method == method
	})
	msg, _ := jsonrpc.Parse([]byte(line), jsonrpc.FromServer)
	return msg
}
