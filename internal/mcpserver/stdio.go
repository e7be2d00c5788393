package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

const (
	maxFrame = 8 << 20         // a client that sends more in one line wants something else than a check
	lingers  = 5 * time.Second // how long the answers under way have once the client's input ended
)

// RunStdio serves one client that writes to in and reads from out, until in or ctx ends. It returns nil when in ended.
//
// Between the client and the SDK stands what the SDK does not do by itself: a line that is no single message is
// answered with an error and the session goes on, an id that the SDK would round is refused, and what was asked before
// the input ended is answered before the session ends.
func (s *Server) RunStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	toSDK, fromUs := io.Pipe()
	f := &front{out: out, to: fromUs, pending: map[string]bool{}, changed: make(chan struct{}, 1)}
	go func() {
		f.pump(in)
		f.drain(ctx)
		fromUs.Close()
	}()
	context.AfterFunc(ctx, func() { toSDK.Close() })
	err := s.mcp.Run(ctx, &mcp.IOTransport{Reader: toSDK, Writer: f, MaxLineLength: maxFrame + 1})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// front is the client's side of a session over two pipes.
type front struct {
	to *io.PipeWriter // to the SDK

	mu      sync.Mutex
	out     io.Writer
	pending map[string]bool // requests that the SDK has and has not answered, by id
	changed chan struct{}   // has room for one: pending became smaller
}

// pump passes the client's messages on until its input ends.
func (f *front) pump(in io.Reader) {
	r := jsonrpc.NewReader(in, maxFrame)
	for {
		frame, err := r.Next()
		var large *jsonrpc.TooLargeError
		switch {
		case errors.As(err, &large):
			if !large.IsResponse {
				f.refuse(large.ID, -32600, large.Error())
			}
			continue
		case err != nil:
			return
		}
		msg, bad := jsonrpc.Parse(frame, jsonrpc.FromClient)
		switch {
		case bad != nil:
			if !bad.Response {
				f.refuse(bad.ID, bad.Code, visible(bad.Reason))
			}
			continue
		case msg.Shape == jsonrpc.Response: // nobody asked the client anything
			continue
		case msg.Shape == jsonrpc.Request:
			if why := f.admit(msg.ID); why != "" {
				f.refuse(msg.ID, -32600, why)
				continue
			}
		}
		if _, err := f.to.Write(append(bytes.TrimRight(bytes.Clone(frame), "\r"), '\n')); err != nil {
			return
		}
	}
}

// admit notes a request as being under way, or says why it cannot be.
func (f *front) admit(id jsonrpc.ID) string {
	if text := id.String(); text[0] != '"' && len(text) > 15 { // the SDK keeps numbers as floats: 2^53+1 would be answered as 2^53
		return "the id is a larger number than this server can give back"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending[id.Key()] {
		return "a request with this id is under way"
	}
	f.pending[id.Key()] = true
	return ""
}

// drain waits until every request that was passed on is answered. A request that is never answered (a subscription, a
// cancelled call) does not hold the process for long.
func (f *front) drain(ctx context.Context) {
	late := time.NewTimer(lingers)
	defer late.Stop()
	for {
		f.mu.Lock()
		n := len(f.pending)
		f.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-f.changed:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (f *front) refuse(id jsonrpc.ID, code int, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out.Write(append(jsonrpc.ErrorFrame(id, code, why), '\n')) // a client that is gone is seen at its next message
}

// Write takes one message of the SDK to the client.
func (f *front) Write(frame []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.out.Write(frame)
	if msg, bad := jsonrpc.Parse(bytes.TrimSuffix(frame, []byte("\n")), jsonrpc.FromServer); bad == nil && msg.Shape == jsonrpc.Response {
		delete(f.pending, msg.ID.Key())
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
	return n, err
}

// Close is the SDK's word that it is done. The client's pipe is not ours to close.
func (f *front) Close() error { return nil }
