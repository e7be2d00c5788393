package proxy

import "sync"

// batch collects the responses to a JSON-RPC batch, which go back as one array.
type batch struct {
	mu     sync.Mutex
	open   int // requests without a response
	frames [][]byte
}

// add takes the response to one request of the batch (nil for a cancelled one) and owns it. The last one sends the
// array.
func (b *batch) add(p *Proxy, frame []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if frame != nil {
		b.frames = append(b.frames, frame)
	}
	if b.open--; b.open > 0 || len(b.frames) == 0 {
		return
	}
	out := []byte{'['}
	for i, f := range b.frames {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, f...)
	}
	p.client.queue(append(out, ']'))
}
