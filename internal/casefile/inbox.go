package casefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// patience is how long anything that must happen may take. It is a deadline and never a delay: whoever waits is woken
// by the event.
const patience = 10 * time.Second

// received is one frame that one side of the relay got.
type received struct {
	frame []byte
	order int64 // across all sides of a case, so that before and after can be told
}

// inbox keeps every frame that one side received, for good and in order, and lets the runner wait for one.
type inbox struct {
	clock *atomic.Int64

	mu    sync.Mutex
	list  []received
	err   error         // why nothing more will come; nil while it may
	wake  chan struct{} // closed and replaced whenever list or err changed
	bytes int
}

// maxKept bounds what a relay gone wild can make a case keep.
const maxKept = 256 << 20

func newInbox(clock *atomic.Int64) *inbox {
	return &inbox{clock: clock, wake: make(chan struct{})}
}

func (b *inbox) change(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
	close(b.wake)
	b.wake = make(chan struct{})
}

func (b *inbox) add(frame []byte) error {
	b.mu.Lock()
	b.bytes += len(frame)
	over := b.bytes > maxKept
	b.mu.Unlock()
	if over {
		return errors.New("the relay wrote more than a case keeps")
	}
	b.change(func() { b.list = append(b.list, received{bytes.Clone(frame), b.clock.Add(1)}) })
	return nil
}

// fill reads lines into the inbox until they end, and calls each with every one.
func (b *inbox) fill(in io.Reader, each func(frame []byte)) {
	lines := jsonrpc.NewReader(in, 0)
	for {
		frame, err := lines.Next()
		if err == nil {
			err = b.add(frame)
		}
		if err != nil {
			b.change(func() { b.err = err })
			return
		}
		each(frame)
	}
}

func (b *inbox) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.list)
}

// since returns what came from index from on.
func (b *inbox) since(from int) []received {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]received(nil), b.list[min(from, len(b.list)):]...)
}

// wait returns the index of the first frame from index from on that matches. what names it in the error that says that
// it did not come.
func (b *inbox) wait(ctx context.Context, from int, what string, match func(frame []byte) bool) (int, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		b.mu.Lock()
		list, err, wake := b.list, b.err, b.wake
		b.mu.Unlock()
		for ; from < len(list); from++ {
			if match(list[from].frame) {
				return from, nil
			}
		}
		if err != nil {
			return 0, fmt.Errorf("%s did not come: the relay closed this side (%w)", what, err)
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return 0, fmt.Errorf("%s did not come: %w", what, ctx.Err())
		}
	}
}
