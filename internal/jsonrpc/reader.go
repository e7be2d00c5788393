package jsonrpc

import (
	"bytes"
	"fmt"
	"io"
)

const (
	// DefaultLimit is the size of the longest frame that is read whole. Real servers send screenshots and database
	// dumps of tens of megabytes (B01, B02).
	DefaultLimit = 64 << 20

	startBuffer = 128 << 10
	// keepBuffer is the largest buffer that outlives its frame. Above, memory goes back; below, the next frame of the
	// same size finds the room ready.
	keepBuffer = 4 << 20
	// minRead is the least room that a read is made for, where the limit leaves a choice.
	minRead = 64 << 10
	// maxRead bounds how much can be read behind a giant frame's end, so that little stands in the way of shrinking.
	maxRead = 1 << 20
	// idleReads is how often a reader may return nothing before it counts as broken.
	idleReads = 100
)

// TooLargeError says that a line was over the limit. It was skipped, and the Reader goes on with the next one.
// ID and what follows were found by passing over the line's top level; they are zero where that was not possible or
// more than one id was there.
type TooLargeError struct {
	Size       int64 // bytes of the line, without newline
	ID         ID
	IsResponse bool // it has a result or an error and no method: ID is of a call of the other side
	Method     string
}

// Error names the size.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("frame of %d bytes is over the limit", e.Size)
}

// UnterminatedError says that the input ended inside a line. It may be a frame cut short that still parses ("id":12 of
// "id":123 does), so it is no frame (A52).
type UnterminatedError struct {
	Frame []byte // the bytes there were; valid until the following Next
}

// Error names the size.
func (e *UnterminatedError) Error() string {
	return fmt.Sprintf("input ended inside a frame, after %d bytes", len(e.Frame))
}

// Reader cuts an input into lines. It is not for concurrent use.
type Reader struct {
	r     io.Reader
	limit int
	err   error // what the input ended with, once it has

	// buf[start:end] has been read and not been returned; up to searched there is no newline in it.
	buf                  []byte
	start, searched, end int
}

// NewReader returns a Reader of frames of up to limit bytes; DefaultLimit when limit is not positive. There is no limit
// above 2 GiB, as Parse would refuse the frame.
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, maxText-1)
	return &Reader{r: r, limit: limit, buf: make([]byte, min(startBuffer, limit+1))}
}

// Next returns the next line that is not blank, without its newline. The frame is valid until the following Next and
// must not be written to. Errors are *TooLargeError (Next goes on after it), *UnterminatedError, io.EOF, or whatever
// the input's own error was; these last ones come again at every further call.
func (r *Reader) Next() ([]byte, error) {
	r.shrink()
	for {
		if n := bytes.IndexByte(r.buf[r.searched:r.end], '\n'); n >= 0 {
			line := r.buf[r.start : r.searched+n : r.searched+n+1] // the newline stays within reach of who writes it on
			r.start = r.searched + n + 1
			r.searched = r.start
			switch {
			case len(line) > r.limit:
				return nil, tooLarge(line)
			case !blank(line):
				return line, nil
			}
			continue
		}
		r.searched = r.end
		if r.end-r.start > r.limit {
			return nil, r.skip()
		}
		if r.err != nil {
			return nil, r.last()
		}
		r.makeRoom()
		r.read()
	}
}

// More reports whether the next Next returns without reading the input. Until it is called the frame that the last one
// returned stays valid, and so do the ones before it since the last read.
func (r *Reader) More() bool {
	for {
		n := bytes.IndexByte(r.buf[r.searched:r.end], '\n')
		if n < 0 {
			r.searched = r.end
			return false
		}
		if !blank(r.buf[r.start : r.searched+n]) {
			return true
		}
		r.start = r.searched + n + 1 // Next would skip it, and then wait
		r.searched = r.start
	}
}

// last returns what the input ended with.
func (r *Reader) last() error {
	rest := r.buf[r.start:r.end:r.end]
	r.start = r.end
	if r.err == io.EOF && !blank(rest) {
		return &UnterminatedError{Frame: rest}
	}
	return r.err
}

func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// shrink gives a giant frame's memory back, now that the frame is no longer valid.
func (r *Reader) shrink() {
	if len(r.buf) <= keepBuffer {
		return
	}
	switch rest := r.end - r.start; {
	case rest <= startBuffer/2:
		r.move(make([]byte, startBuffer))
	case rest <= keepBuffer/2:
		r.move(make([]byte, keepBuffer))
	}
}

// move carries what is unread to the front of a buffer, which may be the same one.
func (r *Reader) move(to []byte) {
	n := copy(to, r.buf[r.start:r.end])
	r.searched -= r.start
	r.buf, r.start, r.end = to, 0, n
}

// makeRoom leaves free bytes behind what is unread, which is one unfinished line. It is moved to the front once, and
// after that only by a buffer that doubles, so a line that arrives in small pieces is not copied over and over.
func (r *Reader) makeRoom() {
	unread := r.end - r.start
	if unread == 0 {
		r.start, r.searched, r.end = 0, 0, 0
	}
	most := r.limit + 1
	switch {
	case len(r.buf)-r.end >= minRead:
	case unread <= len(r.buf)/2 && r.start > 0:
		r.move(r.buf)
	case len(r.buf) < most && r.end == len(r.buf):
		size := 2 * len(r.buf)
		if size > most || size < 0 {
			size = most
		}
		r.move(make([]byte, size))
	case r.end == len(r.buf):
		r.move(r.buf) // as large as it may be: unread <= limit < len(r.buf), so this makes room
	}
}

// read reads once, with some patience for readers that return nothing.
func (r *Reader) read() {
	room := r.buf[r.end:min(len(r.buf), r.end+maxRead)]
	for range idleReads {
		n, err := r.r.Read(room)
		if n < 0 || n > len(room) {
			r.err = fmt.Errorf("read frame: reader returned the impossible count %d", n)
			return
		}
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

func tooLarge(line []byte) error {
	var k skim
	k.feed(line)
	return k.tooLarge(int64(len(line)))
}

func (k *skim) tooLarge(size int64) error {
	return &TooLargeError{Size: size, ID: k.id(), IsResponse: k.isResponse(), Method: k.methodName()}
}

// skip passes over the rest of a line of which more than the limit has been read, in constant memory.
func (r *Reader) skip() error {
	var k skim
	size := int64(0)
	for {
		part, found := r.buf[r.start:r.end], false
		if n := bytes.IndexByte(part, '\n'); n >= 0 {
			part, found = part[:n], true
		}
		k.feed(part)
		size += int64(len(part))
		r.start += len(part)
		if found {
			r.start++
		}
		r.searched = r.start
		if found || r.err != nil {
			return k.tooLarge(size)
		}
		r.shrink()
		r.start, r.searched, r.end = 0, 0, 0
		r.read()
	}
}
