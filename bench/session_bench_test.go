package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/provenance"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// BenchmarkSession is what sharing costs: one answer observed and one decision, in memory, and in a session with so many
// other processes. In "busy" ones one of the others observes an answer too, each time.
func BenchmarkSession(b *testing.B) {
	for _, c := range []struct {
		name  string
		local bool
		peers int
		busy  bool
	}{{"memory", false, 0, false}, {"alone", true, 0, false}, {"peers=1", true, 1, false}, {"peers=4", true, 4, false}, {"peers=1,busy", true, 1, true}, {"peers=4,busy", true, 4, true}} {
		for _, size := range []int{100, 10 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/size=%d", c.name, size), func(b *testing.B) { benchSession(b, c.local, c.peers, c.busy, size) })
		}
	}
}

func benchSession(b *testing.B, local bool, peers int, busy bool, size int) {
	home := b.TempDir()
	open := func() session.Store {
		if !local {
			return session.NewMemory()
		}
		who, err := session.Here()
		if err != nil {
			b.Fatal(err)
		}
		l, err := session.Open(home, who)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { l.Close() })
		return l
	}
	facts, pins := open(), &pin.Book{}
	var others []session.Store
	for range peers {
		others = append(others, open())
	}
	definition, err := jsonrpc.Decode([]byte(`{"name":"echo","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"to":{"type":"string"}}}}`))
	if err != nil {
		b.Fatal(err)
	}
	pins.Pin([]jsonrpc.Value{definition})
	j := newJudge(b, home, facts, pins)
	request := judge.Request{Tool: sendTool, Args: []byte(`{"n":100,"to":"` + recipient + `"}`), Client: "bench 1"}
	text := fmt.Appendf(nil, `{"content":[{"type":"text","text":"%020d %s"}]}`, 0, strings.Repeat("the report is due on Friday ", size/27+1)[:size])
	src := provenance.Source{Server: "null", Kind: "result"}
	observe := func(s session.Store, i int) {
		copy(text[36:], fmt.Sprintf("%020d", i))
		if err := s.Observe(src, text); err != nil {
			b.Fatal(err)
		}
	}
	for i := 0; b.Loop(); i++ {
		if busy {
			observe(others[i%peers], 1_000_000_000+i)
		}
		observe(facts, i)
		if o := j.Decide(request); o.Decision.Verdict != 0 {
			b.Fatal(o.Decision.Reason)
		}
	}
}
