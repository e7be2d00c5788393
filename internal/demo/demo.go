package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

//go:embed policy.yaml
var policyText []byte

// Options says how to run the demo. Self and Out are required.
type Options struct {
	Self   string    // Bouncer's own program; it is started as `SELF run` and `SELF demo-server`
	Out    io.Writer // where the story is printed
	Colour bool
	Home   string // the Bouncer home of the session, which keeps its audit log; "" is a temporary one, removed afterwards
}

// limit is how long the whole demo may take. It takes a few seconds.
const limit = 60 * time.Second

// Run plays the story through a real Bouncer process and prints it. ok is whether every verdict, reason, mail and file
// was as the story says. The error is for a demo that could not be played to its end: Bouncer did not start, did not
// answer within a minute, or Out could not be written. There is no ok beside an error, and no process left behind.
func Run(opts Options) (ok bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return run(ctx, opts, story())
}

func run(ctx context.Context, opts Options, steps []step) (ok bool, err error) {
	tmp, err := os.MkdirTemp("", "bouncer-demo-")
	if err != nil {
		return false, fmt.Errorf("demo: %w", err)
	}
	defer func() {
		if rmErr := os.RemoveAll(tmp); rmErr != nil && err == nil {
			ok, err = false, fmt.Errorf("demo: %w", rmErr)
		}
	}()
	set, err := newScene(tmp, opts.Home)
	if err != nil {
		return false, fmt.Errorf("demo: %w", err)
	}
	if set.bench.noLinks {
		steps = slices.DeleteFunc(steps, func(s step) bool { return s.link })
	}
	out := newScreen(opts.Out, opts.Colour)
	out.intro(string(policyText), set.bench.noLinks)
	all, err := set.play(ctx, opts.Self, steps, out)
	if ctx.Err() != nil {
		err = fmt.Errorf("the demo did not end in time: %w", errors.Join(ctx.Err(), err))
	}
	if err != nil {
		return false, fmt.Errorf("demo: %w", err)
	}
	out.audit(all.lines)
	out.summary(all)
	if out.err != nil {
		return false, fmt.Errorf("demo: %w", out.err)
	}
	return len(all.problems) == 0, nil
}

// scene is what the demo puts on disk.
type scene struct {
	bench        *bench
	home, policy string
}

// newScene lays everything out below tmp, but for a home of the user's choice.
func newScene(tmp, home string) (*scene, error) {
	if home == "" {
		home = filepath.Join(tmp, "home")
	}
	home, err := filepath.Abs(home) // the child starts in another directory
	if err != nil {
		return nil, err
	}
	s := &scene{home: home, policy: filepath.Join(tmp, "policy.yaml"), bench: &bench{dir: filepath.Join(tmp, "mail")}}
	if s.bench.audit, err = newTail(filepath.Join(home, "audit.jsonl")); err != nil {
		return nil, err
	}
	if err := s.bench.prepare(); err != nil {
		return nil, err
	}
	return s, os.WriteFile(s.policy, policyText, 0o600)
}

// play starts Bouncer, plays the story and ends Bouncer, whatever happens. What the log gained after the last step
// belongs to no step.
func (s *scene) play(ctx context.Context, self string, steps []step, out *screen) (result, error) {
	if err := s.bench.start(ctx, self, s.policy, s.home); err != nil {
		return result{}, err
	}
	all, err := play(ctx, s.bench, steps, out)
	if err := errors.Join(err, s.bench.stop()); err != nil {
		return all, err
	}
	rest, err := s.bench.log()
	for _, l := range rest {
		all.problems = append(all.problems, "the audit log has a line that belongs to no step: "+l.raw)
	}
	return all, err
}
