package upstream

import (
	"context"
	"fmt"
	"time"
)

// Stop ends the server the way the protocol asks for: close its stdin, wait Grace, ask its process group to end
// (SIGTERM), wait Grace, kill the group (SIGKILL). It returns when the server, what is left of its group, and its
// stderr are done with. A server that exits by itself gets the same end, minus the waiting.
//
// When ctx ends, the waiting ends: the group is killed at once. The error is nil unless something outlived SIGKILL; how
// the server ended is ExitError's. Stop may be called repeatedly and concurrently.
func (p *Process) Stop(ctx context.Context) error {
	p.stopOnce.Do(func() { go p.shutdown() })
	select {
	case <-p.gone:
		return p.sweepErr
	case <-p.stuck:
		return p.stuckError()
	case <-ctx.Done():
		p.hurryOnce.Do(func() { close(p.hurry) })
	}
	// With no grace left there is one killWait for the server, one for its group, and drainWait.
	timer := time.NewTimer(3 * killWait)
	defer timer.Stop()
	select {
	case <-p.gone:
		return p.sweepErr
	case <-p.stuck:
	case <-timer.C:
	}
	return p.stuckError()
}

func (p *Process) stuckError() error {
	return fmt.Errorf("stop %s: process %d is still there after being killed", p.command, p.Pid())
}

// shutdown takes the server itself through the steps. What it leaves behind is finish's.
func (p *Process) shutdown() {
	// In a goroutine of its own because Close waits for a blocked write on some platforms.
	go p.stdin.Close()
	if p.within(p.done, p.grace) {
		return
	}
	if p.group.terminate() && p.within(p.done, p.grace) {
		return
	}
	p.group.kill()
	timer := time.NewTimer(killWait)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		close(p.stuck)
	}
}

// finish runs once the server is dead, whoever ended it: orphans of the group go too (B08: npx dies, its node lives
// on), then the last lines of stderr are waited for.
func (p *Process) finish() {
	p.sweepErr = p.sweep()
	timer := time.NewTimer(drainWait) // not cut short by impatience: the last words are there to be read
	defer timer.Stop()
	select {
	case <-p.relayed:
	case <-timer.C:
	}
	// Unblocks relayLines where a stranger holds the other end. Like shutdown's Close it must not hold up anything.
	go p.stderr.Close()
	close(p.gone)
}

// sweep ends what still lives in the group of a dead server.
//
// The group's number cannot have gone to strangers meanwhile: the kernel does not reuse it while a member lives, and
// an empty group is seen by alive, microseconds before, as one.
func (p *Process) sweep() error {
	if !p.group.alive() {
		return nil
	}
	if p.group.terminate() && p.vanished(p.grace, p.hurry) {
		return nil
	}
	p.group.kill()
	if p.vanished(killWait, nil) {
		return nil
	}
	return fmt.Errorf("stop %s: processes that it started are still there after being killed", p.command)
}

// vanished polls, because nothing announces the end of processes that are not our children.
func (p *Process) vanished(limit time.Duration, hurry <-chan struct{}) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if !p.group.alive() {
			return true
		}
		select {
		case <-time.After(pause):
		case <-deadline.C:
			return !p.group.alive()
		case <-hurry:
			return !p.group.alive()
		}
	}
}

// within reports whether event came within limit, or before patience ran out.
func (p *Process) within(event <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-event:
		return true
	case <-timer.C:
	case <-p.hurry:
	}
	select {
	case <-event:
		return true
	default:
		return false
	}
}
