package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// crowdHome in the environment makes this test binary one process of a crowd.
const crowdHome = "BOUNCER_CROWD_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(crowdHome); home != "" {
		if err := crowdMember(home, os.Getenv("BOUNCER_CROWD_KEY")); err != nil {
			fmt.Println("fault", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// crowdMember does what the lines on stdin say, and answers each with a line.
func crowdMember(home, key string) error {
	me, err := Processes.Process(os.Getppid())
	if err != nil {
		return err
	}
	l, err := Open(home, Identity{key, Client{me.PID, me.Start, Processes.Realm()}})
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		address, size, _ := strings.Cut(rest, " ")
		mark, answer := l.Mark(), "done"
		switch word {
		case "observe":
			n, _ := strconv.Atoi(size)
			payload := fmt.Sprintf(`{"text":"%s mail %s now"}`, strings.Repeat("filler ", n/7), address)
			err = l.Observe(provenance.Source{Server: "files", Tool: "read", Call: address}, []byte(payload))
		case "seen":
			if s, ok := l.Seen(dest(address), provenance.Tokens); !ok {
				answer = "no"
			} else if answer = "yes"; s.Source.Call != address {
				answer = "yes, but as " + s.Source.Call
			}
		case "vouch":
			l.Vouch("mail", "send", dest(address))
		case "vouched":
			if answer = "no"; l.Vouched("mail", "send", dest(address)) {
				answer = "yes"
			}
		case "reserve":
			answer = strconv.Itoa(l.Reserve("mail", "send"))
		}
		if err := errors.Join(err, l.Err(mark)); err != nil {
			return err
		}
		fmt.Println(answer)
	}
	return l.Close()
}

// member is a process of the crowd, as its parent sees it.
type member struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func newMember(home string) (*member, error) {
	m := &member{cmd: exec.Command(os.Args[0])}
	m.cmd.Env = append(os.Environ(), crowdHome+"="+home, "BOUNCER_CROWD_KEY=crowd")
	m.cmd.Stderr = os.Stderr
	in, err := m.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m.in, m.out = in, bufio.NewReader(out)
	return m, m.cmd.Start()
}

// ask sends a line and waits for its answer. There is none from a process that was killed.
func (m *member) ask(line string) (answer string, err error) {
	if _, err := io.WriteString(m.in, line+"\n"); err != nil {
		return "", err
	}
	answer, err = m.out.ReadString('\n')
	return strings.TrimSuffix(answer, "\n"), err
}

// model is what must be known: what was answered before a question was put.
type model struct {
	mu               sync.Mutex
	relayed, vouched []string
	slots            map[int]bool
	highest          int
	next             int
}

func (m *model) fresh() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	return fmt.Sprintf("user%d@host%d.example", m.next, m.next)
}

func pick(list []string, r *rand.Rand) string {
	if len(list) == 0 {
		return ""
	}
	return list[r.IntN(len(list))]
}

// step lets a process do one thing, and says what it did wrong.
func (m *model) step(p *member, r *rand.Rand) (wrong string, err error) {
	m.mu.Lock()
	relayed, vouched, highest := pick(m.relayed, r), pick(m.vouched, r), m.highest
	if n := len(m.relayed); n > 0 && r.IntN(2) == 0 {
		relayed = m.relayed[n-1] // what came last is what could be missed
	}
	m.mu.Unlock()
	expect := func(line, want string) (string, error) {
		got, err := p.ask(line)
		if err == nil && got != want {
			return fmt.Sprintf("%s: %s, want %s", line, got, want), nil
		}
		return "", err
	}
	switch n := r.IntN(100); {
	case n < 40 || relayed == "":
		address, size := m.fresh(), 200
		if r.IntN(400) == 0 { // more than one write of a page, so that a death can tear it
			size = 150 << 10
		}
		if wrong, err = expect(fmt.Sprint("observe ", address, " ", size), "done"); wrong == "" && err == nil {
			m.mu.Lock()
			m.relayed = append(m.relayed, address)
			m.mu.Unlock()
		}
	case n < 80:
		return expect("seen "+relayed, "yes")
	case n < 86:
		return expect("seen "+"not-"+relayed, "no")
	case n < 88:
		address := m.fresh()
		if wrong, err = expect("vouch "+address, "done"); wrong == "" && err == nil {
			m.mu.Lock()
			m.vouched = append(m.vouched, address)
			m.mu.Unlock()
		}
	case n < 92 && vouched != "":
		return expect("vouched "+vouched, "yes")
	case n < 95:
		return expect("vouched "+relayed, "no")
	default:
		answer, err := p.ask("reserve")
		if err != nil {
			return "", err
		}
		slot, err := strconv.Atoi(answer)
		m.mu.Lock()
		defer m.mu.Unlock()
		if err != nil || slot <= highest || m.slots[slot] {
			return fmt.Sprintf("slot %q after %d (given before: %v)", answer, highest, m.slots[slot]), nil
		}
		m.slots[slot], m.highest = true, max(m.highest, slot)
	}
	return wrong, err
}

// TestCrowd: many processes in one session, one of them killed now and then. No answer contradicts what was answered before,
// none hangs, and who comes last can read it all.
func TestCrowd(t *testing.T) {
	if testing.Short() {
		t.Skip("a few seconds of many processes")
	}
	processes, total := 16, int64(10_000)
	if os.Getenv("BOUNCER_SOAK") != "" {
		total = 100_000
	}
	every := total / 25 // so many steps, and somebody is killed
	home, known := t.TempDir(), &model{slots: map[int]bool{}}
	var done, killed atomic.Int64
	var crowd sync.WaitGroup
	victims := make(chan *member, processes) // who runs
	kill := func(n int64) {
		if n%every != 0 || n > total-every {
			return
		}
		select {
		case p := <-victims:
			if p.cmd.Process.Kill() == nil {
				killed.Add(1)
			}
		default:
		}
	}
	for i := range processes {
		crowd.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			var p *member
			defer func() {
				if p != nil {
					p.in.Close()
					if err := p.cmd.Wait(); err != nil {
						t.Errorf("a process ends with %v", err)
					}
				}
			}()
			for n := done.Add(1); n <= total && !t.Failed(); n = done.Add(1) {
				kill(n)
				if p == nil {
					var err error
					if p, err = newMember(home); err != nil {
						t.Error(err)
						return
					}
					select {
					case victims <- p:
					default:
					}
				}
				wrong, err := known.step(p, r)
				if wrong != "" {
					t.Error(wrong)
				}
				if err == nil {
					continue
				}
				if err := p.cmd.Wait(); err == nil || p.cmd.ProcessState.ExitCode() >= 0 { // -1: by a signal
					t.Errorf("a process that nobody killed has ended: %v", err)
				}
				p = nil
			}
		})
	}
	ended := make(chan struct{})
	go func() { crowd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(10 * time.Minute):
		t.Fatal("somebody hangs")
	}
	t.Logf("%d answers relayed, %d destinations vouched for, %d slots given, %d processes killed", len(known.relayed), len(known.vouched), len(known.slots), killed.Load())
	if killed.Load() == 0 {
		t.Error("nobody was killed")
	}
	late, err := Open(home, Identity{"crowd", theClient.Client})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	mark := late.Mark()
	for _, address := range known.relayed {
		if s, ok := late.Seen(dest(address), provenance.Tokens); !ok || s.Source.Call != address {
			t.Errorf("%s was relayed and is not known: %+v", address, s)
		}
	}
	for _, address := range known.vouched {
		if !late.Vouched("mail", "send", dest(address)) {
			t.Errorf("%s was vouched for, and that is not known", address)
		}
	}
	if got := late.Reserve("mail", "send"); got <= known.highest {
		t.Errorf("slot %d after %d", got, known.highest)
	}
	wantSound(t, late, mark)
}
