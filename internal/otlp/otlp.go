// Package otlp sends verdicts to an OpenTelemetry collector, as log records over OTLP/HTTP with JSON (POST /v1/logs).
//
// It must never be in the way of a decision: it reads the lines of its session back from the audit log, where they stand
// already, masked. The session does nothing for it but count. What a collector cannot take in time is dropped, and the number
// is told. It must not send arguments of calls, follow a redirect, or send anything that is not in the log.
package otlp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Options say what is sent where. Endpoint, Header, Path and Session are required.
type Options struct {
	Endpoint *url.URL    // as ParseEndpoint returns it
	Header   http.Header // as ParseHeaders returns it
	Path     string      // of the audit log
	Session  string      // only this session's lines are sent
	Version  string      // of Bouncer
	Problem  func(format string, args ...any)

	Grace   time.Duration // how long Close may take; 2 s
	Timeout time.Duration // of one request; 5 s
	Every   time.Duration // how long a record waits for others; 1 s
}

const (
	queueMost = 1024
	batchMost = 256
)

// Exporter sends the verdicts of one session. Its methods may be called concurrently, Close once.
type Exporter struct {
	opts   Options
	client *http.Client
	queue  chan record

	written atomic.Int64 // lines that the session wrote
	read    atomic.Int64 // lines that were read back
	sent    atomic.Int64 // records that the collector took
	lost    atomic.Int64 // records that were dropped
	told    atomic.Int64 // when a loss was last told, in seconds

	stopReading context.CancelFunc
	stopSending context.CancelFunc
	reading     sync.WaitGroup
	sending     sync.WaitGroup
}

// Start begins to follow the log. It does not wait for the collector, now or later; Close ends it.
func Start(o Options) *Exporter {
	if o.Problem == nil {
		o.Problem = func(string, ...any) {}
	}
	orElse := func(d *time.Duration, usual time.Duration) {
		if *d <= 0 {
			*d = usual
		}
	}
	orElse(&o.Grace, 2*time.Second)
	orElse(&o.Timeout, 5*time.Second)
	orElse(&o.Every, time.Second)
	e := &Exporter{opts: o, queue: make(chan record, queueMost)}
	e.client = &http.Client{
		Timeout: o.Timeout,
		// A redirect would carry verdicts and credentials to where nobody sent them.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxConnsPerHost: 1, ResponseHeaderTimeout: o.Timeout, MaxResponseHeaderBytes: 64 << 10},
	}
	reading, stopReading := context.WithCancel(context.Background())
	sending, stopSending := context.WithCancel(context.Background())
	e.stopReading, e.stopSending = stopReading, stopSending
	e.reading.Go(func() { e.follow(reading) })
	e.sending.Go(func() { e.send(sending) })
	return e
}

// follow reads the session's lines back as they are written. Lines of other sessions, which share the log, are theirs to
// send.
func (e *Exporter) follow(ctx context.Context) {
	defer close(e.queue)
	mark := []byte(`"session": "` + e.opts.Session + `"`)
	// The first lines may have been written before the log is open here, so some of the past are looked at too.
	err := audit.Follow(ctx, e.opts.Path, queueMost, audit.Filter{}, func(line []byte) error {
		if r, ok := ours(line, mark, e.opts.Session); ok {
			select {
			case e.queue <- recordOf(r):
			default:
				e.lose(1, errors.New("the collector is slower than the verdicts come"))
			}
			e.read.Add(1)
		}
		return nil
	})
	if err != nil {
		e.opts.Problem("otlp: no more verdicts are exported: %s", destination.Visible(err.Error(), 300))
	}
}

// lose counts records that are dropped, and says so, but not more often than once a minute.
func (e *Exporter) lose(n int, why error) {
	total := e.lost.Add(int64(n))
	now, told := time.Now().Unix(), e.told.Load()
	if now-told >= 60 && e.told.CompareAndSwap(told, now) {
		e.opts.Problem("otlp: %d verdicts not exported to %s so far: %s; they are in the log", total, e.opts.Endpoint.Host, destination.Visible(why.Error(), 300))
	}
}

// Close sends what is left, for as long as Grace, and says how much could not be sent. The log must be closed before it.
func (e *Exporter) Close() {
	deadline := time.NewTimer(e.opts.Grace)
	defer deadline.Stop()
	over := make(chan struct{})
	go func() {
		e.drain()
		close(over)
	}()
	select {
	case <-over:
	case <-deadline.C:
	}
	e.stopReading()
	e.stopSending()
	// Both goroutines look at their contexts wherever they wait, but not while the system opens or reads a file: one that
	// hangs there (a dead network drive, a pipe in the log's place) must not keep the session from ending.
	deadline.Reset(e.opts.Grace)
	select {
	case <-over:
	case <-deadline.C:
	}
	e.client.CloseIdleConnections()
	if missing := e.written.Load() - e.sent.Load(); missing > 0 {
		e.opts.Problem("otlp: %d of %d verdicts were not exported to %s; they are in the log", missing, e.written.Load(), e.opts.Endpoint.Host)
	}
}

// drain waits until every line that was written has been read back, and every record sent or dropped.
func (e *Exporter) drain() {
	read := make(chan struct{})
	go func() {
		e.reading.Wait() // follow ended by itself, or was stopped
		close(read)
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
wait:
	for e.read.Load() < e.written.Load() {
		select {
		case <-read:
			break wait
		case <-tick.C:
		}
	}
	e.stopReading()
	<-read
	e.sending.Wait()
}

// Log counts what a session writes, so that Close knows when all of it has been read back. It is in the place of the
// log that it stands for, and does nothing else.
type Log struct {
	inner BufferedLog
	e     *Exporter
	held  atomic.Int64
}

// BufferedLog is the log of a session; audit.Log is one.
type BufferedLog interface {
	Append(audit.Entry) error
	Buffer(audit.Entry)
	Flush() error
	Close() error
}

// Count returns log with its lines counted for e.
func (e *Exporter) Count(log BufferedLog) *Log { return &Log{inner: log, e: e} }

// Append is the log's.
func (l *Log) Append(entry audit.Entry) error {
	err := l.inner.Append(entry)
	if err == nil {
		l.e.written.Add(1)
	}
	return err
}

// Buffer is the log's.
func (l *Log) Buffer(entry audit.Entry) {
	l.inner.Buffer(entry)
	l.held.Add(1)
}

// Flush is the log's.
func (l *Log) Flush() error {
	n := l.held.Swap(0)
	err := l.inner.Flush()
	if err == nil {
		l.e.written.Add(n)
	}
	return err
}

// Close is the log's. The exporter has a Close of its own, which comes after it.
func (l *Log) Close() error { return l.inner.Close() }
