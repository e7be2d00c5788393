package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// magic begins a segment. Another version of Bouncer in the same session would have another one, and neither reads the
// other: half of the facts is no ground for a decision.
const magic = "bouncer session 1\n"

func segmentName(n int) string { return fmt.Sprintf("%06d.seg", n) }

// segment is the file that this process writes.
type segment struct {
	mu    sync.Mutex
	file  *os.File
	info  fs.FileInfo // says which file it is
	spare *os.File    // the next one, made and not yet begun

	spareNumber int
	board       *board
	number      int   // of file
	size        int64 // bytes of file that are whole
	scratch     []byte
	failed      error // of a write: what follows a torn record could not be read
}

// create makes the next segment file of a directory, and locks it. Numbers have no gaps, so that who looks for the next one
// finds every one; the caller holds the lock of the sessions.
func create(dir string) (f *os.File, number int, err error) {
	for n := 1; ; n++ {
		f, err := createPrivate(filepath.Join(dir, segmentName(n)))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		if err := tryLock(f); err != nil {
			return nil, 0, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
		}
		return f, n, nil
	}
}

// begin starts to write in the spare file. It is not removed where that cannot be: somebody may have it open, and would
// not look for another of its number.
func (s *segment) begin(records []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.spare.Truncate(0)
	if err == nil {
		_, err = s.spare.Write(append([]byte(magic), records...))
	}
	if err != nil {
		return err
	}
	info, err := s.spare.Stat()
	if err != nil {
		return err
	}
	if s.file != nil {
		s.file.Close() // with its lock: what is torn in it stays so
	}
	s.file, s.info, s.spare, s.failed = s.spare, info, nil, nil
	s.number, s.size = s.spareNumber, int64(len(magic)+len(records))
	s.board.post(s.number, s.size)
	return nil
}

// bad returns why nothing can be written to the segment.
func (s *segment) bad() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *segment) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.spare != nil {
		err = s.spare.Close()
	}
	s.failed = errors.New("the session was left")
	return errors.Join(err, s.file.Close())
}

// inPlace reports whether the segment still is where the others look for it.
func (s *segment) inPlace() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return isAt(s.info, s.file.Name())
}

// largeBody is from where on a payload is not copied to be written.
const largeBody = 32 << 10

// write appends one record, made by body and ended by payload, with one write: a process that dies leaves a record that
// is whole or one that is the last.
func (s *segment) write(body func([]byte) []byte, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	b := body(append(s.scratch[:0], make([]byte, recordHead)...))
	if len(b)-recordHead+len(payload) > maxBody {
		s.failed = fmt.Errorf("write %s: a record of %d bytes", s.file.Name(), len(b)+len(payload))
		return s.failed
	}
	head, whole := seal(b[recordHead:], payload), int64(len(b)+len(payload))
	copy(b, head[:])
	var n int
	var err error
	if len(payload) < largeBody {
		b = append(b, payload...)
		n, err = s.file.Write(b)
	} else {
		n, err = writeBoth(s.file, b, payload)
		n -= len(payload)
	}
	if err == nil && n != len(b) {
		err = io.ErrShortWrite
	}
	if cap(b) <= 2*largeBody {
		s.scratch = b
	}
	if s.failed = err; err == nil {
		s.size += whole
		s.board.post(s.number, s.size)
	}
	return err
}

// peer is the segment of another process, or of one that was: what a process saw outlives it.
type peer struct {
	number int
	file   *os.File
	at     int64 // what is before it was read
	buf    *buffer
}

// buffer is what segments are read into, one after the other: a session can have hundreds.
type buffer struct{ b []byte }

// openPeer opens segment n. It returns nil where there is none.
func openPeer(dir string, n int, buf *buffer) (*peer, error) {
	f, err := openPrivate(filepath.Join(dir, segmentName(n)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &peer{number: n, file: f, buf: buf}, nil
}

const (
	readAhead = 64 << 10
	// inFlight is how long a record whose bytes do not match yet is looked at again: where a file system shows the length of
	// a write before its bytes, they are about to come.
	inFlight = 50 * time.Millisecond
)

// read gives every whole record that was not read before to take. What is torn at the end is a response that nobody saw.
func (p *peer) read(take func(fact)) error {
	for {
		n, err := p.fill(readAhead)
		if err != nil || n == 0 {
			return err
		}
		used, err := p.parse(p.buf.b[:n], take)
		if err != nil {
			return err
		}
		if used == 0 {
			return nil
		}
		if n < readAhead && used == n {
			return nil
		}
	}
}

// fill reads up to n bytes from where reading stands.
func (p *peer) fill(n int) (int, error) {
	if cap(p.buf.b) < n {
		p.buf.b = make([]byte, n)
	}
	got, err := p.file.ReadAt(p.buf.b[:n], p.at)
	if err == io.EOF {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", p.file.Name(), err)
	}
	return got, err
}

// parse reads the whole records at the start of b and says how many bytes they were.
func (p *peer) parse(b []byte, take func(fact)) (used int, err error) {
	if p.at == 0 {
		if len(b) < len(magic) {
			return 0, nil
		}
		if string(b[:len(magic)]) != magic {
			return 0, p.damaged("it is not one of this version of bouncer")
		}
		used, p.at = len(magic), int64(len(magic))
	}
	for len(b)-used >= recordHead {
		size := int(binary.LittleEndian.Uint32(b[used:]))
		if size == 0 || size > maxBody {
			return used, p.damaged(fmt.Sprintf("a record in it has %d bytes", size))
		}
		whole := recordHead + size
		if len(b)-used < whole {
			if used > 0 {
				return used, nil
			}
			return p.large(whole, take)
		}
		if err := p.one(b[used:used+whole], take); err != nil {
			return used, err
		}
		used += whole
		p.at += int64(whole)
	}
	return used, nil
}

// large reads a record that is longer than what is read at once, if it is there.
func (p *peer) large(whole int, take func(fact)) (used int, err error) {
	info, err := p.file.Stat()
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", p.file.Name(), err)
	}
	if info.Size() < p.at+int64(whole) {
		return 0, nil
	}
	n, err := p.fill(whole)
	if err != nil || n < whole {
		return 0, err
	}
	err = p.one(p.buf.b[:whole], take)
	if err == nil {
		used = whole
		p.at += int64(whole)
	}
	if cap(p.buf.b) > 1<<20 { // one large answer does not hold the memory for the next
		p.buf.b = nil
	}
	return used, err
}

// one takes one record.
func (p *peer) one(rec []byte, take func(fact)) error {
	for until := time.Now().Add(inFlight); !opened(rec[:recordHead], rec[recordHead:]); {
		if !time.Now().Before(until) {
			return p.damaged("the checksum of a record is wrong")
		}
		time.Sleep(time.Millisecond)
		if _, err := p.file.ReadAt(rec, p.at); err != nil && err != io.EOF {
			return fmt.Errorf("read %s: %w", p.file.Name(), err)
		}
	}
	f, err := readFact(rec[recordHead:])
	if err != nil {
		return p.damaged(err.Error())
	}
	take(f)
	return nil
}

// over reports that the process that wrote a segment has ended. Without a beginning nobody can say: it may not be locked yet.
func (p *peer) over() bool { return p.at > 0 && tryLock(p.file) == nil }

func (p *peer) damaged(why string) error { return fmt.Errorf("%s is damaged: %s", p.file.Name(), why) }
