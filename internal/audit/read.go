package audit

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Tail returns the last n lines of the log at path, oldest first, without their newlines. A line that a crash left
// unfinished is among them.
func Tail(path string, n int) ([][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("read audit log %s: %w", path, err)
	}
	var text []byte
	for at := end; at > 0 && bytes.Count(text, []byte("\n")) <= n; {
		size := min(at, 64<<10)
		at -= size
		chunk := make([]byte, size, int(size)+len(text))
		if _, err := f.ReadAt(chunk, at); err != nil {
			return nil, fmt.Errorf("read audit log %s: %w", path, err)
		}
		text = append(chunk, text...)
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	if len(text) == 0 || n == 0 {
		return nil, nil
	}
	lines := bytes.Split(text, []byte("\n"))
	return lines[max(0, len(lines)-n):], nil
}

// Describe renders one line of the log for people: time, verdict, server and tool, contract, reason. A line that is no
// entry is shown as such. Text of others is escaped.
func Describe(line []byte, colour bool) string {
	v, err := jsonrpc.DecodeLenient(line)
	if err != nil || v.Kind != jsonrpc.Object {
		return "???? unreadable line: " + destination.Visible(string(line), 120)
	}
	get := func(name string) string {
		member, _ := v.Get(name)
		return destination.Visible(member.Text, 300)
	}
	verdict := fmt.Sprintf("%-5s", get("verdict"))
	if colour {
		verdict = paint(verdict, get("verdict"))
	}
	when := get("time")
	if len(when) >= 19 {
		when = when[:10] + " " + when[11:19]
	}
	return fmt.Sprintf("%s  %s  %s  %s/%s  [%s] %s", when, get("id"), verdict, get("server"), get("tool"), get("contract"), get("reason"))
}

func paint(s, verdict string) string {
	code := map[string]string{"allow": "32", "ask": "33", "deny": "31"}[verdict]
	if code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
