package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
	"github.com/mcp-bouncer/bouncer/internal/proxy"
	"github.com/mcp-bouncer/bouncer/internal/session"
	"github.com/mcp-bouncer/bouncer/internal/upstream"
)

// BenchmarkRelay runs the relay as bouncer run does, but in this process, so that -cpuprofile sees it: a real server
// process, blocking pipes, a real audit log.
//
//	go test ./bench -run '^$' -bench Relay/size=100/flight=64 -cpuprofile cpu.prof
//
// The driver's own share is in the profile too, under main.(*driver).run. To know what the relay costs, run
// `make bench`; this tells where.
func BenchmarkRelay(b *testing.B) {
	for _, size := range []int{100, 10 << 10, 1 << 20} {
		for _, flight := range []int{1, 64} {
			b.Run(fmt.Sprintf("size=%d/flight=%d", size, flight), func(b *testing.B) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				s := relayed(b)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				b.ResetTimer()
				if _, _, err := s.run(batch{Size: size, Conc: flight, Calls: b.N}); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// relayed returns a driver with a server behind a relay that is torn down with the test.
func relayed(tb testing.TB) *driver {
	tb.Helper()
	child, err := upstream.Start(upstream.Spec{Command: os.Args[0], Env: append(os.Environ(), asServer+"=1")}, os.Stderr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { child.Stop(tb.Context()) })
	facts, pins := session.NewMemory(), &pin.Book{}
	clientIn, in, err := pipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, clientOut, err := pipe()
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	p := proxy.New(proxy.Config{
		Name: "null", Judge: newJudge(tb, dir, facts, pins), Session: facts, Pins: pins,
		CloseUpstream: func() { child.Stdin().Close() },
	}, proxy.Pipe{In: clientIn, Out: clientOut}, proxy.Pipe{In: child.Stdout(), Out: child.Stdin()})
	ended := make(chan error, 1)
	go func() { ended <- p.Run() }()
	s := newDriver(in, out)
	tb.Cleanup(func() {
		s.close()
		// The server ends because the client did; which of the two the relay noticed first is not at issue here.
		if err := <-ended; err != nil && !errors.Is(err, proxy.ErrServerGone) {
			tb.Errorf("the relay ended with %v", err)
		}
		clientIn.Close()
		clientOut.Close()
	})
	if err := s.handshake(); err != nil {
		tb.Fatal(err)
	}
	return s
}

func newJudge(tb testing.TB, dir string, facts session.Store, pins *pin.Book) *judge.Judge {
	tb.Helper()
	rules, err := load.Bytes("policy.yaml", []byte(policyText))
	if err != nil {
		tb.Fatal(err)
	}
	log, err := audit.Open(filepath.Join(dir, "audit.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { log.Close() })
	return judge.New(judge.Config{
		Server: policy.Server{Name: "null"}, Policy: rules.WithPacks(packs.All()), Profile: policy.Standard, Session: facts,
		SessionID: audit.NewID(), Log: log, Pins: pins, Paths: &judge.Paths{Guarded: []string{dir}},
	})
}

// BenchmarkDecide is one decision with its log line, without the pipes.
func BenchmarkDecide(b *testing.B) {
	facts, pins := session.NewMemory(), &pin.Book{}
	definition, err := jsonrpc.Decode([]byte(`{"name":"echo","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"to":{"type":"string"}}}}`))
	if err != nil {
		b.Fatal(err)
	}
	pins.Pin([]jsonrpc.Value{definition})
	j := newJudge(b, b.TempDir(), facts, pins)
	request := judge.Request{Tool: sendTool, Args: []byte(`{"n":100,"to":"` + recipient + `"}`), Client: "bench 1"}
	b.ReportAllocs()
	for b.Loop() {
		if o := j.Decide(request); o.Decision.Verdict != 0 {
			b.Fatal(o.Decision.Reason)
		}
	}
}

// BenchmarkObserve is what an answer costs before it is relayed, and what indexing costs behind it.
func BenchmarkObserve(b *testing.B) {
	text := fmt.Appendf(nil, `{"content":[{"type":"text","text":"%0100d"}]}`, 0)
	for _, indexed := range []bool{false, true} {
		b.Run(fmt.Sprintf("indexed=%t", indexed), func(b *testing.B) {
			facts, index := session.NewMemory(), provenance.New(provenance.Options{})
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				copy(text[40:], fmt.Sprintf("%020d", i))
				if indexed {
					index.Add(provenance.Source{Server: "null"}, text)
				} else {
					facts.Observe(provenance.Source{Server: "null"}, text)
				}
			}
		})
	}
}
