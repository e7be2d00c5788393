package session

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/mandate"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// Local is a Store that all Bouncer processes of one client session share, in a directory of the Bouncer home.
//
// What servers wrote, and what it was labelled, stands in a segment file for each process: it is written before it is
// relayed, and whoever decides reads first what the others wrote. The rest is in a database, which is opened when the first
// such fact comes up. A bell in the segments says that there is something new in it, so that looking costs nothing.
type Local struct {
	mem   *Memory // what is known so far, and the index
	place *place
	dir   string
	own   *segment
	db    *database

	reading sync.Mutex // guards what follows: one goroutine reads the others' segments
	peers   []*peer
	buffer  buffer
	next    int           // number of the segment that is looked for
	mine    map[int]bool  // segments of this process
	looked  time.Time     // when the files themselves were looked at last
	trust   time.Duration // how long the board is believed meanwhile

	renewing sync.Mutex // held while another segment is begun

	rare    sync.Mutex // held while a rare fact is checked and written, so that two of them keep their order
	stale   atomic.Bool
	request atomic.Int64 // id of the prompt that the current request began with

	faults atomic.Uint64
	last   atomic.Pointer[error] // the last fault
	broken atomic.Pointer[error] // a fault that lasts

	stop, stopped chan struct{}
}

// Open joins a session below a Bouncer home, which must exist.
func Open(home string, who Identity) (*Local, error) { return open(home, who, Processes) }

func open(home string, who Identity, t Table) (*Local, error) {
	p, err := newPlace(home, t)
	if err != nil {
		return nil, fmt.Errorf("open the session's store: %w", err)
	}
	dir, own, number, err := p.join(who)
	if err != nil {
		return nil, fmt.Errorf("open the session's store: %w", err)
	}
	l := &Local{mem: NewMemory(), place: p, dir: dir, own: own, db: newDatabase(p, dir), next: 1, mine: map[int]bool{number: true}, trust: trustBoard,
		stop: make(chan struct{}), stopped: make(chan struct{})}
	go l.background()
	return l, nil
}

// often is how often a process that decides nothing reads what the others wrote, so that its next decision need not index
// all of it.
const often = time.Second

// trustBoard is how long decisions go by the board before one looks at the files themselves again: for a segment that nobody
// announced, one that is longer than what was posted.
const trustBoard = 50 * time.Millisecond

func (l *Local) background() {
	defer close(l.stopped)
	_ = l.place.sweep(l.who()) // what cannot be swept now, the next start sweeps
	tick := time.NewTicker(often)
	defer tick.Stop()
	for {
		l.sync(true)
		l.retireAll()
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
	}
}

// lastMoment is how long the last process of a session waits for a client that hung up to be gone.
const lastMoment = 50 * time.Millisecond

// Close leaves the session. Nothing may be called any more.
func (l *Local) Close() error {
	close(l.stop)
	<-l.stopped
	l.reading.Lock()
	for _, p := range l.peers {
		p.file.Close()
	}
	l.peers = nil
	l.reading.Unlock()
	err := l.db.close()
	for until := time.Now().Add(lastMoment); l.place.clientLives(l.dir) && time.Now().Before(until); {
		time.Sleep(5 * time.Millisecond)
	}
	return errors.Join(err, l.place.leave(l.dir, l.own))
}

// Mark implements Store.
func (l *Local) Mark() uint64 {
	mark := l.faults.Load()
	if l.own.bad() != nil {
		l.fault(l.renew())
	}
	if !l.own.inPlace() { // who joins now joins another session
		l.fault(fmt.Errorf("what this process wrote in %s was moved or removed", l.dir))
	}
	l.sync(false)
	return mark
}

// Err implements Store.
func (l *Local) Err(since uint64) error {
	if err := l.broken.Load(); err != nil {
		return fmt.Errorf("the session's store cannot be used: %w", *err)
	}
	if l.faults.Load() > since {
		return fmt.Errorf("the session's store cannot be used: %w", *l.last.Load())
	}
	return nil
}

// fault notes that something could not be read or written. Whoever asked for it must not go on.
func (l *Local) fault(err error) {
	if err == nil {
		return
	}
	l.last.Store(&err)
	l.faults.Add(1)
}

// breakDown notes a fault after which the store's facts are not whole any more.
func (l *Local) breakDown(err error) {
	if err == nil {
		return
	}
	l.broken.CompareAndSwap(nil, &err)
	l.fault(err)
}

// sync takes in what the other processes wrote: all of it where look is set, or the board was believed for long enough.
func (l *Local) sync(look bool) {
	l.reading.Lock()
	defer l.reading.Unlock()
	if l.broken.Load() != nil {
		return
	}
	if now := time.Now(); look || now.Sub(l.looked) >= l.trust {
		l.looked, look = now, true
	}
	for {
		if l.mine[l.next] {
			l.next++
			continue
		}
		if n, known := l.own.board.segments(); known && !look && l.next > n {
			break
		}
		p, err := openPeer(l.dir, l.next, &l.buffer)
		if err != nil { // it is looked for again each time: as long as it is so, nothing is decided
			l.fault(err)
			l.looked = time.Time{}
			return
		}
		if p == nil {
			break
		}
		l.next++
		if l.peers = append(l.peers, p); !l.read(p) {
			return
		}
		if p.over() { // most segments of a long session are of processes that have ended
			l.retire(len(l.peers) - 1)
		}
	}
	for _, p := range l.peers {
		posted, known := l.own.board.written(p.number)
		if known && !look && posted <= p.at {
			continue
		}
		if !l.read(p) {
			return
		}
		if known && posted > p.at { // it was whole, or would not have been posted
			l.breakDown(fmt.Errorf("%s is damaged: it ends before %d bytes", p.file.Name(), posted))
			return
		}
	}
	if l.stale.Load() {
		l.stale.Store(false)
		if err := l.load(); err != nil {
			l.stale.Store(true)
			l.fault(err)
		}
	}
}

// take takes in one record of another process.
func (l *Local) take(f fact) {
	switch f.kind {
	case recObserved:
		_ = l.mem.Observe(f.src, f.payload, f.echo...) // in memory it cannot fail
	case recLabelled:
		l.mem.Label(f.label)
	case recBell:
		l.stale.Store(true)
	}
}

func (l *Local) read(p *peer) bool {
	err := p.read(l.take)
	l.breakDown(err)
	return err == nil
}

// retire reads the rest of a segment whose process has ended, and closes it: what is torn in it stays so.
func (l *Local) retire(i int) {
	l.read(l.peers[i])
	l.peers[i].file.Close()
	l.peers = slices.Delete(l.peers, i, i+1)
}

// retireAll closes the segments of all processes that have ended.
func (l *Local) retireAll() {
	l.reading.Lock()
	defer l.reading.Unlock()
	for i := len(l.peers) - 1; i >= 0; i-- {
		if l.peers[i].over() {
			l.retire(i)
		}
	}
}

// write appends a record for the others to read. Where it cannot, and may have left a torn one, it tries to begin anew.
func (l *Local) write(body func([]byte) []byte, payload []byte) error {
	err := l.own.write(body, payload)
	if err == nil {
		return nil
	}
	if again := l.renew(); again == nil {
		err = l.own.write(body, payload)
	}
	l.fault(err)
	return err
}

// renew begins another segment after a write failed. It also rings the bell, which may be what was not written.
func (l *Local) renew() error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	if l.own.bad() == nil {
		return nil
	}
	if l.own.spare == nil {
		f, number, err := l.place.another(l.dir, l.own.board)
		if err != nil {
			return err
		}
		l.reading.Lock()
		l.mine[number] = true
		l.reading.Unlock()
		l.own.spare, l.own.spareNumber = f, number
	}
	ring := []byte{recBell}
	head := seal(ring)
	return l.own.begin(append(head[:], ring...))
}

// Observe implements Store.
func (l *Local) Observe(src provenance.Source, payload []byte, echo ...string) error {
	err := l.write(func(b []byte) []byte { return observation(b, src, echo) }, payload)
	return errors.Join(err, l.mem.Observe(src, payload, echo...))
}

// Seen implements Store.
func (l *Local) Seen(d destination.Destination, how provenance.Matching) (provenance.Sighting, bool) {
	return l.mem.Seen(d, how)
}

// Verbatim implements Store.
func (l *Local) Verbatim(d destination.Destination) (provenance.Sighting, bool) {
	return l.mem.Verbatim(d)
}

// Label implements Store.
func (l *Local) Label(what provenance.Labelled) {
	l.rare.Lock()
	defer l.rare.Unlock()
	if !l.mem.news(what) {
		return
	}
	if what.Label == provenance.Directory {
		l.sync(false)
		if l.stale.Load() || !l.mem.news(what) {
			return // an agent's call put it there, or may have
		}
	}
	_ = l.write(func(b []byte) []byte { return labelling(b, what) }, nil) // a fault is kept, and Err says it
	l.mem.Label(what)
}

// Labelled implements Store.
func (l *Local) Labelled(server string, d destination.Destination) (provenance.Labelled, bool) {
	return l.mem.Labelled(server, d)
}

// Secret implements Store.
func (l *Local) Secret(text string) (provenance.Labelled, bool) {
	return l.mem.Secret(text)
}

// Clean implements Store.
func (l *Local) Clean() bool {
	return l.mem.Clean()
}

// First implements Store.
func (l *Local) First(d destination.Destination) bool {
	return l.mem.First(d)
}

// Request implements Store.
func (l *Local) Request() *mandate.Request {
	return l.mem.Request()
}

// Vouched implements Store.
func (l *Local) Vouched(server, tool string, d destination.Destination) bool {
	return l.mem.Vouched(server, tool, d)
}

// Private implements Store.
func (l *Local) Private(server, object string) (provenance.Labelled, bool) {
	return l.mem.Private(server, object)
}

// VouchedFor implements Store.
func (l *Local) VouchedFor(server string) []destination.Destination { return l.mem.VouchedFor(server) }
