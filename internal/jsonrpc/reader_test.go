package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// pieces is a reader that gives its input in the sizes it is told to, over and over.
type pieces struct {
	rest  []byte
	sizes []byte
	n     int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	size := len(p.rest)
	if len(p.sizes) > 0 {
		size = int(p.sizes[p.n%len(p.sizes)]) // 0 is allowed: readers may
		if p.n++; p.n > 1<<20 {
			size = len(p.rest)
		}
	}
	n := copy(b[:min(size, len(b))], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// outcome is what a sequence of Next calls gave, until an error that ends the input.
func outcome(r *Reader) (got []string, err error) {
	for {
		frame, err := r.Next()
		var large *TooLargeError
		var cut *UnterminatedError
		switch {
		case err == nil:
			got = append(got, string(frame))
		case errors.As(err, &large):
			got = append(got, fmt.Sprintf("large %d %s %v %s", large.Size, large.ID, large.IsResponse, large.Method))
		case errors.As(err, &cut):
			got = append(got, "cut "+string(cut.Frame))
		default:
			return got, err
		}
	}
}

func TestReader(t *testing.T) {
	const limit = 40
	long := strings.Repeat("x", limit)
	filler := strings.Repeat("y", 100)
	tests := []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"a\nb\n", []string{"a", "b"}},
		{"\n \t\r\n\r\na\r\n\n", []string{"a\r"}},
		{" \t\r", nil},
		{long + "\n", []string{long}},
		{long + "\r\na\n", []string{"large 41  false ", "a"}},
		{"a\n" + long + long + "\n" + long + "\nb\n", []string{"a", "large 80  false ", long, "b"}},
		{`{"id":12`, []string{`cut {"id":12`}}, // A52: it may have been 123
		{"a\n" + long + "x", []string{"a", "large 41  false "}},
		{`{"jsonrpc":"2.0","id":"\u0061","method":"tools\u002fcall","params":"` + filler + "\"}\nb\n",
			[]string{`large 170 "\u0061" false tools/call`, "b"}},
		{`{"jsonrpc":"2.0","result":{"id":7,"t":"` + filler + `\",\"id\":8"},"id":3}` + "\nb\n",
			[]string{"large 160 3 true ", "b"}}, // the id comes behind the result
		{`{"id":3,"x":"` + filler + `","id":4,"error":{}}` + "\n", []string{"large 133  true "}},
		{`{"id":3.0,"x":"` + filler + `","error":{}}` + "\n", []string{"large 128  true "}},
	}
	for _, tt := range tests {
		// The size of the reads must not matter, nor must a reader that gives an error together with bytes.
		for _, in := range []io.Reader{
			strings.NewReader(tt.in),
			iotest.OneByteReader(strings.NewReader(tt.in)),
			iotest.DataErrReader(strings.NewReader(tt.in)),
			&pieces{rest: []byte(tt.in), sizes: []byte{0, 3, 0, 0, 7}},
		} {
			got, err := outcome(NewReader(in, limit))
			if d := cmp.Diff(tt.want, got); d != "" || err != io.EOF {
				t.Errorf("%T %q: %v\n%s", in, tt.in, err, d)
			}
		}
	}
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken pipe")
	r := NewReader(io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken)), 0)
	got, err := outcome(r)
	if d := cmp.Diff([]string{"a", "b"}, got); d != "" || err != broken {
		t.Errorf("%v\n%s", err, d)
	}
	if _, err := r.Next(); err != broken {
		t.Errorf("once more: %v", err)
	}
	r = NewReader(io.MultiReader(strings.NewReader(strings.Repeat("a", 30)), iotest.ErrReader(broken)), 20)
	if got, err := outcome(r); len(got) != 1 || !strings.HasPrefix(got[0], "large 30") || err != broken {
		t.Errorf("error inside a large line: %q, %v", got, err)
	}
	if _, err := NewReader(idle{}, 0).Next(); err != io.ErrNoProgress {
		t.Errorf("a reader that never gives anything: %v", err)
	}
	if _, err := NewReader(liar{}, 0).Next(); err == nil {
		t.Error("a reader that gives more than there is room for")
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

type liar struct{}

func (liar) Read(b []byte) (int, error) { return len(b) + 1, nil }

// B01, B02: lines far over 64 KB arrive whole; one over the limit costs no memory, before or after, and no other line.
func TestReaderMemory(t *testing.T) {
	mb := strings.Repeat("x", 1<<20)
	giant := `{"jsonrpc":"2.0","result":"` + strings.Repeat(mb, 20) + `","id":5}`
	over := `{"jsonrpc":"2.0","result":"` + strings.Repeat(mb, 70) + `","id":6}`
	lines := []string{strings.Repeat("a", 65537), mb, strings.Repeat(mb, 5), "small", giant, "small", over, "small", "last"}
	r := NewReader(strings.NewReader(strings.Join(lines, "\n")+"\n"), 0)
	for i, want := range lines {
		frame, err := r.Next()
		if i == 6 {
			var large *TooLargeError
			if !errors.As(err, &large) || *large != (TooLargeError{Size: int64(len(over)), ID: ID{raw: "6"}, IsResponse: true}) {
				t.Fatalf("giant line: %v", err)
			}
		} else if err != nil || string(frame) != want {
			t.Fatalf("line %d: %d bytes, want %d, %v", i, len(frame), len(want), err)
		}
		if most := max(2*len(want), keepBuffer); i != 6 && len(r.buf) > most {
			t.Errorf("line %d: buffer of %d bytes", i, len(r.buf))
		}
	}
	if len(r.buf) > keepBuffer {
		t.Errorf("buffer of %d bytes is left", len(r.buf))
	}
	if _, err := r.Next(); err != io.EOF {
		t.Error(err)
	}
}

// After the first frames nothing is allocated.
func TestReaderAllocates(t *testing.T) {
	line := []byte(strings.Repeat("x", 1000) + "\n")
	r := NewReader(&endless{text: line}, 0)
	for range 1000 {
		_, _ = r.Next()
	}
	if n := testing.AllocsPerRun(1000, func() { _, _ = r.Next() }); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// endless is a reader of one text over and over.
type endless struct {
	text []byte
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		m := copy(b[n:], e.text[e.at:])
		n += m
		e.at = (e.at + m) % len(e.text)
	}
	return n, nil
}

// FuzzReader checks that however reads are split the frames are the input's lines, and that the incremental reading of
// a line over the limit says what reading it in one piece says.
func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\n\nc"), []byte{1}, uint16(0))
	f.Add([]byte(`{"id":1,"result":{"a":"\"}"}}`+"\n"), []byte{3, 0, 1}, uint16(5))
	f.Add([]byte("{\"method\":\"x\\\\\",\"id\":\"\\u0061\"}\r\n \r\n1"), []byte{2}, uint16(9))
	f.Fuzz(func(t *testing.T, in, sizes []byte, limit uint16) {
		var want []string
		most := int(limit)
		if most == 0 {
			most = DefaultLimit
		}
		lines := bytes.Split(in, []byte("\n"))
		for i, l := range lines {
			last := i == len(lines)-1
			switch {
			case len(l) > most:
				e := tooLarge(l).(*TooLargeError)
				want = append(want, fmt.Sprintf("large %d %s %v %s", e.Size, e.ID, e.IsResponse, e.Method))
			case len(bytes.Trim(l, " \t\r")) == 0:
			case last:
				want = append(want, "cut "+string(l))
			default:
				want = append(want, string(l))
			}
		}
		if bytes.Count(sizes, []byte{0}) > idleReads/2 {
			return
		}
		got, err := outcome(NewReader(&pieces{rest: in, sizes: sizes}, int(limit)))
		if bytes.Count(sizes, []byte{0}) == len(sizes) && len(sizes) > 0 && len(in) > 0 {
			if err != io.ErrNoProgress {
				t.Fatalf("%q: %v", in, err)
			}
			return
		}
		if d := cmp.Diff(want, got); d != "" || err != io.EOF {
			t.Fatalf("%q in pieces of %v, limit %d: %v\n%s", in, sizes, limit, err, d)
		}
	})
}
