package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// frame is one line that a process wrote to its standard output. The fields are spans of the line; a line that is not
// an object has none of them.
type frame struct {
	raw    string // without its newline
	bad    string // why it is no message, "" if it is one
	id     string // the raw token: 1 and "1" differ
	method string
	params json.RawMessage
	result json.RawMessage
	fault  json.RawMessage // the member "error"
}

func (f frame) isResponse() bool { return f.bad == "" && f.method == "" && f.id != "" }

func parseFrame(line string) frame {
	f := frame{raw: line}
	var members map[string]json.RawMessage // a map: struct fields would match "ID" for "id"
	if err := json.Unmarshal([]byte(line), &members); err != nil {
		f.bad = err.Error()
		return f
	}
	if string(members["jsonrpc"]) != `"2.0"` {
		f.bad = `no "jsonrpc":"2.0"`
		return f
	}
	if method, ok := members["method"]; ok {
		if err := json.Unmarshal(method, &f.method); err != nil || f.method == "" {
			f.bad = "method is not a name"
			return f
		}
	}
	f.id, f.params, f.result, f.fault = string(members["id"]), members["params"], members["result"], members["error"]
	switch {
	case f.method == "" && (f.result == nil) == (f.fault == nil):
		f.bad = "neither a request nor one result or error"
	case f.method == "" && f.id == "":
		f.bad = "a response to nobody"
	case f.method != "" && (f.result != nil || f.fault != nil):
		f.bad = "a request and a response in one"
	}
	return f
}

// inbox collects the lines of a process. It is the process's standard output: Write never fails, and blocks only while
// a test holds reading, as a client does that does not read.
type inbox struct {
	reading sync.Mutex
	mu      sync.Mutex
	partial []byte
	frames  []frame
	taken   []bool // parallel to frames: handed out by take
	size    int
	lost    int // bytes past mostStdout
	arrived chan struct{}
}

const mostStdout = 512 << 20

func newInbox() *inbox { return &inbox{arrived: make(chan struct{}, 1)} }

func (in *inbox) Write(p []byte) (int, error) {
	in.reading.Lock()
	defer in.reading.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.size+len(p) > mostStdout {
		in.lost += len(p)
		return len(p), nil
	}
	in.size += len(p)
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			in.partial = append(in.partial, rest...)
			break
		}
		line := string(append(in.partial, rest[:end]...))
		in.partial, rest = in.partial[:0], rest[end+1:]
		in.frames, in.taken = append(in.frames, parseFrame(line)), append(in.taken, false)
	}
	select {
	case in.arrived <- struct{}{}:
	default:
	}
	return len(p), nil
}

// take hands out the first frame that matches and was not handed out before.
func (in *inbox) take(match func(frame) bool) (frame, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i, f := range in.frames {
		if !in.taken[i] && match(f) {
			in.taken[i] = true
			return f, true
		}
	}
	return frame{}, false
}

// all returns every frame so far, those that were handed out too.
func (in *inbox) all() []frame {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]frame(nil), in.frames...)
}

// problems lists what no test should have to look for: lines that are no messages, requests answered twice, a torn last
// line. Call it when the process has ended.
func (in *inbox) problems() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	var list []string
	answered := map[string]bool{}
	for _, f := range in.frames {
		if f.bad != "" {
			list = append(list, fmt.Sprintf("not a message (%s): %s", f.bad, shorten(f.raw)))
			continue
		}
		if !f.isResponse() || f.id == "null" {
			continue
		}
		if answered[f.id] {
			list = append(list, "answered twice: "+shorten(f.raw))
		}
		answered[f.id] = true
	}
	if len(in.partial) > 0 {
		list = append(list, "torn last line: "+shorten(string(in.partial)))
	}
	if in.lost > 0 {
		list = append(list, fmt.Sprintf("more than %d bytes of output; %d are lost", mostStdout, in.lost))
	}
	return list
}

// stderrText keeps the beginning of what a process writes to standard error; a flood must not take the machine's memory.
type stderrText struct {
	mu   sync.Mutex
	text strings.Builder
	lost int
}

const mostStderr = 4 << 20

func (b *stderrText) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	keep := min(len(p), mostStderr-b.text.Len())
	b.text.Write(p[:keep])
	b.lost += len(p) - keep
	return len(p), nil
}

func (b *stderrText) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost > 0 {
		return fmt.Sprintf("%s\n... and %d bytes more", b.text.String(), b.lost)
	}
	return b.text.String()
}

func shorten(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s... (%d bytes)", s[:most], len(s))
}
