package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// tail reads what a log file gains. What stood in it before is somebody else's.
type tail struct {
	path string
	at   int64
}

func newTail(path string) (*tail, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &tail{path: path}, nil
	case err != nil:
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return &tail{path: path, at: info.Size()}, nil
}

// next returns the lines since the last call. A line without its end, or one that is no JSON object, is an error: the
// log is evidence, and half of it is none.
func (t *tail) next() ([]line, error) {
	f, err := os.Open(t.path)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, t.at, 1<<30))
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	t.at += int64(len(data))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return nil, errors.New("audit log: it ends inside a line")
	}
	var out []line
	for raw := range bytes.Lines(data) {
		if !audit.IsEntry(bytes.TrimSuffix(raw, []byte("\n"))) { // a checkpoint
			continue
		}
		l := line{raw: strings.TrimSuffix(string(raw), "\n")}
		if err := json.Unmarshal(raw, &l); err != nil {
			return nil, fmt.Errorf("audit log: %w in %s", err, destination.Visible(l.raw, 200))
		}
		out = append(out, l)
	}
	return out, nil
}

// capture keeps the end of what Bouncer wrote to stderr, for the message when something goes wrong.
type capture struct {
	mu   sync.Mutex
	text []byte
}

const captured = 4096

// Write implements io.Writer and never fails: a full stderr must not hold Bouncer up.
func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, b...)
	if extra := len(c.text) - captured; extra > 0 {
		c.text = append(c.text[:0], c.text[extra:]...)
	}
	return len(b), nil
}

// tail returns the captured lines, indented, to stand behind an error.
func (c *capture) tail() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for l := range strings.Lines(string(c.text)) {
		b.WriteString("\n  stderr: " + destination.Visible(strings.TrimRight(l, "\r\n"), 300))
	}
	return b.String()
}
