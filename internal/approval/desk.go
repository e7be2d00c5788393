package approval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Defaults of a Desk.
const (
	DefaultOwn  = 30 * time.Second // how long a call waits while a page is open
	DefaultKeep = 10 * time.Minute // how long a question can be answered
	DefaultMost = 20               // questions under one prompt
)

// Settings are what a user can say about being asked. Zero values are the defaults; negative ones take the limit away.
type Settings struct {
	OutOfBandOnly bool          // do not ask through the client at all
	Own           time.Duration // how long a call waits for Bouncer's own channel while somebody attends it
	Keep          time.Duration // how long a pending question waits for an answer
	Most          int           // questions under one prompt
	Fastest       time.Duration // what comes sooner is no person's answer
}

// Desk is where one process asks: it tries the channels in order, counts, and knows what was declined. It is safe for
// concurrent use.
type Desk struct {
	set     Settings
	pending Store // nil: Bouncer has no channel of its own
	tell    func(format string, args ...any)
	now     func() time.Time
	poll    time.Duration

	mu       sync.Mutex
	waiting  map[string]*round
	prompt   any
	asked    []time.Time          // the questions under prompt
	declined map[string]time.Time // what a person said no to, and when
}

// round is one question that is being asked, for everybody who asks the same.
type round struct {
	done   chan struct{}
	answer Answer
}

// NewDesk returns a Desk. pending may be nil; tell is the user's terminal.
func NewDesk(set Settings, pending Store, tell func(format string, args ...any)) *Desk {
	orDefault := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	orDefault(&set.Own, DefaultOwn)
	orDefault(&set.Keep, DefaultKeep)
	orDefault(&set.Fastest, Fastest)
	if set.Most == 0 {
		set.Most = DefaultMost
	}
	if tell == nil {
		tell = func(string, ...any) {}
	}
	return &Desk{set: set, pending: pending, tell: tell, now: time.Now, poll: 200 * time.Millisecond, waiting: map[string]*round{}, declined: map[string]time.Time{}}
}

// Through returns the Desk as a Channel whose first way to a person is dialogue.
func (d *Desk) Through(dialogue Channel) Channel { return through{d, dialogue} }

type through struct {
	desk     *Desk
	dialogue Channel
}

// Ask implements Channel. Identical questions that wait at the same time are one; a yes to this call goes to one of the
// calls, and every other answer to all of them.
func (t through) Ask(ctx context.Context, q Question) Answer {
	d, key := t.desk, q.Key()
	carrier, carries := t.dialogue.(Carrier)
	if carries {
		if answer, took, ok := carrier.Brought(q); ok {
			return d.brought(ctx, q, key, byMachine(answer, q.Client, took, d.set.Fastest))
		}
	}
	for {
		if answer, ok := d.given(q, key); ok {
			return answer
		}
		r, mine, refused := d.enter(q, key, !carries)
		if r == nil {
			return refused
		}
		if mine {
			r.answer = d.ask(ctx, q, key, t.dialogue)
			d.leave(q, key, r)
			return r.answer
		}
		select {
		case <-r.done:
			if r.answer.Choice != Once && r.answer.How != Withdrawn {
				return r.answer
			}
		case <-ctx.Done():
			return withdrawn
		}
	}
}

// brought ends a question whose answer came with its call.
func (d *Desk) brought(ctx context.Context, q Question, key string, answer Answer) Answer {
	if answer.seenByPerson() || answer.How == Carried || d.pending == nil || key == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.decline(q, answer)
		return answer
	}
	return d.own(ctx, q, key, answer)
}

var withdrawn = Answer{How: Withdrawn, Why: "the call was cancelled"}

// enter opens a round, or finds the one that is open for the same question, if it is one that others can wait for. It is
// neither when the question is not to be asked at all: a person has said no, or was asked often enough.
func (d *Desk) enter(q Question, key string, shared bool) (r *round, mine bool, refused Answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn(q)
	if d.holds(q) {
		return nil, false, Answer{How: Held, Why: "a person declined this destination for this tool before, and was not asked again"}
	}
	if open := d.waiting[key]; shared && key != "" && open != nil {
		return open, false, Answer{}
	}
	if d.set.Most >= 0 && len(d.asked) >= d.set.Most {
		return nil, false, Answer{How: TooMany, Why: fmt.Sprintf("%d questions were asked already, and nobody reads more", d.set.Most)}
	}
	d.asked = append(d.asked, d.now())
	r = &round{done: make(chan struct{})}
	if shared && key != "" {
		d.waiting[key] = r
	}
	return r, true, Answer{}
}

// turn forgets what the user's next prompt makes old. Where prompts are not known, time does.
func (d *Desk) turn(q Question) {
	switch {
	case d.prompt != q.Prompt:
		d.prompt, d.asked, d.declined = q.Prompt, nil, map[string]time.Time{}
	case q.Prompt == nil:
		old := func(at time.Time) bool { return d.now().Sub(at) >= d.set.Keep }
		d.asked = slices.DeleteFunc(d.asked, old)
		maps.DeleteFunc(d.declined, func(_ string, at time.Time) bool { return old(at) })
	}
}

// leave closes a round.
func (d *Desk) leave(q Question, key string, r *round) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decline(q, r.answer)
	if d.waiting[key] == r {
		delete(d.waiting, key)
	}
	close(r.done)
}

// decline keeps a person's no, unless they said something new in the meantime.
func (d *Desk) decline(q Question, a Answer) {
	if a.How != Declined || d.prompt != q.Prompt {
		return
	}
	for _, at := range q.about() {
		d.declined[at.name(q)] = d.now()
	}
}

// holds reports a no that is about the question: to one of its destinations in the same spelling, or to what an unclear spelling
// of it can be read as.
func (d *Desk) holds(q Question) bool {
	for _, at := range q.about() {
		plain := at
		plain.Ambiguous = ""
		for _, k := range []string{at.name(q), plain.name(q)} {
			if _, ok := d.declined[k]; ok {
				return true
			}
		}
	}
	return false
}

// about is what a no is about: each destination for this tool; without one, this very call.
func (q Question) about() []Destination {
	if len(q.Asked) > 0 {
		return q.Asked
	}
	digest, _ := Digest(q.Args)
	return []Destination{{Destination: destination.Destination{Kind: "call", Canonical: digest}}}
}

// name is the destination of q's tool as declined has it.
func (d Destination) name(q Question) string {
	spelled := d.Canonical
	if d.Ambiguous != "" {
		spelled = "as written " + d.Raw
	}
	return strings.Join([]string{q.Server, q.Tool, string(d.Kind), spelled}, "\x00")
}

// given returns the answer that a person gave meanwhile to the same question of an earlier call.
func (d *Desk) given(q Question, key string) (Answer, bool) {
	if d.pending == nil {
		return Answer{}, false
	}
	g, ok, err := d.pending.Take(key)
	if err != nil {
		d.tell("%v", err)
	}
	if !ok {
		return Answer{}, false
	}
	a := Answer{Choice: g.Choice, How: g.By, Scope: g.Scope, Kept: g.Kept}
	if !q.Offers(g.Choice) {
		return Answer{How: Malformed, Why: "the answer is none that the question has"}, true
	}
	if !g.Choice.Approves() {
		a.How, a.Why = Declined, "a person answered "+g.Choice.String()
		d.mu.Lock()
		d.turn(q)
		d.decline(q, a)
		d.mu.Unlock()
	}
	return a, true
}

// ask tries the channels in their order.
func (d *Desk) ask(ctx context.Context, q Question, key string, dialogue Channel) Answer {
	answer := d.first(ctx, q, dialogue)
	if ctx.Err() != nil {
		return withdrawn
	}
	if answer.seenByPerson() || answer.How == Carried || d.pending == nil || key == "" {
		return answer
	}
	return d.own(ctx, q, key, answer)
}

// first asks in the client's own dialogue, and tells a person's answer from a machine's.
func (d *Desk) first(ctx context.Context, q Question, dialogue Channel) Answer {
	if d.set.OutOfBandOnly {
		return Answer{How: Unanswered, Why: "questions are not asked through the client here"}
	}
	if h, ok := habitOf(q.Client); ok && h.drops {
		return Answer{How: Unanswered, Why: "no person could be asked: " + h.why}
	}
	start := d.now()
	return byMachine(dialogue.Ask(ctx, q), q.Client, d.now().Sub(start), d.set.Fastest)
}

// own keeps the question where bouncer approve and the page find it, waits while somebody attends, and else says which ID
// has to be approved before the call is made again.
func (d *Desk) own(ctx context.Context, q Question, key string, first Answer) Answer {
	id, err := d.pending.Put(Pending{Question: q, Key: key, Asked: d.now(), Expires: d.now().Add(d.set.Keep)})
	if err != nil {
		if errors.Is(err, ErrFull) {
			first.Why += "; and " + ErrFull.Error()
		}
		d.tell("%v", err)
		return first
	}
	first.Ask = id
	d.tell("a question about %s waits: bouncer approve %s", q.Tool, id)
	until := d.now().Add(d.set.Own)
	tick := time.NewTicker(d.poll)
	defer tick.Stop()
	for d.pending.Attended() && d.now().Before(until) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return withdrawn
		}
		if answer, ok := d.given(q, key); ok {
			return answer
		}
	}
	return first
}
