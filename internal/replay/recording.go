package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// recording is what a server in a process of its own answers from.
type recording struct {
	Listed  json.RawMessage `json:"listed"` // the tools/list result
	Answers []recorded      `json:"answers"`
}

// recorded is one call and its answer.
type recorded struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Result json.RawMessage `json:"result"`
}

// answerMember is where a call's _meta says which of the recorded ones it is: two calls can be alike and have different
// answers, and the server does not see those that were denied.
const answerMember = "bouncer.replay/answer"

// record collects what the server must know to play a task.
func record(s *Suite, t Task) (recording, error) {
	r := recording{Listed: s.Listed}
	for _, c := range t.Calls {
		result, err := answerOf(s.Outputs, c)
		if err != nil {
			return r, err
		}
		r.Answers = append(r.Answers, recorded{c.Function, c.Args, result})
	}
	return r, nil
}

const recordingFile = "recording.json"

// encode leaves the bytes of arguments as they are.
func (r recording) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return b.Bytes(), err
}

// Serve is a tool server that answers from a file which Process wrote, over in and out until in ends. It answers a call
// only if it came as it was recorded: name, arguments and all.
func Serve(in io.Reader, out io.Writer, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r recording
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("read recording %s: %w", file, err)
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		msg, bad := jsonrpc.Parse(bytes.TrimSuffix(line, []byte("\n")), jsonrpc.FromClient)
		if bad != nil {
			return errors.New("a frame that is no message came through: " + bad.Reason)
		}
		if msg.Shape != jsonrpc.Request {
			continue
		}
		if _, err := out.Write(append(r.answer(msg), '\n')); err != nil {
			return err
		}
	}
}

// answer answers a request.
func (r recording) answer(msg jsonrpc.Message) []byte {
	switch msg.Method {
	case "initialize":
		return jsonrpc.ResultFrame(msg.ID, []byte(`{"protocolVersion":"`+protocol+`","capabilities":{"tools":{}},"serverInfo":{"name":"recording","version":"1"}}`))
	case "tools/list":
		return jsonrpc.ResultFrame(msg.ID, bytes.Clone(r.Listed))
	case "ping":
		return jsonrpc.ResultFrame(msg.ID, nil)
	case "tools/call":
		result, err := r.call(msg.Params)
		if err != nil {
			return jsonrpc.ErrorFrame(msg.ID, -32602, err.Error())
		}
		return jsonrpc.ResultFrame(msg.ID, result)
	}
	return jsonrpc.ErrorFrame(msg.ID, -32601, "not in the recording")
}

func (r recording) call(params []byte) ([]byte, error) {
	var call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      map[string]int  `json:"_meta"`
	}
	if err := json.Unmarshal(params, &call); err != nil {
		return nil, err
	}
	n, ok := call.Meta[answerMember]
	if !ok || n < 0 || n >= len(r.Answers) {
		return nil, errors.New("the call is not in the recording")
	}
	a := r.Answers[n]
	if a.Tool != call.Name || !bytes.Equal(compact(a.Args), compact(call.Arguments)) {
		return nil, fmt.Errorf("call %d did not come as it was recorded", n)
	}
	return a.Result, nil
}

// compact takes the blanks between tokens out, which a line cannot keep.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
