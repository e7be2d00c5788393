package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// Options are what a user can say about the log. The zero value of each means its default.
type Options struct {
	MaxSize   int64         // a file of this size is rotated; 64 MiB
	MaxAge    time.Duration // and one that was begun so long ago; 30 days
	Keep      int           // how many rotated files are kept; 10
	KeepFor   time.Duration // and for how long; for ever
	NoArgs    bool          // arguments are left out
	MaskNames []string      // further names of arguments that hold secrets
	Every     int           // lines between two checkpoints; 256
	Idle      time.Duration // and a pause that brings one; 1 s
}

func (o Options) withDefaults() Options {
	if o.MaxSize <= 0 {
		o.MaxSize = 64 << 20
	}
	if o.MaxAge <= 0 {
		o.MaxAge = 30 * 24 * time.Hour
	}
	if o.Keep <= 0 {
		o.Keep = 10
	}
	if o.Every <= 0 {
		o.Every = 256
	}
	if o.Idle <= 0 {
		o.Idle = time.Second
	}
	return o
}

// Log is the audit file, shared by every Bouncer process of a user: each line is one write to a file opened for
// appending, so lines of several processes do not mix (B50). Its methods may be called concurrently.
type Log struct {
	path string
	opts Options
	mask *masker

	mu       sync.Mutex
	closed   bool
	key      note.Signer
	chain    chain
	sealed   uint64 // the last line that a checkpoint covers
	sealing  bool   // a checkpoint is being written
	file     *os.File
	place    place
	end      int64 // where the file ended when this process last wrote to it; -1 when that is not known
	segment  int
	born     time.Time
	rotateAt int64
	looked   time.Time // at what the path names
	after    mark
	buf      []byte
	held     [][]byte // beginnings of lines that Buffer holds
	lost     error    // why some of them could not be written, until Flush has said it
	armed    bool
	armedAt  uint64
	write    func([]byte) (int, error) // of file; a test puts a full disk here
}

// lineSize is room for a usual line without its chain.
const lineSize = 768

// lockWait bounds how long a start waits for others that start.
const lockWait = 5 * time.Second

// Open opens, or makes with mode 0600, the log at path, and the key it is signed with beside it. Their directory is made
// with mode 0700 if it is not there. Only the first of opts counts.
func Open(path string, opts ...Options) (*Log, error) {
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // what is rotated is the file, not the link
	}
	l := &Log{path: path, opts: o.withDefaults(), mask: newMasker(o.MaskNames), chain: chain{writer: randomName(10)}}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("open audit log: %w", err)
	}
	return l, nil
}

func (l *Log) open() error {
	dir := filepath.Dir(l.path)
	if !l.sealing {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := l.loadKey(dir); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := l.adopt(f); err != nil {
		f.Close()
		return err
	}
	l.file, l.write = f, f.Write
	return nil
}

// loadKey loads the key at the start, and again when it is gone: the directory was removed and made anew.
func (l *Log) loadKey(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, keyFile)); err == nil && l.key != nil {
		return nil
	}
	unlock, err := lockFor(l.path+".lock", lockWait)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer unlock()
	l.key, err = loadKey(dir)
	return err
}

// adopt learns what has to be known of a file before a line is added.
func (l *Log) adopt(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", l.path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return err
		}
	}
	if l.place, err = placeOf(f); err != nil {
		return err
	}
	if l.after, err = lastLine(f, info.Size()); err != nil {
		return err
	}
	l.end, l.rotateAt = -1, l.opts.MaxSize
	l.segment, l.born = l.beginning(f)
	if !l.born.IsZero() && time.Since(l.born) > l.opts.MaxAge {
		l.rotateAt = 1
	}
	return nil
}

// Append writes e as one line, after what Buffer holds. When it returns nil the line is in the file; otherwise the caller
// must not forward what the line is about. After an error the log is as it was, and a later Append may succeed.
func (l *Log) Append(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush() // what becomes of those lines is for Flush to say
	return l.lines(e.append(make([]byte, 0, lineSize), l.mask, l.opts.NoArgs))
}

// Buffer holds e until Flush, or until something else is written. It is for verdicts that are given together: one write
// for all of them costs little more than one for each.
func (l *Log) Buffer(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, e.append(make([]byte, 0, lineSize), l.mask, l.opts.NoArgs))
}

// Flush writes what Buffer holds. It is nil if every line that was buffered since the last Flush is in the file;
// otherwise the caller must forward none of what they are about.
func (l *Log) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	err := l.lost
	l.lost = nil
	return err
}

func (l *Log) flush() {
	held := l.held
	l.held = l.held[:0]
	if len(held) > 0 {
		if err := l.lines(held...); err != nil {
			l.lost = err
		}
		clear(held)
	}
}

// lines writes lines with one write, and checkpoints when they are due.
func (l *Log) lines(bodies ...[]byte) error {
	if l.closed {
		return fmt.Errorf("audit log %s: it is closed", l.path)
	}
	if err := l.put(bodies...); err != nil {
		return fmt.Errorf("audit log %s: %w", l.path, err)
	}
	if l.chain.seq-l.sealed >= uint64(l.opts.Every) {
		l.checkpoint(false, false) // if it cannot be written, the next one covers these lines too
	}
	if !l.armed {
		l.armed, l.armedAt = true, l.chain.seq
		time.AfterFunc(l.opts.Idle, l.idle)
	}
	return nil
}

// put writes lines, whose beginnings bodies are, with one write.
func (l *Log) put(bodies ...[]byte) error {
	size, err := l.follow()
	if err != nil {
		return err
	}
	torn, size, err := l.isTorn(size)
	if err != nil {
		return err
	}
	b := l.buf[:0]
	next := l.chain
	var ends []int     // of each line in b
	var states []chain // of the chain after each line
	for i, body := range bodies {
		at, from := size+int64(len(b)), len(b)
		heal := i == 0 && torn
		if heal {
			b, from = append(b, '\n'), from+1 // what a crash left stays, alone on its line
		}
		b = append(b, body...)
		if heal {
			b = append(b, `, "healed": true`...)
		}
		if next.seq == 0 {
			if b, err = next.introduce(b, l.after, l.key); err != nil {
				return err
			}
		}
		b = next.finish(b, from, at)
		ends, states = append(ends, len(b)), append(states, next)
	}
	if l.buf = b; cap(b) > 1<<20 {
		l.buf = nil
	}
	n, err := l.write(b)
	if n == len(b) {
		l.chain, l.end = next, size+int64(n)
		return err
	}
	for i, end := range ends { // a line that lacks only its end counts: whoever comes next ends it
		if n >= end-1 {
			l.chain = states[i]
		}
	}
	if n > 0 {
		l.end = -1
	}
	if n == len(b)-1 { // every line is there; an error would deny a call whose line says that it was allowed
		return nil
	}
	return err
}

// isTorn reports whether the file ends inside a line: another process was killed in a write, or the disk was full. What
// looks so may also be a write under way, of which a part can be seen: it is torn only if it stays so for a while. It
// returns the file's size then.
func (l *Log) isTorn(size int64) (bool, int64, error) {
	for since := time.Now(); ; time.Sleep(200 * time.Microsecond) {
		if size == l.end || size == 0 {
			return false, size, nil
		}
		var last [1]byte
		if _, err := l.file.ReadAt(last[:], size-1); err != nil {
			return false, size, fmt.Errorf("look at its end: %w", err)
		}
		if last[0] == '\n' {
			return false, size, nil
		}
		now, _, err := sizeOf(l.file)
		switch {
		case err != nil:
			return false, size, fmt.Errorf("look at its end: %w", err)
		case now != size:
			size, since = now, time.Now()
		case time.Since(since) > tornFor:
			return true, size, nil
		}
	}
}

// tornFor is how long an unfinished line has to stay as it is to count as torn. A writer can lose its processor in the
// middle of a write; if it is gone for longer, its line gets an empty one behind it, which nothing is wrong with.
const tornFor = 100 * time.Millisecond

// lookEvery is how often the path is looked up. A file that has no name left is noticed at once; one that was renamed
// meanwhile gets a few lines more, which nothing is wrong with.
const lookEvery = 100 * time.Millisecond

// follow reopens the log when the path names another file, since it was rotated or removed, and rotates it when it is
// due. It returns the file's size.
func (l *Log) follow() (int64, error) {
	now := time.Now()
	if l.file != nil && now.Sub(l.looked) < lookEvery {
		if size, named, err := sizeOf(l.file); err == nil && named && size < l.rotateAt {
			return size, nil
		}
	}
	l.looked = time.Time{}
	for range 100 { // a process that loses its processor between two steps can find each of a few rotated meanwhile
		if l.file == nil {
			if err := l.open(); err != nil {
				return 0, err
			}
		}
		at, size, err := whereIs(l.path)
		switch {
		case err == nil && at.same(l.place):
			if size < l.rotateAt || size == 0 {
				l.looked = now
				return size, nil
			}
			if err := l.rotate(); err != nil {
				l.rotateAt = size + l.opts.MaxSize/4 // a log that cannot be rotated is still a log
				return size, nil
			}
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return 0, err
		}
		l.file.Close()
		l.file = nil
	}
	return 0, errors.New("its name changes faster than it can be followed")
}

// idle writes a checkpoint when nothing was logged since it was armed.
func (l *Log) idle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
	case l.chain.seq != l.armedAt:
		l.armedAt = l.chain.seq
		time.AfterFunc(l.opts.Idle, l.idle)
	default:
		l.armed = false
		l.checkpoint(false, true)
	}
}

// Close writes a last checkpoint, which says that this writer is done, and closes the file. Later Appends are errors.
// The error is that of the checkpoint.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.flush()
	err := l.lost
	if l.chain.seq > 0 && err == nil {
		err = l.checkpoint(true, true)
	}
	l.closed = true
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	if err != nil {
		return fmt.Errorf("close audit log %s: %w", l.path, err)
	}
	return nil
}
