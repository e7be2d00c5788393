package ui

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// watcher notices what changes: another question, another verdict, another approval.
type watcher struct {
	cfg Config

	mu      sync.Mutex
	waiting map[chan string]bool
}

const (
	lookEvery   = 300 * time.Millisecond
	attendEvery = 2 * time.Second
)

func newWatcher(ctx context.Context, cfg Config) *watcher {
	w := &watcher{cfg: cfg, waiting: map[chan string]bool{}}
	before, known := w.state()
	go w.run(ctx, before, known)
	return w
}

func (w *watcher) run(ctx context.Context, before string, known map[string]bool) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, questions := w.state()
		for id := range questions {
			if !known[id] && w.cfg.Notify != nil {
				w.cfg.Notify()
				break
			}
		}
		if known = questions; now == before {
			continue
		}
		before = now
		w.mu.Lock()
		for ch := range w.waiting {
			select {
			case ch <- now:
			default: // it has one to read already
			}
		}
		w.mu.Unlock()
	}
}

// state is a text that is another one when something has changed.
func (w *watcher) state() (string, map[string]bool) {
	var b strings.Builder
	questions := map[string]bool{}
	all, _ := w.cfg.Pending.List()
	for _, p := range all {
		questions[p.ID] = true
		fmt.Fprintf(&b, "%s %s;", p.ID, p.Key)
	}
	if info, err := os.Stat(w.cfg.Log); err == nil {
		fmt.Fprintf(&b, "%d %d", info.Size(), info.ModTime().UnixNano())
	}
	if book, err := w.cfg.Book(); err == nil {
		entries, _ := book.Entries()
		for _, e := range entries {
			b.WriteString(e.Line())
		}
	}
	return b.String(), questions
}

// events keeps a page connected: it is told when something changes, and as long as it is there calls wait for an answer given at it.
func (u *UI) events(rw http.ResponseWriter, r *http.Request) {
	w := u.watch
	flusher, ok := rw.(http.Flusher)
	if !ok {
		http.Error(rw, "bouncer: no events here", http.StatusInternalServerError)
		return
	}
	ch := make(chan string, 1)
	w.mu.Lock()
	w.waiting[ch] = true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.waiting, ch)
		w.mu.Unlock()
	}()
	rw.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(rw, ": hello\n\n")
	flusher.Flush()
	u.cfg.Pending.Attend()
	attend := time.NewTicker(attendEvery)
	defer attend.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-u.closed.Done():
			return
		case <-attend.C:
			u.cfg.Pending.Attend()
			fmt.Fprint(rw, ": still here\n\n")
		case <-ch:
			fmt.Fprint(rw, "event: change\ndata: x\n\n")
		}
		flusher.Flush()
	}
}
