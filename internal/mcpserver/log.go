package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

const (
	keepLines = 200     // the latest lines that are held for showing
	maxLine   = 4 << 20 // a longer one is none that Bouncer writes: counted as unreadable
	maxCounts = 2000    // names come from agents and servers, who could make up any number of them
	others    = "(others)"
)

// logReader counts the lines of the audit log. It reads what was appended since the last look; a log that was rotated
// or cut is read from its start. It never writes, and never holds the file open.
type logReader struct {
	path string

	mu     sync.Mutex
	file   os.FileInfo
	offset int64
	tally  tally
}

// tally is what is known about the lines that were read.
type tally struct {
	verdicts, unreadable int
	counts               map[countKey]int
	last                 []Line
}

type countKey struct{ server, tool, verdict, contract string }

// Line is one verdict of the log, without the arguments of its call.
type Line struct {
	ID       string `json:"id"`
	Time     string `json:"time"`
	Verdict  string `json:"verdict"`
	Contract string `json:"contract"`
	Server   string `json:"server"`
	Tool     string `json:"tool"`
	Reason   string `json:"reason"`
	Origin   string `json:"origin,omitempty"`
	Answer   string `json:"answer,omitempty" jsonschema:"how a question ended"`
	Client   string `json:"client,omitempty"`
}

// read brings the tally up to date and returns a copy of it. No log at all is an empty one.
func (l *logReader) read(ctx context.Context) (tally, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, info, err := openLog(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		l.file, l.offset, l.tally = nil, 0, tally{}
		return l.tally.clone(), nil
	}
	if err != nil {
		return tally{}, err
	}
	defer f.Close()
	if l.file == nil || !os.SameFile(l.file, info) || info.Size() < l.offset {
		l.offset, l.tally = 0, tally{}
	}
	l.file = info
	err = eachLine(ctx, f, l.offset, func(line []byte, end int64) bool {
		l.offset = end
		l.tally.add(line)
		return true
	})
	if err != nil {
		return tally{}, fmt.Errorf("read audit log: %w", err)
	}
	return l.tally.clone(), nil
}

// openLog opens the log for reading if it is a regular file: a pipe in its place would block for ever.
func openLog(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read audit log: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read audit log: %w", err)
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("read audit log: %w", err)
	}
	return f, info, nil
}

// eachLine calls do for every finished line from offset on, with the place where it ends, until do returns false. A
// line longer than maxLine is nil. What stands behind the last line break is still being written, and is left alone.
func eachLine(ctx context.Context, f io.ReaderAt, offset int64, do func(line []byte, end int64) bool) error {
	r := bufio.NewReaderSize(io.NewSectionReader(f, offset, 1<<62-offset), 256<<10)
	var line []byte
	size := int64(0)
	for n := 0; ; {
		piece, err := r.ReadSlice('\n')
		size += int64(len(piece))
		if size <= maxLine {
			line = append(line, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		offset += size
		if size > maxLine {
			line = nil
		}
		if !do(line, offset) {
			return nil
		}
		line, size = line[:0], 0
		if n++; n%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (t *tally) add(raw []byte) {
	line, _, ok := parseLine(raw)
	if !ok {
		if !bookkeeping(raw) {
			t.unreadable++
		}
		return
	}
	t.verdicts++
	if t.counts == nil {
		t.counts = map[countKey]int{}
	}
	key := countKey{line.Server, line.Tool, line.Verdict, line.Contract}
	if _, known := t.counts[key]; !known && len(t.counts) >= maxCounts {
		key.server, key.tool = others, others
		if !slices.Contains(contracts, key.contract) {
			key.contract = others
		}
	}
	t.counts[key]++
	if len(t.last) >= 2*keepLines {
		t.last = append([]Line(nil), t.last[len(t.last)-keepLines+1:]...)
	}
	t.last = append(t.last, line)
}

var contracts = []string{gate.Guard, gate.Pinning, gate.Budget, gate.Constraint, gate.SinkGate, gate.Default, "frame", "audit"}

func (t tally) clone() tally {
	out := tally{verdicts: t.verdicts, unreadable: t.unreadable, counts: make(map[countKey]int, len(t.counts)), last: slices.Clone(t.last)}
	for k, n := range t.counts {
		out.counts[k] = n
	}
	return out
}

// bookkeeping reports a line that the log has for its own sake, such as a checkpoint: an object that gives no verdict.
func bookkeeping(raw []byte) bool {
	v, err := jsonrpc.DecodeLenient(raw)
	_, verdict := v.Get("verdict")
	return err == nil && v.Kind == jsonrpc.Object && !verdict
}

// parseLine reads one line of the log. A line without a verdict that Bouncer gives is no entry.
func parseLine(raw []byte) (Line, jsonrpc.Value, bool) {
	v, err := jsonrpc.DecodeLenient(raw)
	if err != nil || v.Kind != jsonrpc.Object {
		return Line{}, jsonrpc.Value{}, false
	}
	get := func(key string) string {
		member, _ := v.Get(key)
		return member.Text
	}
	line := Line{ID: name(get("id")), Time: name(get("time")), Verdict: get("verdict"), Contract: name(get("contract")), Server: name(get("server")),
		Tool: name(get("tool")), Reason: visible(get("reason")), Origin: name(get("origin")), Answer: name(get("answer")), Client: name(get("client"))}
	if !slices.Contains([]string{gate.Allow.String(), gate.Ask.String(), gate.Deny.String()}, line.Verdict) {
		return Line{}, jsonrpc.Value{}, false
	}
	return line, v, true
}
