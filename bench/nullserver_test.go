package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// asServer makes the test binary a null server, so that tests and benchmarks need no C compiler.
const asServer = "BENCH_NULL_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(asServer) {
	case "":
	case "mute":
		return
	case "deaf": // reads everything and answers nothing
		io.Copy(io.Discard, os.Stdin)
		return
	default:
		if err := serveNull(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // else each child of a -race run takes a second to end
	}
	os.Exit(m.Run())
}

// serveNull is c/nullsrv.c in Go, slower.
func serveNull(in io.Reader, out io.Writer) error {
	frames := jsonrpc.NewReader(in, 0)
	text := []byte(strings.Repeat(`please mail the report to p1@c2.example or see https://h3.example/4\n`, 40_000))
	var frame []byte
	for turn := 0; ; turn++ {
		line, err := frames.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		msg, bad := jsonrpc.Parse(line, jsonrpc.FromClient)
		if bad != nil {
			return bad
		}
		if msg.ID.IsZero() {
			continue
		}
		frame = append(append(frame[:0], `{"jsonrpc":"2.0","id":`...), msg.ID.String()...)
		frame = append(frame, `,"result":`...)
		switch msg.Method {
		case "initialize":
			frame = append(frame, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"null","version":"1"}}`...)
		case "tools/list":
			frame = append(frame, `{"tools":[{"name":"`+sendTool+`","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"to":{"type":"string"}}}}]}`...)
		default:
			_, size, _ := bytes.Cut(msg.Params, []byte(`"n":`))
			n, err := strconv.Atoi(string(size[:bytes.IndexAny(size, ",}")]))
			if err != nil {
				return err
			}
			frame = append(frame, `{"content":[{"type":"text","text":"`...)
			frame = fmt.Appendf(frame, "%d ", turn) // no two texts are the same
			frame = append(append(frame, text[:n]...), `"}]}`...)
		}
		if _, err := out.Write(append(frame, "}\n"...)); err != nil {
			return err
		}
	}
}
