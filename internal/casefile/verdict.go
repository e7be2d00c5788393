package casefile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/proxy"
)

// blocked starts everything that the relay says in a server's place.
const blocked = "[bouncer blocked] "

// observed is what became of a frame.
type observed struct {
	verdict  string // "" when what was seen fits none
	then     string // allow or deny, after ask
	line     logLine
	problems []string // what does not fit together
}

func (o *observed) problem(format string, args ...any) {
	o.problems = append(o.problems, fmt.Sprintf(format, args...))
}

// observe reads a verdict off the wires, then off the log, and holds the one against the other.
func (x exchange) observe() observed {
	var o observed
	end := x.onTheWire(&o)
	if x.asked > 1 {
		o.problem("the client was asked %d times about one call", x.asked)
	}
	if x.unfilled != "" {
		o.problem("%s", x.unfilled)
	}
	for _, frame := range x.strays {
		o.problem("the client got a frame that answers nothing: %s", show(string(frame)))
	}
	x.inTheLog(&o, end)
	return o
}

// onTheWire says how the frame ended: allow, deny or refused, "" when what was seen is none of them.
func (x exchange) onTheWire(o *observed) string {
	exact := 0
	for _, r := range x.atServer {
		if string(r.frame) == strings.TrimSuffix(x.sent, "\n") {
			exact++
		} else {
			o.problem("the server received what nobody sent: %s", show(string(r.frame)))
		}
	}
	text, isDenial, isError := x.spoken()
	reached := len(x.atServer) > 0
	switch {
	case exact == 1 && len(x.atServer) == 1 && x.id.IsZero() && x.response == nil:
		return allow
	case exact == 1 && len(x.atServer) == 1 && x.response != nil && x.fromServer():
		if x.atServer[0].order >= x.answered {
			o.problem("the client had its answer before the server had the call")
		}
		return allow
	case exact > 1:
		o.problem("the server received the frame %d times", exact)
	case !reached && isDenial:
		return deny
	case !reached && isError, !reached && x.response == nil && x.id.IsZero():
		return refused
	case reached && (isDenial || isError):
		o.problem("the client was told %s, and the server received %s", show(text), show(string(x.atServer[0].frame)))
	case reached:
		o.problem("the server received the call, and the client did not get the server's answer but %s", show(string(x.response)))
	default:
		o.problem("the server received nothing, and the client got %s", show(string(x.response)))
	}
	return ""
}

// fromServer reports whether the response is the server's own, byte for byte. Only a tool call's answer is scripted.
func (x exchange) fromServer() bool {
	if x.judged {
		return x.answer != nil && string(x.response) == string(x.answer)
	}
	_, isDenial, isError := x.spoken()
	return !isDenial && !isError
}

// spoken reads what the relay said in the server's place: a blocked tool result, or an error.
func (x exchange) spoken() (text string, isDenial, isError bool) {
	msg, bad := jsonrpc.Parse(x.response, jsonrpc.FromServer)
	if x.response == nil || bad != nil {
		return "", false, false
	}
	if msg.Error != nil {
		v, _ := jsonrpc.DecodeLenient(msg.Error)
		message, _ := v.Get("message")
		code, _ := v.Get("code")
		ours := strings.HasPrefix(message.Text, blocked)
		// A request that is no call has no result that could say that it was denied.
		isDenial = ours && code.Text == strconv.Itoa(proxy.CodeBlocked)
		return message.Text, isDenial, ours && !isDenial
	}
	v, _ := jsonrpc.DecodeLenient(msg.Result)
	isErr, _ := v.Get("isError")
	content, _ := v.Get("content")
	if isErr.Text != "true" || len(content.Elems) == 0 {
		return "", false, false
	}
	first, _ := content.Elems[0].Get("text")
	return first.Text, strings.HasPrefix(first.Text, blocked), false
}

// inTheLog holds the log's lines against the end that was seen, and says the verdict.
func (x exchange) inTheLog(o *observed, end string) {
	var said []string
	for _, l := range x.log {
		said = append(said, l.verdict)
	}
	if len(x.log) > 0 {
		o.line = x.log[0]
	}
	asked := x.asked > 0
	for range x.carried {
		if len(said) > 1 && said[0] == ask && said[1] == ask {
			said = said[1:]
		}
	}
	if !asked && len(said) == 2 && said[0] == ask && x.log[1].answer == "unsupported" {
		asked = true // nobody could be asked, which only the log can say
	}
	want := []string{end}
	switch {
	case !asked && len(said) == 2 && said[0] == ask && x.log[1].answer == "held": // a person said no before
		o.verdict, want = end, []string{ask, deny}
	case asked:
		o.verdict, o.then = ask, end
		want = []string{ask, end}
	case end == refused:
		o.verdict, want = end, []string{deny}
	case end == allow && !x.judged:
		o.verdict, want = end, nil
	default:
		o.verdict = end
	}
	if end != "" && !slices.Equal(said, want) {
		o.problem("the wire and the log disagree: %s was seen, and the log says %s", strings.Join(want, " then "), orNothing(said))
	}
	if len(x.log) == 2 && x.log[0].id != x.log[1].id {
		o.problem("the log has two ids for one call")
	}
	if (end == refused) != (o.line.contract == "frame") && end != "" {
		o.problem("the frame ended as %s, and the log names the contract %s", end, show(o.line.contract))
	}
	if text, isDenial, isError := x.spoken(); (isDenial || isError) && len(x.log) > 0 {
		last := x.log[len(x.log)-1]
		same, _, _ := strings.Cut(last.reason, "[masked:") // the log keeps no password
		if !strings.HasPrefix(text, blocked+same) {
			o.problem("the client was told %s, and the log's reason is %s", show(text), show(last.reason))
		}
	}
}

func orNothing(said []string) string {
	if len(said) == 0 {
		return "nothing"
	}
	return strings.Join(said, " then ")
}

// against holds what was observed against what the step wants.
func (s step) against(o observed) []string {
	problems := o.problems
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if !slices.Contains(s.want, o.verdict) {
		add("wanted %s, got %s", strings.Join(s.want, " or "), orUnclear(o))
	}
	if o.verdict == ask && slices.Contains(s.want, ask) && o.then != s.then {
		add("after the answer %s wanted %s, got %s", s.answer, s.then, orUnclear(observed{verdict: o.then}))
	}
	if s.contract != "" && s.contract != o.line.contract {
		add("wanted the contract %s, got %s", s.contract, show(o.line.contract))
	}
	if s.origin != "" && s.origin != o.line.origin {
		add("wanted the origin %s, got %s", s.origin, show(o.line.origin))
	}
	if !strings.Contains(o.line.reason, s.reason) {
		add("wanted a reason with %s, got %s", show(s.reason), show(o.line.reason))
	}
	return problems
}

func orUnclear(o observed) string {
	switch {
	case o.verdict == "":
		return "something that is no verdict"
	case o.then != "":
		return o.verdict + ", then " + o.then
	}
	return o.verdict
}
