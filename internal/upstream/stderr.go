package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine is where a stderr line is cut. A server that never writes a newline costs one buffer, not memory without
// end, and its output still shows.
const maxLine = 64 << 10

// relayLines copies r to w line by line until r ends, each line behind prefix so that a log shared by several servers
// can be told apart (B07). It reads no further while w blocks: the pipe fills and the server waits, nothing is queued.
// An error of w loses the line and nothing else: a client that closed its log must not stall the server.
//
// What servers write to stderr may contain secrets. It goes to the client, which would have got it without Bouncer,
// and nowhere else.
func relayLines(r io.Reader, w io.Writer, prefix string) {
	in := bufio.NewReaderSize(r, maxLine)
	out := make([]byte, 0, 4096)
	for cut := false; ; {
		piece, err := in.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		// The newline that ends a line cut exactly there is not an empty line.
		if len(piece) > 0 && !(cut && len(piece) == 1 && piece[0] == '\n') {
			out = emit(w, out, prefix, piece)
		}
		if err != nil && !full {
			return
		}
		cut = full
	}
}

// emit writes one piece. A carriage return starts a new line: a terminal would go back and write over the prefix, and
// the server's text would stand there as another server's or as Bouncer's own.
func emit(w io.Writer, out []byte, prefix string, piece []byte) []byte {
	piece = bytes.TrimRight(piece, "\r\n")
	for {
		line, rest, more := bytes.Cut(piece, []byte{'\r'})
		out = append(out[:0], prefix...)
		out = appendVisible(out, line)
		out = append(out, '\n')
		_, _ = w.Write(out)
		if !more {
			break
		}
		piece = rest
	}
	if cap(out) > 2*maxLine {
		return nil // one hostile line must not pin its expansion for the life of the server
	}
	return out
}

// appendVisible appends line with control characters spelled out, except tabs and colours. Cursor movement would let a
// server rewrite what Bouncer itself has said on the user's terminal.
func appendVisible(out, line []byte) []byte {
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == 0x1b:
			n := colour(line[i:])
			if n == 0 {
				out = append(out, `\x1b`...)
				continue
			}
			out = append(out, line[i:i+n]...)
			i += n - 1
		case c < 0x20 && c != '\t' || c == 0x7f:
			out = fmt.Appendf(out, `\x%02x`, c)
		case c == 0xc2 && i+1 < len(line) && line[i+1] >= 0x80 && line[i+1] < 0xa0:
			// The 8-bit controls, in UTF-8: U+009B does what ESC [ does.
			out = fmt.Appendf(out, `\u%04x`, line[i+1])
			i++
		default:
			out = append(out, c)
		}
	}
	return out
}

// colour is the length of the SGR sequence (ESC [ digits and semicolons m) that s begins with, or 0.
func colour(s []byte) int {
	if len(s) < 3 || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s) && i < 32; i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}
