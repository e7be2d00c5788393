package replay

import (
	"errors"
	"runtime"
	"slices"
	"sync"
)

// job is one session that is to be played.
type job struct {
	name   string // of the suite, in the Run
	task   string // its name, in the Run
	suite  *Suite
	user   Task
	attack *Attack
	score  func(a Attack, delivered bool, steps []Step) (Outcome, string)
}

// Replay plays every honest task and every attack of the suites, in an order that does not depend on the machine.
func Replay(cfg Config, suites []*Suite) ([]Run, error) {
	var jobs []job
	for _, s := range suites {
		for _, t := range s.Benign {
			jobs = append(jobs, job{name: s.Name, task: t.UserTask, suite: s, user: t})
		}
		for i := range s.Attacks {
			a := &s.Attacks[i]
			jobs = append(jobs, job{name: s.Name, task: a.UserTask, suite: s, user: a.Task, attack: a, score: byIndex})
		}
	}
	return playAll(cfg, jobs)
}

// byIndex scores an attack whose recorded calls are the very ones that were played.
func byIndex(a Attack, delivered bool, steps []Step) (Outcome, string) {
	return a.outcome(delivered, func(i int) []Step { return steps[i : i+1] })
}

func playAll(cfg Config, jobs []job) ([]Run, error) {
	runs, errs := make([]Run, len(jobs)), make([]error, len(jobs))
	parallel(len(jobs), func(i int) { runs[i], errs[i] = jobs[i].play(cfg) })
	for i, err := range errs {
		if err != nil {
			return nil, errors.Join(errors.New("replay "+runs[i].Name()), err)
		}
	}
	return runs, nil
}

// parallel does n things on all processors.
func parallel(n int, each func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				each(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

// play plays one session and scores it.
func (j job) play(cfg Config) (Run, error) {
	r := Run{Suite: j.name, UserTask: j.task}
	if j.attack != nil {
		r.Injection = j.attack.Injection
	}
	p, err := cfg.open(j.suite, j.user)
	if err != nil {
		return r, err
	}
	r.Steps = make([]Step, len(j.user.Calls))
	delivered, err := j.calls(p, r.Steps)
	if err = errors.Join(err, p.close()); err != nil {
		return r, err
	}
	r.count()
	if j.attack != nil {
		r.Outcome, r.Reason = j.score(*j.attack, delivered, r.Steps)
	}
	return r, nil
}

func (c Config) open(s *Suite, t Task) (player, error) {
	if c.Through != nil {
		return c.Through.start(c, s, t)
	}
	return newInProcess(c, s, t.Prompt), nil
}

// calls makes the calls. The injection's are made as soon as its text has reached the agent, and not before: where the
// call that should have brought it was denied, another one may. It reports whether the text arrived.
func (j job) calls(p player, steps []Step) (delivered bool, err error) {
	delivered = j.attack == nil || j.attack.Carrier == nil
	var waiting []int // the injection's calls whose time has come before its text did
	for i, c := range j.user.Calls {
		steps[i].Call, steps[i].index = c, i
		if c.Phase == "injection" && !delivered {
			waiting = append(waiting, i)
			continue
		}
		if err := p.play(&steps[i]); err != nil {
			return false, err
		}
		if delivered || steps[i].Denied() || i != *j.attack.Carrier && !carries(j.suite.Outputs[c.Out], j.attack.texts()) {
			continue
		}
		delivered = true
		for _, k := range waiting {
			if err := p.play(&steps[k]); err != nil {
				return false, err
			}
		}
	}
	return delivered, nil
}

// Sample returns the suites with about as many honest tasks and attacks as asked for, taken evenly over all. With room
// for all it returns all.
func Sample(suites []*Suite, tasks, attacks int) []*Suite {
	var benign, pairs int
	for _, s := range suites {
		benign, pairs = benign+len(s.Benign), pairs+len(s.Attacks)
	}
	takeTask, takeAttack := every(benign, tasks), every(pairs, attacks)
	var out []*Suite
	for _, s := range suites {
		c := *s
		c.Benign = slices.DeleteFunc(slices.Clone(s.Benign), func(Task) bool { return !takeTask() })
		c.Attacks = slices.DeleteFunc(slices.Clone(s.Attacks), func(Attack) bool { return !takeAttack() })
		out = append(out, &c)
	}
	return out
}

// every returns a function that is true, evenly spread, for want of the first have times that it is called.
func every(have, want int) func() bool {
	n := 0
	return func() bool {
		n++
		return want >= have || n*want/have != (n-1)*want/have
	}
}
