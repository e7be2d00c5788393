package proxy

import (
	"sync"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// noise limits what a server can make Bouncer tell its user: lines on its stdout that are no JSON-RPC (banners, log
// lines, box art: B04, B05), answers to ids that nobody asked. The first ones of each minute are shown, the rest are
// counted: a flood must not fill a log that nobody drains and so stop the relay.
type noise struct {
	mu      sync.Mutex
	since   time.Time
	shown   int
	dropped int
}

const noiseShown = 20

// admit reports whether one more message may be shown, and how many were not since the last minute began.
func (n *noise) admit() (ok bool, dropped int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := time.Now(); now.Sub(n.since) > time.Minute {
		dropped = n.dropped
		n.since, n.shown, n.dropped = now, 0, 0
	}
	if n.shown >= noiseShown {
		n.dropped++
		return false, dropped
	}
	n.shown++
	return true, dropped
}

// problem tells the user about something that the server did.
func (p *Proxy) problem(format string, args ...any) {
	ok, dropped := p.noise.admit()
	if dropped > 0 {
		p.cfg.Problem("%s caused %d more messages that are not shown", p.cfg.Name, dropped)
	}
	if ok {
		p.cfg.Problem(format, args...)
	}
}

// noiseLine tells about a line that is no JSON-RPC and is not relayed.
func (p *Proxy) noiseLine(line []byte) {
	p.problem("%s wrote a line that is no JSON-RPC, not relayed: %s", p.cfg.Name, destination.Visible(string(line[:min(len(line), 400)]), 200))
}
