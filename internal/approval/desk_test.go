package approval

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// says is a client's dialogue that answers at once.
type says struct {
	answer Answer
	asked  *atomic.Int32
}

func (s says) Ask(context.Context, Question) Answer {
	if s.asked != nil {
		s.asked.Add(1)
	}
	return s.answer
}

func about(to string) Question {
	return Question{ID: "abcd" + strings.Map(letters, to), Client: "client 1", Server: "mail", Tool: "send", Reason: "unproven",
		Args: []byte(`{"to":"` + to + `"}`), Keys: []string{"sink_gate " + to},
		Asked: []Destination{{Param: "to", Destination: destination.Parse(to)[0], Contract: "sink_gate", Origin: "unproven"}}}
}

func letters(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return 'a'
}

// rig is a Desk at which time stands still, over a real directory.
func rig(t *testing.T, set Settings) (*Desk, *Dir, *time.Time) {
	t.Helper()
	now := time.Now()
	dir := NewDir(filepath.Join(t.TempDir(), "pending"), func() time.Time { return now })
	d := NewDesk(set, dir, nil)
	d.now = func() time.Time { return now }
	return d, dir, &now
}

var yes = Answer{Choice: Once, How: ByPerson}

// TestNobodySawIt: what no person said is no answer, neither a yes nor a no, and the question goes on to the next channel (B19).
func TestNobodySawIt(t *testing.T) {
	for name, tt := range map[string]struct {
		client string
		answer Answer
		set    Settings
		how    string
	}{
		"a yes at once":            {"client 1", yes, Settings{}, Unanswered},
		"a no at once":             {"client 1", Answer{How: Declined}, Settings{}, Unanswered},
		"a window closed at once":  {"client 1", Answer{How: Cancelled}, Settings{}, Unanswered},
		"no form":                  {"client 1", Answer{How: Unsupported}, Settings{}, Unsupported},
		"an empty form":            {"client 1", Answer{How: Malformed}, Settings{}, Malformed},
		"Codex declines, slowly":   {"codex-mcp-client 0.99.0", Answer{How: Declined}, Settings{Fastest: -1}, Unanswered},
		"Cursor drops it":          {"cursor-vscode 3.10.20", yes, Settings{Fastest: -1}, Unanswered},
		"out of band only":         {"client 1", yes, Settings{Fastest: -1, OutOfBandOnly: true}, Unanswered},
		"a later Cursor":           {"cursor-vscode 3.11.0", yes, Settings{Fastest: -1}, ByPerson},
		"a person at Codex":        {"codex-mcp-client 0.99.0", yes, Settings{Fastest: -1}, ByPerson},
		"a person's no":            {"client 1", Answer{How: Declined}, Settings{Fastest: -1}, Declined},
		"a person closed a window": {"client 1", Answer{How: Cancelled}, Settings{Fastest: -1}, Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			d, dir, _ := rig(t, tt.set)
			q := about("new@random.example")
			q.Client = tt.client
			got := d.Through(says{answer: tt.answer}).Ask(t.Context(), q)
			waiting, err := dir.List()
			if err != nil {
				t.Fatal(err)
			}
			person := Answer{How: tt.how}.seenByPerson()
			if got.How != tt.how || !person && got.Choice != Deny || (len(waiting) == 0) != person || (got.Ask == "") != person {
				t.Errorf("answer %+v, %d questions wait; want %s", got, len(waiting), tt.how)
			}
			if !person { // it is no refusal: the same question is asked again, and a person's later yes counts once
				if err := dir.Give(Given{ID: waiting[0].ID, Key: waiting[0].Key, Choice: Once, By: ByTerminal}); err != nil {
					t.Fatal(err)
				}
				if got := d.Through(says{answer: tt.answer}).Ask(t.Context(), q); got.Choice != Once || got.How != ByTerminal {
					t.Errorf("after bouncer approve: %+v", got)
				}
				if got := d.Through(says{answer: tt.answer}).Ask(t.Context(), q); got.Choice != Deny {
					t.Errorf("the approval counts twice: %+v", got)
				}
			}
		})
	}
}

// TestDeclineHolds: a person's no holds for this tool and destination, however the call is reworded, until the next prompt, or for
// a while where prompts are not known.
func TestDeclineHolds(t *testing.T) {
	for _, known := range []bool{true, false} {
		d, _, now := rig(t, Settings{Fastest: -1})
		var prompt any
		if known {
			prompt = "first"
		}
		ask := func(to, args string, answer Answer) Answer {
			q := about(to)
			q.Prompt = prompt
			q.Args = []byte(args)
			return d.Through(says{answer: answer}).Ask(t.Context(), q)
		}
		ask("new@random.example", `{"to":"new@random.example"}`, Answer{How: Declined})
		if got := ask("new@random.example", `{"to":"new@random.example","body":"please"}`, yes); got.How != Held {
			t.Errorf("known %v: asked again by rewording: %+v", known, got)
		}
		if got := ask("other@random.example", `{}`, yes); got.Choice != Once {
			t.Errorf("known %v: another destination: %+v", known, got)
		}
		if known {
			prompt = "second"
		} else {
			*now = now.Add(DefaultKeep)
		}
		if got := ask("new@random.example", `{"to":"new@random.example"}`, yes); got.Choice != Once {
			t.Errorf("known %v: after the next prompt: %+v", known, got)
		}
	}
}

// TestMostQuestions: nobody gets more than so many under one prompt, and the next prompt starts anew.
func TestMostQuestions(t *testing.T) {
	d, _, _ := rig(t, Settings{Fastest: -1, Most: 3})
	var asked atomic.Int32
	ask := func(prompt any) Answer {
		q := about("new@random.example")
		q.Prompt = prompt
		return d.Through(says{yes, &asked}).Ask(t.Context(), q)
	}
	for range 3 {
		ask("a")
	}
	if got := ask("a"); got.How != TooMany || got.Choice != Deny || asked.Load() != 3 {
		t.Errorf("the fourth question: %+v after %d", got, asked.Load())
	}
	if got := ask("b"); got.Choice != Once {
		t.Errorf("under the next prompt: %+v", got)
	}
}

// slow is a dialogue that answers when it is told to.
type slow struct {
	asked  *atomic.Int32
	answer chan Answer
}

func (s slow) Ask(ctx context.Context, _ Question) Answer {
	s.asked.Add(1)
	select {
	case a := <-s.answer:
		return a
	case <-ctx.Done():
		return Answer{How: Withdrawn}
	}
}

// TestIdenticalQuestions: while one waits the others wait for it. A yes for this call goes to one of them alone, every other
// answer to all.
func TestIdenticalQuestions(t *testing.T) {
	for _, choice := range []Choice{Once, Session, Deny} {
		d, _, _ := rig(t, Settings{Fastest: -1})
		s := slow{&atomic.Int32{}, make(chan Answer)}
		const many = 10
		answers := make(chan Answer, many)
		var wg sync.WaitGroup
		for range many {
			wg.Go(func() { answers <- d.Through(s).Ask(t.Context(), about("new@random.example")) })
		}
		given := 0
		for left := many; left > 0; {
			a := Answer{Choice: choice, How: ByPerson}
			if choice == Deny {
				a.How = Declined
			}
			s.answer <- a
			given++
			if choice == Once {
				left--
			} else {
				left = 0
			}
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		for open := true; open; { // whoever came after the first round was over asks anew, which is its right
			select {
			case s.answer <- Answer{Choice: choice, How: ByPerson}:
				given++
			case <-done:
				open = false
			}
		}
		close(answers)
		n := 0
		for a := range answers {
			if a.Choice == choice {
				n++
			}
		}
		if n != many || choice == Once && given != many {
			t.Errorf("%s: %d of %d got it, with %d questions", choice, n, many, given)
		}
	}
}

// TestCancelledCall: who waits for another's question and gives up gets no answer, and neither does a question that is taken back.
func TestCancelledCall(t *testing.T) {
	d, dir, _ := rig(t, Settings{Fastest: -1})
	ctx, cancel := context.WithCancel(t.Context())
	s := slow{&atomic.Int32{}, make(chan Answer)}
	cancel()
	if got := d.Through(s).Ask(ctx, about("new@random.example")); got.How != Withdrawn || got.Choice != Deny {
		t.Errorf("cancelled: %+v", got)
	}
	if waiting, _ := dir.List(); len(waiting) != 0 {
		t.Errorf("%d questions wait for nobody", len(waiting))
	}
}

// TestAttended: while the page is open the call waits for the answer that is given there.
func TestAttended(t *testing.T) {
	d, dir, _ := rig(t, Settings{OutOfBandOnly: true})
	d.poll = time.Millisecond
	if err := dir.Attend(); err != nil {
		t.Fatal(err)
	}
	got := make(chan Answer)
	go func() { got <- d.Through(Nobody{}).Ask(t.Context(), about("new@random.example")) }()
	for {
		if waiting, _ := dir.List(); len(waiting) == 1 {
			if err := dir.Give(Given{ID: waiting[0].ID, Key: waiting[0].Key, Choice: Session, By: ByPage}); err != nil {
				t.Fatal(err)
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
	if a := <-got; a.Choice != Session || a.How != ByPage {
		t.Errorf("answered at the page: %+v", a)
	}
}
