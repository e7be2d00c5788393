package casefile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// errUnsupported is what a case gets that needs a feature this version does not have. It never passes.
var errUnsupported = errors.New("not supported yet")

// errSlow says that a person's answer was needed in a run that gives nobody the time for one.
var errSlow = errors.New("a question has to be answered")

// Run runs the case once against the real relay. The Report has a line for every step that ran; what keeps the case
// from being run to its end (an unsupported step, a broken relay, ctx) is in its Err. Running a case twice gives the
// same Report but for ids and times.
func (c *Case) Run(ctx context.Context) Report {
	patient := slices.ContainsFunc(c.steps, func(s step) bool { return s.answer != "" && s.answer != answerNobody })
	if !patient {
		// A result step may be asked about, which nobody can tell before it is. Then the case starts over, with time.
		if r := c.run(ctx, false); !errors.Is(r.Err, errSlow) {
			return r
		}
	}
	return c.run(ctx, true)
}

func (c *Case) run(ctx context.Context, patient bool) Report {
	r := Report{Case: c, File: c.File}
	askFor := nobodyHas
	if patient {
		askFor = personHas
	}
	w, err := build(ctx, c, askFor)
	if err != nil {
		r.Err = err
		return r
	}
	defer w.close()
	for i, s := range c.steps {
		rep, err := w.step(ctx, s, patient)
		rep.Number, rep.At, rep.Name, rep.Notes = i+1, s.at, s.name(), w.told()
		if err != nil {
			r.Err = fmt.Errorf("%s: step %d (%s): %w", s.at, i+1, s.name(), err)
			return r
		}
		r.Steps = append(r.Steps, rep)
		if len(rep.Problems) > 0 { // what follows would be about another session than the one that was written down
			return r
		}
	}
	r.Err = w.finish(ctx)
	return r
}

// finish ends the session and looks once more: nothing may reach a server, or the log, behind the last step.
func (w *world) finish(ctx context.Context) error {
	for _, s := range w.c.servers {
		l := w.links[s.name]
		if err := l.end(ctx); err != nil {
			return err
		}
		if late := l.fresh(); len(late) > 0 {
			return fmt.Errorf("server %s received what belongs to no step: %s", s.name, show(string(late[0].frame)))
		}
	}
	lines, err := w.lines.next()
	if err == nil && len(lines) > 0 {
		err = fmt.Errorf("the log has a verdict that belongs to no step: %s", show(lines[0].raw))
	}
	return err
}

func (w *world) step(ctx context.Context, s step, patient bool) (StepReport, error) {
	if s.kind == kindPrompt {
		w.store.Say(s.prompt)
		return StepReport{}, nil
	}
	l, err := w.link(s)
	if err != nil {
		return StepReport{}, err
	}
	switch s.kind {
	case kindCall, kindRaw:
		return w.judged(ctx, l, s)
	case kindResult:
		return w.resultStep(ctx, l, s, patient)
	case kindMessage:
		frame := string(jsonrpc.NotificationFrame(s.method, orNil(inJSON(s.params, w.dir))))
		return StepReport{}, l.announce(ctx, frame)
	case kindTools:
		if !w.c.client.stateless() { // the list that changes is the one that was pinned
			select {
			case <-l.pinned:
			case <-time.After(patience):
				return StepReport{}, fmt.Errorf("the tools were not pinned before they changed")
			}
		}
		l.server.list(s.tools)
		return StepReport{}, l.announce(ctx, string(jsonrpc.NotificationFrame("notifications/tools/list_changed", nil)))
	}
	return StepReport{}, fmt.Errorf("a %s step is %w", s.kind, errUnsupported)
}

func orNil(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// announce has the server write a frame, and waits until the client got it, byte for byte: by then the relay has
// observed it.
func (l *link) announce(ctx context.Context, frame string) error {
	from := l.client.got.len()
	l.server.say(frame)
	_, err := l.client.got.wait(ctx, from, "the server's message", func(got []byte) bool { return string(got) == frame })
	return err
}

// judged runs a step whose verdict is wanted.
func (w *world) judged(ctx context.Context, l *link, s step) (StepReport, error) {
	x := exchange{listening: !s.cut, judged: true}
	if s.kind == kindCall {
		x.id = l.client.newID()
		x.sent = l.client.call(x.id, s.tool, inJSON(s.args, w.dir))
	} else {
		x.sent = inJSON(s.raw, w.dir)
		x.id, x.judged = expected(x.sent)
		if s.cut {
			x.id = jsonrpc.ID{}
		}
	}
	l.server.script(s.returns)
	x, err := w.exchange(ctx, l, x, s.answer)
	if err != nil {
		return StepReport{}, err
	}
	o := x.observe()
	return report(strings.Join(s.want, " or "), x, o, s.against(o)), nil
}

// expected reads a raw frame the way the relay does, to know what can be waited for: the id of the response that it
// asks for, if it asks for one, and whether it is a tool call at all.
func expected(frame string) (jsonrpc.ID, bool) {
	msg, bad := jsonrpc.Parse([]byte(frame), jsonrpc.FromClient)
	switch {
	case bad != nil && bad.Response: // its id is the other side's, and answers to nobody
		return jsonrpc.ID{}, false
	case bad != nil:
		return bad.ID, false
	case msg.Shape != jsonrpc.Request:
		return jsonrpc.ID{}, false
	}
	return msg.ID, msg.Method == "tools/call"
}

// resultStep makes the call that the server answers with the step's result. It has to come through: a case whose own
// history is denied tells something else than it says.
func (w *world) resultStep(ctx context.Context, l *link, s step, patient bool) (StepReport, error) {
	id := l.client.newID()
	l.server.script(s.returns)
	answer := answerNobody
	if patient {
		answer = answerOnce
	}
	x := exchange{sent: l.client.call(id, s.tool, inJSON(s.args, w.dir)), id: id, judged: true, listening: true}
	x, err := w.exchange(ctx, l, x, answer)
	if err != nil {
		return StepReport{}, err
	}
	if x.asked > 0 && !patient {
		return StepReport{}, errSlow
	}
	o := x.observe()
	problems := o.problems
	if got := orUnclear(o); o.verdict != allow && !(o.verdict == ask && o.then == allow) {
		problems = append(problems, "the case is broken: the call that this result answers was not let through ("+got+": "+show(o.line.reason)+")")
	}
	return report("let through", x, o, problems), nil
}
