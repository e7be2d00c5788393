package otlp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// send takes records off the queue and posts them in batches until the queue is closed and empty, or ctx ends.
func (e *Exporter) send(ctx context.Context) {
	for {
		batch, open := e.batch(ctx)
		if len(batch) > 0 {
			taken, err := e.deliver(ctx, batch)
			e.sent.Add(int64(taken))
			if err == nil {
				err = errors.New("the collector rejected them")
			}
			if lost := len(batch) - taken; lost > 0 && ctx.Err() == nil { // at the end Close says it all
				e.lose(lost, err)
			}
		}
		if !open || ctx.Err() != nil {
			return
		}
	}
}

// batch waits for a record, and then a little for others. open is false when no more will come.
func (e *Exporter) batch(ctx context.Context) (all []record, open bool) {
	var full <-chan time.Time
	for len(all) < batchMost {
		select {
		case r, ok := <-e.queue:
			if !ok {
				return all, false
			}
			if all = append(all, r); full == nil {
				full = time.After(e.opts.Every)
			}
		case <-full:
			return all, true
		case <-ctx.Done():
			return all, false
		}
	}
	return all, true
}

// tries is how often a batch is sent to a collector that says it is busy, or cannot be reached. Meanwhile the queue
// fills, and what does not fit is dropped.
const tries = 3

// deliver posts a batch and returns how many of its records were taken.
func (e *Exporter) deliver(ctx context.Context, batch []record) (taken int, err error) {
	body, err := json.Marshal(e.request(batch))
	if err != nil {
		return 0, err
	}
	pause := e.opts.Every
	for try := range tries {
		var again bool
		var rejected int
		if rejected, again, err = e.post(ctx, body); err == nil {
			return len(batch) - min(max(rejected, 0), len(batch)), nil
		}
		if !again || try == tries-1 {
			break
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return 0, err
		}
		pause *= 2
	}
	return 0, err
}

func (e *Exporter) request(batch []record) exportRequest {
	return exportRequest{[]resourceLogs{{
		Resource:  resource{[]attribute{{"service.name", text("bouncer")}, {"service.version", text(e.opts.Version)}, {"service.instance.id", text(e.opts.Session)}}},
		ScopeLogs: []scopeLogs{{scope{"github.com/mcp-bouncer/bouncer", e.opts.Version}, batch}},
	}}}
}

// post sends one request. again says that the same one may succeed later.
func (e *Exporter) post(ctx context.Context, body []byte) (rejected int, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.opts.Endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	for name, values := range e.opts.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "bouncer/"+e.opts.Version)
	resp, err := e.client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return 0, ctx.Err() == nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case resp.StatusCode/100 == 2:
		return rejectedOf(answer), false, nil // what went wrong after that is not worth sending twice
	case err != nil:
		return 0, false, err
	}
	again = resp.StatusCode == 429 || resp.StatusCode >= 502 && resp.StatusCode <= 504
	return 0, again, fmt.Errorf("the collector answered %d", resp.StatusCode) // its words are not repeated
}

// rejectedOf reads how many records a collector took the request without.
func rejectedOf(answer []byte) int {
	var a struct {
		PartialSuccess struct {
			Rejected json.RawMessage `json:"rejectedLogRecords"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return 0
	}
	n, err := strconv.Atoi(string(bytes.Trim(a.PartialSuccess.Rejected, `"`)))
	if err != nil {
		return 0
	}
	return n
}
