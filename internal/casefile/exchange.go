package casefile

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// exchange is everything that could be seen of one frame of the client: on both wires and in the log.
type exchange struct {
	sent      string
	id        jsonrpc.ID // of the response that must come; zero when none can
	judged    bool       // the frame is a tool call, so the log must have its verdict
	asked     int        // questions that the client got
	carried   int        // those of them that came back with the call, which was made again and judged again
	unfilled  string     // why a question could not be answered as the step says
	response  []byte     // nil when none came
	answered  int64      // when it came
	atServer  []received // without the relay's own requests and the runner's
	answer    []byte     // what the server answered to a tool call in this step; nil when it had none
	strays    [][]byte   // frames to the client that nothing accounts for
	log       []logLine
	listening bool // false once the client's input has ended: no response can be waited for
}

// exchange sends one frame and sees it through to its end: its response, whatever questions stand before that, and
// then a harmless request each way, behind which nothing of the frame can still be under way.
func (w *world) exchange(ctx context.Context, l *link, x exchange, answer string) (exchange, error) {
	from := l.client.got.len()
	var err error
	if x.listening {
		err = l.client.send(ctx, x.sent)
	} else {
		err = l.client.write(ctx, x.sent)
	}
	if err != nil {
		return x, err
	}
	if !x.listening {
		err = l.end(ctx)
	} else if !x.id.IsZero() {
		err = x.await(ctx, l, from, answer)
	}
	if err != nil {
		return x, err
	}
	if x.listening {
		if err := l.client.ask(ctx, "ping", ""); err != nil {
			return x, err
		}
	}
	if x.log, err = w.lines.next(); err != nil {
		return x, err
	}
	if x.listening && x.id.IsZero() {
		if err := w.fence(ctx, l); err != nil {
			return x, err
		}
	}
	x.atServer = l.fresh()
	x.answer = l.server.lastAnswer()
	x.sort(l.client.got.since(from))
	return x, nil
}

// await waits for the response, and answers questions until then.
func (x *exchange) await(ctx context.Context, l *link, from int, answer string) error {
	is := answersTo(x.id)
	for {
		at, err := l.client.got.wait(ctx, from, "the answer to the step's frame", func(frame []byte) bool {
			_, question := questionIn(frame)
			return question || is(frame)
		})
		if err != nil {
			return err
		}
		got := l.client.got.since(at)[0]
		question, asks := questionIn(got.frame)
		if responses, state, carries, err := carried(got.frame, answer); !asks && carries {
			x.asked++
			x.carried++
			if err != nil {
				x.unfilled = err.Error()
				responses = "{}"
			}
			var again string
			if again, x.sent, x.id, err = l.client.again(x.sent, responses, state); err == nil {
				err = l.client.send(ctx, again)
			}
			if err != nil {
				return err
			}
			is, from = answersTo(x.id), at+1
			continue
		}
		if !asks {
			x.response, x.answered = got.frame, got.order
			return nil
		}
		x.asked++
		if answer != answerNobody {
			if err := l.client.fill(ctx, question, answer); err != nil {
				x.unfilled = err.Error()
			}
		}
		from = at + 1
	}
}

// questionIn reads the relay's own question to the person.
func questionIn(frame []byte) (jsonrpc.Message, bool) {
	msg, bad := jsonrpc.Parse(frame, jsonrpc.FromServer)
	return msg, bad == nil && msg.Shape == jsonrpc.Request && msg.Method == "elicitation/create" && own(msg.ID)
}

// fenceMethod is a spelling that the relay must refuse, and that no case would write.
const fenceMethod = "\u2003TOOLS/call\u2003"

// fence has the relay refuse a frame. What it says of its own accord goes to the client through one queue, so an answer
// without an id, if there is one, stands before this refusal. The log has a line for it, which is taken out.
func (w *world) fence(ctx context.Context, l *link) error {
	if err := l.client.ask(ctx, fenceMethod, ""); err != nil {
		return err
	}
	lines, err := w.lines.next()
	if err == nil && (len(lines) != 1 || lines[0].contract != "frame") {
		err = fmt.Errorf("the relay logged %d lines for one frame that it refused", len(lines))
	}
	return err
}

// fresh returns what the server got since the last step, without the relay's own requests and the runner's fences.
func (l *link) fresh() []received {
	var out []received
	all := l.server.got.since(l.seen)
	l.seen += len(all)
	for _, r := range all {
		msg, bad := jsonrpc.Parse(r.frame, jsonrpc.FromClient)
		switch {
		case bad == nil && own(msg.ID) && msg.Method == "tools/list":
		case bad == nil && isCaseID(msg.ID) && msg.Method == "ping":
		default:
			out = append(out, r)
		}
	}
	return out
}

// sort accounts for what the client got. A frame without an id answers x only if x had none that could be read.
func (x *exchange) sort(got []received) {
	for _, r := range got {
		msg, bad := jsonrpc.Parse(r.frame, jsonrpc.FromServer)
		_, question := questionIn(r.frame)
		switch {
		case bad != nil:
			x.strays = append(x.strays, r.frame)
		case question, msg.Shape == jsonrpc.Notification:
		case msg.ID.IsZero() && x.id.IsZero() && x.response == nil:
			x.response, x.answered = r.frame, r.order
		case bytes.Equal(r.frame, x.response) && r.order == x.answered:
		case msg.Shape == jsonrpc.Response && own(msg.ID):
			x.strays = append(x.strays, r.frame)
		case msg.Shape == jsonrpc.Response && isCaseID(msg.ID) && msg.ID.Key() != x.id.Key():
		default:
			x.strays = append(x.strays, r.frame)
		}
	}
}

// isCaseID reports whether an id is one that the runner made.
func isCaseID(id jsonrpc.ID) bool { return strings.HasPrefix(id.Key(), "scase-") }
