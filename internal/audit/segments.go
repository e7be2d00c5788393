package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Files lists the files of the log at path, oldest first: the rotated ones, then the current one. The error is
// fs.ErrNotExist when there is none.
func Files(path string) ([]string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	numbers, err := rotated(path)
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	var files []string
	for _, n := range numbers {
		files = append(files, segmentName(path, n))
	}
	if _, err := os.Stat(path); err == nil {
		files = append(files, path)
	} else if !errors.Is(err, fs.ErrNotExist) || len(files) == 0 {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	return files, nil
}

// lineLimit bounds what is held of one line. This program writes none as long.
const lineLimit = 16 << 20

// eachLine calls do for every line of r, without its newline, with the offset that it ends at, newline included. The
// last one may not be whole. A line over the limit is passed cut. line is valid until do returns.
func eachLine(r io.Reader, do func(line []byte, end int64, whole bool) error) error {
	in := bufio.NewReaderSize(r, 256<<10)
	var held []byte
	var end int64
	for {
		piece, err := in.ReadSlice('\n')
		end += int64(len(piece))
		if err == bufio.ErrBufferFull {
			if len(held) < lineLimit {
				held = append(held, piece...)
			}
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		line := piece
		if len(held) > 0 {
			held = append(held, piece...)
			line = held
		}
		line, whole := bytes.CutSuffix(line, []byte("\n"))
		if len(line) > 0 || whole {
			if err := do(line, end, whole); err != nil {
				return err
			}
		}
		if held = held[:0]; cap(held) > 1<<20 {
			held = nil
		}
		if err == io.EOF {
			return nil
		}
	}
}

func firstLine(f *os.File) ([]byte, error) {
	line, err := bufio.NewReader(io.NewSectionReader(f, 0, lineLimit)).ReadBytes('\n')
	return bytes.TrimSuffix(line, []byte("\n")), err
}

// header is the first line of a file that follows a rotated one.
type header struct {
	number   int
	previous segment
	removed  []segment
	carried  []head
}

func readHeader(line []byte) (h header, ok bool) {
	if !bytes.HasPrefix(line, []byte(`{"segment": `)) {
		return h, false
	}
	v, err := jsonrpc.DecodeLenient(line)
	if err != nil {
		return h, false
	}
	s, ok := v.Get("segment")
	h.number = int(integer(s, "number"))
	previous, _ := s.Get("previous")
	h.previous = readSegment(previous)
	removed, _ := s.Get("removed")
	for _, r := range removed.Elems {
		h.removed = append(h.removed, readSegment(r))
	}
	carried, _ := s.Get("carried")
	h.carried = readHeads(carried)
	return h, ok && h.number > 1
}

func readSegment(v jsonrpc.Value) segment {
	heads, _ := v.Get("heads")
	return segment{file: text(v, "file"), size: integer(v, "size"), line: text(v, "line"), heads: readHeads(heads)}
}

func readHeads(v jsonrpc.Value) (heads []head) {
	for _, h := range v.Elems {
		closed, _ := h.Get("closed")
		heads = append(heads, head{text(h, "writer"), uint64(integer(h, "seq")), text(h, "line"), closed.Text == "true"})
	}
	return heads
}

// text is the string member called name, "" when there is none.
func text(v jsonrpc.Value, name string) string {
	if member, _ := v.Get(name); member.Kind == jsonrpc.String {
		return member.Text
	}
	return ""
}

// integer is the number called name, -1 when there is none that is whole and not negative.
func integer(v jsonrpc.Value, name string) int64 {
	member, _ := v.Get(name)
	n, err := strconv.ParseInt(member.Text, 10, 64)
	if member.Kind != jsonrpc.Number || err != nil || n < 0 {
		return -1
	}
	return n
}
