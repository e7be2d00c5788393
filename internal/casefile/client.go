package casefile

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// scriptedClient plays the client in front of the relay, and the person who sits at it.
type scriptedClient struct {
	spec clientSpec
	out  io.WriteCloser // to the relay
	got  *inbox
	next int // number of the next request
}

func newScriptedClient(spec clientSpec, out io.WriteCloser, clock *atomic.Int64) *scriptedClient {
	return &scriptedClient{spec: spec, out: out, got: newInbox(clock)}
}

// write sends bytes to the relay. A relay that does not read is an error and no hang.
func (c *scriptedClient) write(ctx context.Context, data string) error {
	done := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c.out, data)
		done <- err
	}()
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the relay did not read a frame: %w", ctx.Err())
	}
}

func (c *scriptedClient) send(ctx context.Context, frame string) error {
	return c.write(ctx, frame+"\n")
}

// newID returns an id that no other request of the case has.
func (c *scriptedClient) newID() jsonrpc.ID {
	c.next++
	return jsonrpc.StringID("case-" + strconv.Itoa(c.next))
}

// request builds a request. members are those of params, without braces.
func (c *scriptedClient) request(id jsonrpc.ID, method, members string) string {
	if c.spec.stateless() {
		if members != "" {
			members += ","
		}
		members += `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + c.spec.version +
			`","io.modelcontextprotocol/clientInfo":{"name":"case","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + c.capabilities() + `}`
	}
	return string(jsonrpc.RequestFrame(id, method, []byte(`{`+members+`}`)))
}

func (c *scriptedClient) call(id jsonrpc.ID, tool, args string) string {
	members := `"name":` + string(jsonrpc.Quote(tool))
	if args != "" {
		members += `,"arguments":` + args
	}
	return c.request(id, "tools/call", members)
}

func (c *scriptedClient) capabilities() string {
	if c.spec.elicitation {
		return `{"elicitation":{}}`
	}
	return `{}`
}

// ask sends a request that nobody judges and waits for its answer.
func (c *scriptedClient) ask(ctx context.Context, method, members string) error {
	id := c.newID()
	from := c.got.len()
	if err := c.send(ctx, c.request(id, method, members)); err != nil {
		return err
	}
	_, err := c.got.wait(ctx, from, "the answer to "+method, answersTo(id))
	return err
}

// greet opens the session as the protocol version has it, and reads the first page of the tools like a client that
// does not page (A64).
func (c *scriptedClient) greet(ctx context.Context) error {
	if c.spec.stateless() {
		if err := c.ask(ctx, "server/discover", ""); err != nil {
			return err
		}
		return c.ask(ctx, "tools/list", "")
	}
	err := c.ask(ctx, "initialize", `"protocolVersion":"`+c.spec.version+`","capabilities":`+c.capabilities()+
		`,"clientInfo":{"name":"case","version":"1"}`)
	if err == nil {
		err = c.send(ctx, string(jsonrpc.NotificationFrame("notifications/initialized", nil)))
	}
	if err == nil {
		err = c.ask(ctx, "tools/list", "")
	}
	return err
}

// answersTo matches the response to a request.
func answersTo(id jsonrpc.ID) func([]byte) bool {
	return func(frame []byte) bool {
		msg, bad := jsonrpc.Parse(frame, jsonrpc.FromServer)
		return bad == nil && msg.Shape == jsonrpc.Response && msg.ID.Key() == id.Key()
	}
}

// options are what the person at the form chooses.
var options = map[string]string{answerOnce: "Allow this call", answerSession: "Allow for this session", answerDeny: "Deny",
	answerAlways: "Always allow", answerNever: "Never allow"}

// fill answers a question as a person does.
func (c *scriptedClient) fill(ctx context.Context, question jsonrpc.Message, answer string) error {
	params, err := jsonrpc.Decode(question.Params)
	if err != nil {
		return fmt.Errorf("read the question: %w", err)
	}
	result, err := filled(params, answer)
	if err != nil {
		return err
	}
	return c.send(ctx, string(jsonrpc.ResultFrame(question.ID, []byte(result))))
}

// filled is the result of a form: one of its own options, never an answer that it does not have. Nobody's is a closed window.
func filled(params jsonrpc.Value, answer string) (string, error) {
	if answer == answerNobody {
		return `{"action":"cancel"}`, nil
	}
	schema, _ := params.Get("requestedSchema")
	properties, _ := schema.Get("properties")
	for _, field := range properties.Members {
		choices, _ := field.Value.Get("enum")
		if slices.ContainsFunc(choices.Elems, func(v jsonrpc.Value) bool { return v.Text == options[answer] }) {
			content := `{` + string(jsonrpc.Quote(field.Name)) + `:` + string(jsonrpc.Quote(options[answer])) + `}`
			return `{"action":"accept","content":` + content + `}`, nil
		}
	}
	return "", fmt.Errorf("the question has no option %q", options[answer])
}

// carried reads a question of the relay's own that came back in place of a call's answer (protocol 2026-07-28): the member of the
// call's inputResponses that answers it, and its requestState.
func carried(frame []byte, answer string) (responses, state string, ok bool, err error) {
	msg, bad := jsonrpc.Parse(frame, jsonrpc.FromServer)
	if bad != nil || msg.Shape != jsonrpc.Response {
		return "", "", false, nil
	}
	result, err := jsonrpc.Decode(msg.Result)
	if err != nil {
		return "", "", false, nil
	}
	inputs, _ := result.Get("inputRequests")
	token, _ := result.Get("requestState")
	if len(inputs.Members) != 1 || !strings.HasPrefix(inputs.Members[0].Name, ownPrefix) {
		return "", "", false, nil
	}
	params, _ := inputs.Members[0].Value.Get("params")
	form, err := filled(params, answer)
	return `{` + string(jsonrpc.Quote(inputs.Members[0].Name)) + `:` + form + `}`, string(token.Raw), true, err
}

// again is a request made again with another id and the answer that it brings along. plain is what may reach the server of it.
func (c *scriptedClient) again(sent, responses, state string) (whole, plain string, id jsonrpc.ID, err error) {
	v, err := jsonrpc.Decode([]byte(strings.TrimSpace(sent)))
	if err != nil {
		return "", "", jsonrpc.ID{}, err
	}
	params, _ := v.Get("params")
	method, _ := v.Get("method")
	var members []string
	for _, m := range params.Members {
		members = append(members, string(m.NameRaw)+":"+string(m.Value.Raw))
	}
	id = c.newID()
	frame := func(members []string) string {
		return string(jsonrpc.RequestFrame(id, method.Text, []byte(`{`+strings.Join(members, ",")+`}`)))
	}
	return frame(append([]string{`"inputResponses":` + responses, `"requestState":` + state}, members...)), frame(members), id, nil
}

// ownPrefix starts the ids of the relay's own requests, to either side.
const ownPrefix = "bouncer-"

// own reports whether an id is of the relay itself.
func own(id jsonrpc.ID) bool { return strings.HasPrefix(id.Key(), "s"+ownPrefix) }

// The person has long enough to be never late where the case has somebody who answers, and is given up soon where
// nobody does: then the time decides nothing, since nothing but its end can happen.
const (
	personHas = 3 * time.Second
	nobodyHas = 30 * time.Millisecond
)
