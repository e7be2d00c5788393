package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

//go:embed policy.yaml
var policyText []byte

// Options says how to run the demo. Self and Out are required.
type Options struct {
	Self   string    // Bouncer's own program; it is started as `SELF run` and `SELF demo-server`
	Out    io.Writer // where the story is printed
	Colour bool
	// Home is the Bouncer home of the session, which keeps the audit log; no other session may write there meanwhile.
	// "" is a temporary one, removed afterwards.
	Home string
}

// limit is how long the whole demo may take. It takes a few seconds.
const limit = 60 * time.Second

// Run plays the story through a real Bouncer process and prints it. ok is whether every verdict, reason, mail and file
// was as the story says. The error is for a demo that could not be played to its end: Bouncer did not start, did not
// answer within a minute, or Out could not be written. There is no ok beside an error, and no process left behind.
func Run(opts Options) (ok bool, err error) {
	// Neither Ctrl-C nor a reader that leaves (`bouncer demo | head`) may leave files behind. Only the first signal is
	// taken: a demo that is stuck in writing can still be ended by a second one.
	signalled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	context.AfterFunc(signalled, stop)
	ctx, cancel := context.WithTimeout(signalled, limit)
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
	set, err := newScene(tmp, opts)
	if err != nil {
		return false, fmt.Errorf("demo: %w", err)
	}
	if set.bench.noLinks {
		steps = slices.DeleteFunc(steps, func(s step) bool { return s.link })
	}
	out := newScreen(opts.Out, opts.Colour)
	out.intro(string(policyText), set.bench.noLinks)
	all, err := set.play(ctx, steps, out)
	if ctx.Err() != nil {
		err = fmt.Errorf("it was cut short: %w", errors.Join(ctx.Err(), err))
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

// scene is what the demo puts on disk, and the program that it starts.
type scene struct {
	bench              *bench
	self, home, policy string
}

// newScene lays everything out below tmp, but for a home of the user's choice. Its paths are absolute: the child starts
// in another directory.
func newScene(tmp string, opts Options) (*scene, error) {
	tmp, err := filepath.Abs(tmp)
	if err != nil {
		return nil, err
	}
	s := &scene{home: filepath.Join(tmp, "home"), policy: filepath.Join(tmp, "policy.yaml"), bench: &bench{dir: filepath.Join(tmp, "mail")}}
	if s.self, err = filepath.Abs(opts.Self); err != nil {
		return nil, err
	}
	if opts.Home != "" {
		if s.home, err = filepath.Abs(opts.Home); err != nil {
			return nil, err
		}
	}
	if s.bench.audit, err = newTail(filepath.Join(s.home, "audit.jsonl")); err != nil {
		return nil, err
	}
	if err := s.bench.prepare(); err != nil {
		return nil, err
	}
	return s, os.WriteFile(s.policy, policyText, 0o600)
}

// play starts Bouncer, plays the story and ends Bouncer, whatever happens. What the log gained after the last step
// belongs to no step.
func (s *scene) play(ctx context.Context, steps []step, out *screen) (result, error) {
	if err := s.bench.start(ctx, s.self, s.policy, s.home); err != nil {
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
