package replay

import (
	"errors"
	"os"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// pair is a session of two processes: what one of them read taints what the other one sends.
type pair struct {
	reads, rest *remote
	reader      map[string]bool // tools that only read
}

func (p *Process) startPair(cfg Config, s *Suite, t Task) (player, error) {
	reads, err := p.startOne(cfg, s, t, "")
	if err != nil {
		return nil, err
	}
	rest, err := p.startOne(cfg, s, t, reads.home)
	if err != nil {
		return nil, errors.Join(err, reads.end())
	}
	both := &pair{reads, rest, map[string]bool{}}
	for _, definition := range s.Tools {
		tool := policy.ToolOf(definition)
		both.reader[tool.Name] = policy.Reads(tool)
	}
	return both, nil
}

// play makes a call through the process that is for it. The log that both write has the calls in their order.
func (p *pair) play(s *Step) error {
	r := p.rest
	if p.reader[s.Call.Function] {
		r = p.reads
	}
	err := r.play(s)
	if r == p.rest && err == nil {
		p.reads.made = append(p.reads.made, s)
	}
	return err
}

func (p *pair) close() error {
	if p.reads.ended || p.rest.ended {
		return errors.Join(p.reads.end(), p.rest.end())
	}
	p.rest.ended = true
	err := errors.Join(p.rest.hangUp(), os.RemoveAll(p.rest.dir))
	return errors.Join(err, p.reads.close())
}
