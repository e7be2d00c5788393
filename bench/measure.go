package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// row is one measurement. The names are those of other load drivers for MCP, so that their output can be tabulated too.
type row struct {
	Label string `json:"label"`
	Kind  string `json:"kind"` // start, batch or memory
	Round int    `json:"round"`
	batch
	P50     float64 `json:"p50,omitempty"` // microseconds
	P90     float64 `json:"p90,omitempty"`
	P99     float64 `json:"p99,omitempty"`
	PerSec  float64 `json:"persec,omitempty"`
	StartMs float64 `json:"startms,omitempty"`
	IdleKB  int     `json:"rssidlekb,omitempty"`
	AfterKB int     `json:"rssafterkb,omitempty"`
}

// plan is what a round does.
type plan struct {
	batches []batch
	starts  int           // starts beside the one that the calls are made through
	settle  time.Duration // pause before each batch: what the last program does behind it must not be measured in the next
}

// round measures every program once. All programs are up during the round, idle but for the one that is measured, and
// each batch goes through them in a new random order: two that are compared are measured within seconds, on the same
// mood of the machine.
func round(n int, programs []program, p plan) ([]row, error) {
	var rows []row
	for range p.starts {
		for _, i := range rand.Perm(len(programs)) {
			s, took, err := connect(programs[i])
			if err != nil {
				return nil, err
			}
			s.close()
			rows = append(rows, row{Label: programs[i].label, Kind: "start", Round: n, StartMs: ms(took)})
		}
	}
	sessions := make([]*driver, len(programs))
	memory := make([]row, len(programs))
	defer func() {
		for _, s := range sessions {
			if s != nil {
				s.close()
			}
		}
	}()
	for _, i := range rand.Perm(len(programs)) {
		s, _, err := connect(programs[i])
		if err != nil {
			return nil, err
		}
		sessions[i] = s
		memory[i] = row{Label: programs[i].label, Kind: "memory", Round: n}
	}
	time.Sleep(p.settle)
	for i, s := range sessions {
		memory[i].IdleKB, _ = resident(s.cmd.Process.Pid, nullServer)
	}
	for _, b := range p.batches {
		for _, i := range rand.Perm(len(programs)) {
			time.Sleep(p.settle)
			r, err := measure(sessions[i], b)
			if err != nil {
				return nil, fmt.Errorf("%s, %d bytes, %d at a time: %w", programs[i].label, b.Size, b.Conc, err)
			}
			r.Label, r.Round = programs[i].label, n
			rows = append(rows, r)
		}
	}
	time.Sleep(p.settle)
	for i, s := range sessions {
		memory[i].AfterKB, _ = resident(s.cmd.Process.Pid, nullServer)
		if memory[i].IdleKB > 0 {
			rows = append(rows, memory[i])
		}
	}
	return rows, nil
}

func measure(s *driver, b batch) (row, error) {
	warm := b
	warm.Calls = min(b.Calls, 8)
	if _, _, err := s.run(warm); err != nil {
		return row{}, err
	}
	each, all, err := s.run(b)
	if err != nil {
		return row{}, err
	}
	slices.Sort(each)
	at := func(percent int) float64 {
		return float64(each[min(len(each)-1, len(each)*percent/100)].Nanoseconds()) / 1e3
	}
	return row{Kind: "batch", batch: b, P50: at(50), P90: at(90), P99: at(99), PerSec: float64(b.Calls) / all.Seconds()}, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
