package proxy

import (
	"sync"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// noise tells the user about lines on a server's stdout that are no JSON-RPC: banners, log lines, box art (B04, B05).
// They are not relayed. The first ones of each minute are shown, the rest are counted.
type noise struct {
	mu      sync.Mutex
	since   time.Time
	shown   int
	dropped int
}

const noiseShown = 20

func (n *noise) report(cfg Config, line []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := time.Now(); now.Sub(n.since) > time.Minute {
		if n.dropped > 0 {
			cfg.Problem("%s wrote %d more lines that are no JSON-RPC", cfg.Name, n.dropped)
		}
		n.since, n.shown, n.dropped = now, 0, 0
	}
	if n.shown >= noiseShown {
		n.dropped++
		return
	}
	n.shown++
	cfg.Problem("%s wrote a line that is no JSON-RPC, not relayed: %s", cfg.Name, destination.Visible(string(line[:min(len(line), 400)]), 200))
}
