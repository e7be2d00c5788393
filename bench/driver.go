package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// The null server's tools: one that sends, to a recipient, and one that only reads.
const (
	sendTool  = "echo"
	readTool  = "read_notes"
	recipient = "team@partner.example"
)

// patience bounds what is waited for: a program that answers nothing must not hang the benchmark.
const patience = 30 * time.Second

// driver is one client talking to one program over its stdin and stdout. It is not for concurrent use, and its
// goroutine should be locked to a thread, so that a measured wait is the kernel's and not the Go scheduler'd.
type driver struct {
	cmd   *exec.Cmd // nil in tests
	in    io.WriteCloser
	out   io.Reader
	buf   []byte
	start int // buf[start:end] was read and not yet used
	end   int
	next  int // id of the next request
	frame []byte
	heard atomic.Int64 // lines that came
	late  atomic.Bool  // guard lost patience
	reads bool         // its calls only read

	patience time.Duration
}

// connect starts p and shakes hands. It returns how long that took, from before the start until the first list of
// tools was there.
func connect(p program) (*driver, time.Duration, error) {
	childIn, in, err := pipe()
	if err != nil {
		return nil, 0, err
	}
	defer childIn.Close()
	out, childOut, err := pipe()
	if err != nil {
		in.Close()
		return nil, 0, err
	}
	defer childOut.Close()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdin, cmd.Stdout = childIn, childOut
	if p.stderr != nil {
		cmd.Stderr = p.stderr
	}
	if p.home != "" { // each start is the first of its session: a later one would read what the rounds before it saw
		if err := os.RemoveAll(filepath.Join(p.home, "sessions")); err != nil {
			return nil, 0, err
		}
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		in.Close()
		out.Close()
		return nil, 0, fmt.Errorf("start %s: %w", p.label, err)
	}
	// The program's ends must not stay open here, or its death would look like patience.
	childIn.Close()
	childOut.Close()
	d := newDriver(in, out)
	d.cmd, d.reads = cmd, p.reads
	if p.patience > 0 {
		d.patience = p.patience
	}
	if err := d.handshake(); err != nil {
		d.close()
		return nil, 0, fmt.Errorf("%s: %w", p.label, err)
	}
	return d, time.Since(began), nil
}

func newDriver(in io.WriteCloser, out io.Reader) *driver {
	return &driver{in: in, out: out, buf: make([]byte, 4<<20), next: 1, patience: patience}
}

func (d *driver) handshake() error {
	defer d.guard()()
	if err := d.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`); err != nil {
		return err
	}
	if _, err := d.answer(); err != nil {
		return err
	}
	if _, err := io.WriteString(d.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		return err
	}
	if err := d.ask("tools/list", `{}`); err != nil {
		return err
	}
	line, err := d.answer()
	if err == nil && !bytes.Contains(line, []byte(`"`+sendTool+`"`)) {
		err = fmt.Errorf("tools/list does not name %s: %.200q", sendTool, line)
	}
	return err
}

// guard kills the program when it says nothing for as long as patience, or twice that; the pending read then ends. The
// caller stops it.
func (d *driver) guard() (stop func()) {
	done, tick := make(chan struct{}), time.NewTicker(d.patience)
	go func() {
		defer tick.Stop()
		for before := int64(-1); ; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			heard := d.heard.Load()
			if heard == before {
				d.late.Store(true)
				if d.cmd != nil {
					d.cmd.Process.Kill()
				}
				return
			}
			before = heard
		}
	}()
	return func() { close(done) }
}

// close ends the session and returns when the program is gone, killed if need be.
func (d *driver) close() {
	d.in.Close()
	if c, ok := d.out.(io.Closer); ok {
		defer c.Close()
	}
	if d.cmd == nil {
		return
	}
	kill := time.AfterFunc(5*time.Second, func() { d.cmd.Process.Kill() })
	defer kill.Stop()
	d.cmd.Wait()
}

func (d *driver) ask(method, params string) error {
	d.frame = append(d.frame[:0], `{"jsonrpc":"2.0","id":`...)
	d.frame = strconv.AppendInt(d.frame, int64(d.next), 10)
	d.frame = append(append(d.frame, `,"method":"`...), method...)
	d.frame = append(append(append(d.frame, `","params":`...), params...), "}\n"...)
	d.next++
	_, err := d.in.Write(d.frame)
	return err
}

// answer returns the next line that is an answer; what a program says unasked is passed over.
func (d *driver) answer() ([]byte, error) {
	for {
		line, err := d.line()
		d.heard.Add(1)
		if err != nil {
			if d.late.Load() {
				err = fmt.Errorf("nothing for %s", d.patience)
			}
			return nil, err
		}
		head := line[:min(len(line), 200)]
		if !bytes.Contains(head, []byte(`"method":`)) {
			return line, nil
		}
	}
}

// line returns the next line, valid until the next call.
func (d *driver) line() ([]byte, error) {
	searched := d.start
	for {
		if n := bytes.IndexByte(d.buf[searched:d.end], '\n'); n >= 0 {
			line := d.buf[d.start : searched+n]
			d.start = searched + n + 1
			return line, nil
		}
		searched = d.end
		if d.end == len(d.buf) {
			if d.start == 0 {
				d.buf = append(d.buf, make([]byte, len(d.buf))...)
			}
			d.end = copy(d.buf, d.buf[d.start:d.end])
			searched, d.start = d.end, 0
		}
		n, err := d.out.Read(d.buf[d.end:])
		d.end += n
		if n == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("the program ended: %w", io.ErrUnexpectedEOF)
			}
			return nil, err
		}
	}
}

// batch is calls of one kind.
type batch struct {
	Size  int `json:"size"`  // bytes of text in each answer
	Conc  int `json:"conc"`  // how many are outstanding
	Calls int `json:"calls"` // how many in all

	// think is how long the client waits before each call but the first ones. A model thinks for seconds; back to back
	// calls do not leave a program the time that it has in real use.
	think time.Duration
}

// run makes the calls of b. It returns how long each took and how long all did. An answer that is no text of the size
// that was asked for is an error: a refusal would be fast, and would count as success.
func (d *driver) run(b batch) (each []time.Duration, all time.Duration, err error) {
	defer d.guard()()
	params := fmt.Sprintf(`{"name":%q,"arguments":{"n":%d,"to":%q}}`, sendTool, b.Size, recipient)
	if d.reads {
		params = fmt.Sprintf(`{"name":%q,"arguments":{"n":%d}}`, readTool, b.Size)
	}
	first := d.next
	sent := make([]time.Time, b.Calls)
	began := time.Now()
	send := func() error {
		sent[d.next-first] = time.Now()
		return d.ask("tools/call", params)
	}
	for range min(b.Conc, b.Calls) {
		if err := send(); err != nil {
			return nil, 0, err
		}
	}
	for len(each) < b.Calls {
		line, err := d.answer()
		if err != nil {
			return nil, 0, err
		}
		now := time.Now()
		i, ok := idOf(line)
		if i -= first; !ok || i < 0 || i >= b.Calls || sent[i].IsZero() {
			return nil, 0, fmt.Errorf("an answer to no open call: %.200q", line)
		}
		if len(line) < b.Size || bytes.Contains(line[:min(len(line), 400)], []byte("[bouncer")) {
			return nil, 0, fmt.Errorf("not the answer that was asked for: %.200q", line)
		}
		each = append(each, now.Sub(sent[i]))
		sent[i] = time.Time{}
		if d.next-first < b.Calls {
			if b.think > 0 {
				time.Sleep(b.think)
			}
			if err := send(); err != nil {
				return nil, 0, err
			}
		}
	}
	return each, time.Since(began), nil
}

// idOf finds the id of an answer, which stands near one of its ends in all programs that are measured here.
func idOf(line []byte) (int, bool) {
	name := []byte(`"id":`)
	near := line[:min(len(line), 80)]
	at := bytes.Index(near, name)
	if at < 0 {
		near = line[max(0, len(line)-80):]
		if at = bytes.LastIndex(near, name); at < 0 {
			return 0, false
		}
	}
	digits := bytes.TrimLeft(near[at+len(name):], " ")
	if n := slices.IndexFunc(digits, func(c byte) bool { return c < '0' || c > '9' }); n >= 0 {
		digits = digits[:n]
	}
	id, err := strconv.Atoi(string(digits))
	return id, err == nil
}
