package replay

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Task is a user's task with its calls.
type Task struct {
	UserTask string `json:"user_task"`
	Prompt   string `json:"prompt"`
	Calls    []Call `json:"calls"`
}

// Attack is a user's task into which an injection was delivered.
type Attack struct {
	Task
	Injection string          `json:"injection_task"`
	Order     string          `json:"order"`
	Goal      string          `json:"goal"`
	Text      string          `json:"injection_text"`
	Carrier   *int            `json:"first_injected_call"`
	Succeeds  bool            `json:"security_all"`
	Without   map[string]bool `json:"security_if_call_denied"` // whether it still succeeds when the call of that index is left out

	vectors []string // the injected texts, where a recording has them by place
}

// texts are what an output must hold for the attack to be delivered by it.
func (a *Attack) texts() []string {
	if a.vectors != nil {
		return a.vectors
	}
	return []string{a.Text}
}

// Suite is one server's recordings.
type Suite struct {
	Name    string
	Tools   []jsonrpc.Value
	Listed  []byte // the tools as a tools/list result
	Benign  []Task
	Attacks []Attack // one for each pair that succeeds undefended
	Outputs map[string]Output
}

// toolsExt ends the name of the file that makes a folder's files a suite.
const toolsExt = "-tools.json"

// ReadDojo reads a folder of NAME-tools.json, NAME-benign.jsonl, NAME-attacked.jsonl and NAME-outputs.jsonl, as
// eval/agentdojo/export.py writes it. Of each pair it keeps the order that succeeds: the injection obeyed at once, else
// after the user's task.
func ReadDojo(dir string) ([]*Suite, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+toolsExt))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s holds no recordings: no NAME-tools.json", dir)
	}
	slices.Sort(files)
	var out []*Suite
	for _, file := range files {
		s, err := readSuite(strings.TrimSuffix(file, toolsExt))
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func readSuite(base string) (*Suite, error) {
	s := &Suite{Name: filepath.Base(base), Outputs: map[string]Output{}}
	raw, err := os.ReadFile(base + toolsExt)
	if err != nil {
		return nil, err
	}
	list, err := jsonrpc.Decode(raw)
	if err != nil || list.Kind != jsonrpc.Array {
		return nil, fmt.Errorf("%s-tools.json is not a list of tools", base)
	}
	s.Tools = list.Elems
	s.Listed = append(append([]byte(`{"tools":`), raw...), '}')
	err = errors.Join(
		lines(base+"-outputs.jsonl", func(o Output) error { s.Outputs[o.ID] = o; return nil }),
		lines(base+"-benign.jsonl", func(t Task) error { s.Benign = append(s.Benign, t); return nil }),
	)
	if err != nil {
		return nil, err
	}
	s.Attacks, err = readAttacks(base + "-attacked.jsonl")
	return s, err
}

// readAttacks reads the pairs. A row of the order `early` takes what it lacks from the pair's other row.
func readAttacks(file string) ([]Attack, error) {
	type pair struct{ user, injection string }
	first, early := map[pair]Attack{}, map[pair]Attack{}
	var order []pair
	err := lines(file, func(a Attack) error {
		key := pair{a.UserTask, a.Injection}
		switch a.Order {
		case "user-first":
			if _, twice := first[key]; twice {
				return fmt.Errorf("%s and %s stand there twice", a.UserTask, a.Injection)
			}
			first[key] = a
			order = append(order, key)
		case "early":
			early[key] = a
		default:
			return fmt.Errorf("the order %q is neither user-first nor early", a.Order)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []Attack
	for _, key := range order {
		whole := first[key]
		a := whole
		if e, ok := early[key]; ok && e.Succeeds {
			e.Prompt, e.Goal, e.Text, e.Carrier = whole.Prompt, whole.Goal, whole.Text, whole.Carrier
			if e.Without == nil {
				e.Without = byOrder(whole, e)
			}
			a = e
		}
		if a.Succeeds {
			out = append(out, a)
		}
	}
	return out, err
}

// byOrder takes the verdicts of the calls of one row to the same calls of another.
func byOrder(from, to Attack) map[string]bool {
	if from.Without == nil {
		return nil
	}
	a, b := injected(from.Calls), injected(to.Calls)
	out := map[string]bool{}
	for n, i := range a {
		if v, ok := from.Without[fmt.Sprint(i)]; ok && n < len(b) {
			out[fmt.Sprint(b[n])] = v
		}
	}
	return out
}

// injected returns the indexes of an injection's calls.
func injected(calls []Call) (out []int) {
	for i, c := range calls {
		if c.Phase == "injection" {
			out = append(out, i)
		}
	}
	return out
}

// longLine bounds one line: outputs can be large, files without end are none.
const longLine = 64 << 20

// lines reads a file of JSON values, one a line.
func lines[T any](file string, each func(T) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return scan(f, file, each)
}

func scan[T any](r io.Reader, file string, each func(T) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<20), longLine)
	for n := 1; in.Scan(); n++ {
		if len(strings.TrimSpace(in.Text())) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(in.Bytes(), &v); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if err := each(v); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
