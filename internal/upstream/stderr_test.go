package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRelayLines(t *testing.T) {
	long := strings.Repeat("a", maxLine)
	for name, tc := range map[string]struct{ in, want string }{
		"nothing":               {"", ""},
		"lines":                 {"one\ntwo\n", "[n] one\n[n] two\n"},
		"no last newline":       {"one\ntwo", "[n] one\n[n] two\n"},
		"empty line":            {"a\n\nb\n", "[n] a\n[n] \n[n] b\n"},
		"CRLF":                  {"a\r\nb\r\n", "[n] a\n[n] b\n"},
		"progress bar":          {"10%\r20%\r\n", "[n] 10%\n[n] 20%\n"},
		"prefix not forged":     {"x\r[bank] y\n", "[n] x\n[n] [bank] y\n"},
		"colour":                {"\x1b[1;31mred\x1b[0m\x1b[m\n", "[n] \x1b[1;31mred\x1b[0m\x1b[m\n"},
		"cursor up":             {"\x1b[2A\x1b[2Kbouncer: approved\n", "[n] \\x1b[2A\\x1b[2Kbouncer: approved\n"},
		"title, clipboard":      {"\x1b]52;c;eA==\x07\n", "[n] \\x1b]52;c;eA==\\x07\n"},
		"escape at the end":     {"x\x1b\n\x1b[1\n", "[n] x\\x1b\n[n] \\x1b[1\n"},
		"other controls":        {"a\x00b\tc\x7f\b\n", "[n] a\\x00b\tc\\x7f\\x08\n"},
		"8-bit control":         {"\u009b2K\u00a0\n", "[n] \\u009b2K\u00a0\n"},
		"not UTF-8":             {"\xff\xc2\n", "[n] \xff\xc2\n"},
		"exactly the limit":     {long + "\nb\n", "[n] " + long + "\n[n] b\n"},
		"one below":             {long[1:] + "\nb\n", "[n] " + long[1:] + "\n[n] b\n"},
		"one above":             {long + "a\nb\n", "[n] " + long + "\n[n] a\n[n] b\n"},
		"cut, then empty line":  {long + "\n\nb\n", "[n] " + long + "\n[n] \n[n] b\n"},
		"endless, three pieces": {long + long + "zz", "[n] " + long + "\n[n] " + long + "\n[n] zz\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"whole":    strings.NewReader(tc.in),
				"bytes":    iotest.OneByteReader(strings.NewReader(tc.in)),
				"with EOF": iotest.DataErrReader(strings.NewReader(tc.in)),
			} {
				var out bytes.Buffer
				relayLines(r, &out, "[n] ")
				if out.String() != tc.want {
					t.Errorf("%s: %s", how, cmp.Diff(tc.want, out.String()))
				}
			}
		})
	}
}

// A client that closed its log does not stall the server: everything is still read.
func TestRelayLinesSurvivesWriter(t *testing.T) {
	in := strings.NewReader(strings.Repeat("line\n", 1000))
	relayLines(in, writerFunc(func([]byte) (int, error) { return 0, errors.New("closed") }), "")
	if in.Len() != 0 {
		t.Errorf("%d bytes were not read", in.Len())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// FuzzRelayLines: whatever the server writes, every line carries the prefix, no line moves the cursor, no line is
// without bound, and every byte that is not a control character or newline arrives in order.
func FuzzRelayLines(f *testing.F) {
	f.Add([]byte("a\r\nb\x1b[1mc\x1b[2Jd\u009b"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		relayLines(bytes.NewReader(in), &out, ">")
		text := out.Bytes()
		if len(in) > 0 && (len(text) == 0 || text[len(text)-1] != '\n') {
			t.Fatalf("no last newline in %q", text)
		}
		for line := range bytes.Lines(text) {
			if line[0] != '>' {
				t.Fatalf("line without prefix: %q", line)
			}
			for i, c := range line[:len(line)-1] {
				if c < 0x20 && c != '\t' && !(c == 0x1b && colour(line[i:]) > 0) {
					t.Fatalf("control %#x in %q", c, line)
				}
			}
		}
		if plain := bytes.ContainsFunc(in, func(r rune) bool { return r < 0x20 || r >= 0x7f || r == '\\' || r == '>' }); !plain {
			got := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(">"), nil), []byte("\n"), nil)
			if !bytes.Equal(got, in) {
				t.Fatalf("%q became %q", in, text)
			}
		}
	})
}

// B07: 10 MB of stderr pass while stdout is idle, tagged, none lost, and the server gets on with its work.
func TestStderrFlood(t *testing.T) {
	var log buffer
	p := start(t, "flood", &log, nil)
	if got := readLine(t, p); got != "flooded\n" {
		t.Fatalf("stdout: %q", got)
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "[t] "+strings.Repeat("x", 99)+"\n"); n != floodLines {
		t.Errorf("%d of %d lines", n, floodLines)
	}
}

// The lines that say why a server died are out when Stop returns, also when the client's log is slow and Stop has no
// patience.
func TestLastWords(t *testing.T) {
	var log buffer
	p := start(t, "last-words", writerFunc(func(b []byte) (int, error) {
		time.Sleep(20 * time.Millisecond)
		return log.Write(b)
	}), nil)
	await(t, p.Done(), "exit")
	stopNow(t, p)
	if want := "[t] first\n[t] second without newline\n"; log.String() != want {
		t.Errorf("got %q", log.String())
	}
}

// A client that does not read its log blocks the relay, and nothing else: the server is still ended.
func TestStopWithBlockedLog(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	reached := make(chan struct{}, floodLines)
	p := start(t, "flood", writerFunc(func(b []byte) (int, error) {
		reached <- struct{}{}
		<-release
		return len(b), nil
	}), nil)
	select {
	case <-reached:
	case <-p.Done():
		t.Fatal("exited without being relayed")
	}
	stopNow(t, p)
	await(t, p.Done(), "exit")
}
