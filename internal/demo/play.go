package demo

import (
	"context"
	"fmt"
	"slices"
)

// stage is what the story is played on. The tests have one that lies.
type stage interface {
	// call makes one tool call. The person beside the client picks answer when asked; "" means that no question is
	// expected, and any is answered with Deny.
	call(ctx context.Context, tool string, args map[string]any, answer string) (reply, error)
	// log returns the lines that the audit log gained since the last call of log.
	log() ([]line, error)
	// outbox returns every mail that was sent, and files every file below the server's directory, sorted.
	outbox() ([]letter, error)
	files() ([]string, error)
}

// reply is what the client got, and what the person was asked on the way.
type reply struct {
	text      string
	isError   bool
	questions []question
}

// question is one question as the person saw it.
type question struct {
	message string
	options []string
	chose   string
	problem string // why it could not be answered as the story says
}

// outcome is what one step led to.
type outcome struct {
	reply
	lines []line
	sent  []letter // the whole outbox, as it is now
	files []string
}

// result is what the whole story led to.
type result struct {
	lines    []line // every line of the audit log
	sent     []letter
	problems []string // what was not as the story says
}

// play does every step, one after the other, and compares each with what the story says. An error means that the story
// could not go on; a difference is a problem in the result, and the story goes on.
func play(ctx context.Context, s stage, steps []step, out *screen) (result, error) {
	var all result
	want := expected{files: []string{outboxFile}}
	for i, st := range steps {
		out.chapter(st)
		got, err := take(ctx, s, st)
		if err != nil {
			return all, fmt.Errorf("step %d (%s): %w", i+1, st.what, err)
		}
		want.add(st)
		problems := check(st, got, want)
		out.step(i+1, st, got, problems)
		for _, p := range problems {
			all.problems = append(all.problems, fmt.Sprintf("step %d (%s): %s", i+1, st.what, p))
		}
		all.lines = append(all.lines, got.lines...)
		all.sent = got.sent
	}
	return all, nil
}

func take(ctx context.Context, s stage, st step) (outcome, error) {
	var got outcome
	var err error
	if got.reply, err = s.call(ctx, st.tool, st.args, st.answer); err != nil {
		return got, err
	}
	if got.lines, err = s.log(); err != nil { // a verdict is in the log before the client sees its effect
		return got, err
	}
	if got.sent, err = s.outbox(); err != nil {
		return got, err
	}
	got.files, err = s.files()
	return got, err
}

// expected is what the world outside must look like after the steps so far.
type expected struct {
	sent  []map[string]any // the arguments of the calls that send
	files []string
}

func (e *expected) add(st step) {
	if st.sends {
		e.sent = append(e.sent, st.args)
	}
	if st.writes != "" {
		e.files = append(e.files, st.writes)
		slices.Sort(e.files)
	}
}
