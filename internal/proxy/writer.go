package proxy

import (
	"io"
	"sync"
)

// maxQueued is how many bytes of Bouncer's own frames wait for a reader before their author waits too.
const maxQueued = 64 << 20

// writer writes whole frames to one pipe, each in one Write, from any goroutine.
type writer struct {
	mu      sync.Mutex // held while writing: frames never mix
	out     io.Writer
	scratch []byte
	pending []byte // whole frames that were held, with their newlines

	qmu      sync.Mutex
	room     sync.Cond // signalled when the queue shrank
	frames   [][]byte
	queued   int
	draining bool
}

func newWriter(out io.Writer) *writer {
	w := &writer{out: out}
	w.room.L = &w.qmu
	return w
}

// write writes frame and a newline, and returns when the pipe took them.
func (w *writer) write(frame []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.releaseLocked(); err != nil {
		return err
	}
	if n := len(frame); cap(frame) > n && frame[:n+1][n] == '\n' { // the frame still stands in the buffer it was read into
		_, err := w.out.Write(frame[:n+1])
		return err
	}
	w.scratch = append(append(w.scratch[:0], frame...), '\n')
	_, err := w.out.Write(w.scratch)
	if cap(w.scratch) > 1<<20 {
		w.scratch = nil
	}
	return err
}

// maxHeldFrame is the size from which a frame is written at once: copying it would cost more than a write.
const maxHeldFrame = 16 << 10

// hold writes frame with the next release, write or full buffer, so that many small frames take one write. Whoever holds
// must release before waiting for anything.
func (w *writer) hold(frame []byte) {
	if len(frame) >= maxHeldFrame {
		w.write(frame)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(append(w.pending, frame...), '\n')
	if len(w.pending) > maxPending {
		w.releaseLocked()
	}
}

// release writes what is held.
func (w *writer) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.releaseLocked()
}

func (w *writer) releaseLocked() error {
	if len(w.pending) == 0 {
		return nil
	}
	_, err := w.out.Write(w.pending)
	w.pending = w.pending[:0]
	return err
}

// queue writes frame later, in order with other queued frames, and takes ownership of it. It is for what Bouncer itself
// says to the client: the goroutine that reads the client must not wait for the client to read, or the two wait for
// each other.
func (w *writer) queue(frame []byte) {
	w.qmu.Lock()
	defer w.qmu.Unlock()
	for w.queued > maxQueued {
		w.room.Wait()
	}
	w.frames = append(w.frames, frame)
	w.queued += len(frame)
	if !w.draining {
		w.draining = true
		go w.drain()
	}
}

func (w *writer) drain() {
	w.qmu.Lock()
	defer w.qmu.Unlock()
	for len(w.frames) > 0 {
		frame := w.frames[0]
		w.frames = w.frames[1:]
		w.qmu.Unlock()
		w.write(frame) // a client that is gone reads nothing; that is no error of the session
		w.qmu.Lock()
		w.queued -= len(frame)
		w.room.Broadcast()
	}
	w.frames, w.draining = nil, false
	w.room.Broadcast()
}

// flush waits until everything queued so far is written.
func (w *writer) flush() {
	w.qmu.Lock()
	defer w.qmu.Unlock()
	for w.draining {
		w.room.Wait()
	}
}
