package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/approval"
	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Process is the program that sessions are played through: `bouncer run` in front of a server that answers from the
// recording, each session with a home of its own.
type Process struct {
	Bouncer    string // the program; it also has the server, as `replay serve FILE`
	PolicyFile string
	Split      bool // calls that only read go through one process and all others through another one of the same session
}

const (
	protocol  = "2025-06-18"
	patience  = time.Minute // for a whole session
	maxAnswer = 64 << 20    // one line of the program's
	blocked   = "[bouncer blocked]"
)

// remote is a session in another process.
type remote struct {
	dir      string
	home     string
	headless bool
	cmd      *exec.Cmd
	cancel   context.CancelFunc
	in       io.WriteCloser
	out      *bufio.Reader
	stderr   bytes.Buffer
	made     []*Step
	next     int // number of the next request
	ended    bool
}

// start starts a session.
func (p *Process) start(cfg Config, s *Suite, t Task) (player, error) {
	if p.Split {
		return p.startPair(cfg, s, t)
	}
	return p.startOne(cfg, s, t, "")
}

// startOne starts one process of a session. home is the Bouncer home that it shares with another one; "" is one of its own.
func (p *Process) startOne(cfg Config, s *Suite, t Task, home string) (*remote, error) {
	rec, err := record(s, t)
	if err != nil {
		return nil, err
	}
	raw, err := rec.encode()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bouncer-replay-")
	if err != nil {
		return nil, err
	}
	if home == "" {
		home = filepath.Join(dir, "home")
	}
	r := &remote{dir: dir, home: home, headless: cfg.Headless, next: 1}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, recordingFile), raw, 0o600), r.launch(p.command(cfg, s, t, dir))); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := r.handshake(); err != nil {
		return nil, errors.Join(err, r.end())
	}
	return r, nil
}

func (p *Process) command(cfg Config, s *Suite, t Task, dir string) []string {
	args := []string{p.Bouncer, "run", "--name", s.Name, "--profile", string(cfg.Profile)}
	if p.PolicyFile != "" {
		args = append(args, "--policy", p.PolicyFile)
	}
	if !cfg.NoPrompt && t.Prompt != "" {
		args = append(args, "--intent="+t.Prompt) // one word: a prompt may begin with a dash
	}
	return append(args, "--", p.Bouncer, "replay", "serve", filepath.Join(dir, recordingFile))
}

func (r *remote) launch(args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r.cancel = cancel
	r.cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	r.cmd.Env = append(os.Environ(), "BOUNCER_HOME="+r.home)
	r.cmd.Stderr, r.cmd.WaitDelay = &r.stderr, 5*time.Second
	in, err := r.cmd.StdinPipe()
	if err != nil {
		cancel()
		return err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		cancel()
		return err
	}
	r.in, r.out = in, bufio.NewReader(out)
	if err := r.cmd.Start(); err != nil {
		cancel()
		return err
	}
	return nil
}

func (r *remote) handshake() error {
	capabilities := `{"elicitation":{}}`
	if r.headless {
		capabilities = `{}`
	}
	if _, _, err := r.request("initialize", `{"protocolVersion":"`+protocol+`","capabilities":`+capabilities+`,"clientInfo":{"name":"replay","version":"1"}}`, approval.Deny); err != nil {
		return err
	}
	if err := r.write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); err != nil {
		return err
	}
	_, _, err := r.request("tools/list", `{}`, approval.Deny)
	return err
}

func (r *remote) write(frame []byte) error {
	_, err := r.in.Write(append(frame, '\n'))
	return err
}

// frame is what the program wrote, as far as it matters here.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  json.RawMessage `json:"error"`
	Result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
}

// request sends a request and waits for its answer. It answers what it is asked on the way.
func (r *remote) request(method, params string, choice approval.Choice) (got frame, asked bool, err error) {
	id := r.next
	r.next++
	n, _ := jsonrpc.ParseID(fmt.Append(nil, id))
	if err := r.write(jsonrpc.RequestFrame(n, method, []byte(params))); err != nil {
		return got, false, r.gone(err)
	}
	for {
		line, err := r.line()
		if err != nil {
			return got, asked, r.gone(err)
		}
		got = frame{}
		if err := json.Unmarshal(line, &got); err != nil {
			return got, asked, r.gone(fmt.Errorf("bouncer wrote what is no message: %w", err))
		}
		switch {
		case got.Method == "elicitation/create":
			asked = true
			time.Sleep(approval.Fastest + 10*time.Millisecond) // as a person would: what comes sooner does not count
			if err := r.write(answerForm(got.ID, choice)); err != nil {
				return got, asked, r.gone(err)
			}
		case got.Method != "":
		case string(got.ID) != fmt.Sprint(id):
			return got, asked, fmt.Errorf("bouncer answered %s instead of %d", got.ID, id)
		case got.Error != nil:
			return got, asked, fmt.Errorf("%s failed: %s", method, got.Error)
		default:
			return got, asked, nil
		}
	}
}

// line reads one line of bounded length.
func (r *remote) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := r.out.ReadSlice('\n')
		whole = append(whole, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return whole, err
		}
		if len(whole) > maxAnswer {
			return nil, errors.New("bouncer wrote a line without end")
		}
	}
}

func answerForm(id json.RawMessage, choice approval.Choice) []byte {
	word := map[approval.Choice]string{approval.Deny: "Deny", approval.Once: "Allow this call", approval.Session: "Allow for this session"}[choice]
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":%q}}}`, id, word)
}

// gone adds to an error what the program said last.
func (r *remote) gone(err error) error {
	said := strings.TrimSpace(r.lastWords())
	if said == "" {
		return err
	}
	return fmt.Errorf("%w; bouncer said: %s", err, said)
}

// lastWords ends the program: its stderr may be read only then.
func (r *remote) lastWords() string {
	if !r.ended {
		r.ended = true
		r.cancel()
		_ = r.cmd.Wait() // it was killed
	}
	return r.stderr.String()
}

// play makes a call. Whether a denial came without a question is told apart by the log, when the session is over.
func (r *remote) play(s *Step) error {
	params := fmt.Sprintf(`{"name":%s,"arguments":%s,"_meta":{%q:%d}}`, jsonrpc.Quote(s.Call.Function), compact(s.Call.Args), answerMember, s.index)
	got, asked, err := r.request("tools/call", params, answerTo(s.Call.Phase, r.headless))
	if err != nil {
		return err
	}
	denied := got.Result.IsError && len(got.Result.Content) > 0 && strings.HasPrefix(got.Result.Content[0].Text, blocked)
	s.Made, r.made = true, append(r.made, s)
	switch {
	case asked:
		s.Verdict, s.Refused = gate.Ask, denied
	case denied:
		s.Verdict = gate.Deny
	}
	return nil
}

// close ends the session and reads what its log says of each call. Wire and log must agree.
func (r *remote) close() error {
	if r.ended {
		return os.RemoveAll(r.dir)
	}
	r.ended = true
	err := r.hangUp()
	if err == nil {
		err = r.readLog()
	}
	return errors.Join(err, os.RemoveAll(r.dir))
}

// hangUp ends the program as a client does, and waits for it.
func (r *remote) hangUp() error {
	err := r.in.Close()
	if waitErr := r.cmd.Wait(); waitErr != nil {
		err = errors.Join(err, fmt.Errorf("bouncer run: %w: %s", waitErr, strings.TrimSpace(r.stderr.String())))
	}
	r.cancel()
	return err
}

// end ends a session that could not go on.
func (r *remote) end() error {
	r.lastWords()
	return os.RemoveAll(r.dir)
}

func (r *remote) readLog() error {
	var first, last []audit.Record
	err := audit.Scan(filepath.Join(r.home, "audit.jsonl"), audit.Filter{}, func(rec audit.Record) {
		if len(last) == 0 || last[len(last)-1].ID != rec.ID {
			first, last = append(first, rec), append(last, rec)
		}
		last[len(last)-1] = rec
	})
	if err != nil {
		return err
	}
	if len(first) != len(r.made) {
		return fmt.Errorf("the log has %d calls, and %d were made", len(first), len(r.made))
	}
	for i, s := range r.made {
		ask, end := first[i], last[i]
		s.Decision = gate.Decision{Verdict: verdict(ask.Verdict), Contract: ask.Contract, Reason: ask.Reason}
		if r.headless && s.Decision.Verdict == gate.Ask && s.Verdict == gate.Deny {
			s.Verdict, s.Refused, s.Nobody = gate.Ask, true, true
		}
		if ask.Tool != s.Call.Function || s.Decision.Verdict != s.Verdict || s.Denied() != (end.Verdict == "deny") {
			return fmt.Errorf("call %d, %s: the log says %s and then %s, the client saw %s (denied: %v)", i, s.Call.Function, ask.Verdict, end.Verdict, s.Verdict, s.Denied())
		}
	}
	return nil
}

func verdict(word string) gate.Verdict {
	for _, v := range []gate.Verdict{gate.Allow, gate.Ask} {
		if v.String() == word {
			return v
		}
	}
	return gate.Deny
}

// Differences compares the verdicts of two replays of the same sessions, call by call. Texts that the log masks are not
// compared.
func Differences(here, there []Run) (calls int, out []string) {
	if len(here) != len(there) {
		return 0, []string{fmt.Sprintf("%d sessions here, %d there", len(here), len(there))}
	}
	for i, a := range here {
		b := there[i]
		for k := range min(len(a.Steps), len(b.Steps)) {
			x, y := a.Steps[k], b.Steps[k]
			calls++
			same := x.Made == y.Made && x.Verdict == y.Verdict && x.Refused == y.Refused && x.Decision.Contract == y.Decision.Contract
			if same && (x.Decision.Reason == y.Decision.Reason || strings.Contains(y.Decision.Reason, "[masked:")) {
				continue
			}
			out = append(out, fmt.Sprintf("%s, call %d, %s: %s [%s] %s here, %s [%s] %s there", a.Name(), k+1, x.Call.Function,
				x.Verdict, x.Decision.Contract, x.Decision.Reason, y.Verdict, y.Decision.Contract, y.Decision.Reason))
		}
		if a.Name() != b.Name() || len(a.Steps) != len(b.Steps) || a.Outcome != b.Outcome {
			out = append(out, fmt.Sprintf("%s is %s here, %s is %s there", a.Name(), a.Outcome, b.Name(), b.Outcome))
		}
	}
	return calls, out
}
