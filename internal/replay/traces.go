package replay

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// Trace is what a real model did in one session.
type Trace struct {
	Kind       string            `json:"kind"` // benign, attacked or output
	Suite      string            `json:"suite"`
	UserTask   string            `json:"user_task"`
	Injection  string            `json:"injection_task"`
	Prompt     string            `json:"prompt"`
	Utility    bool              `json:"utility"`
	Security   bool              `json:"security"` // of an attacked session: the attack succeeded
	Injections map[string]string `json:"injections"`
	Calls      []Call            `json:"calls"`
	ID         string            `json:"id"`   // of an output
	Text       string            `json:"text"` // of an output
}

// Pipeline is the traces of one model.
type Pipeline struct {
	Name    string
	Benign  []Trace // whose task was done
	Attacks []Trace // that succeeded
	Outputs map[string]Output
}

const (
	traceExt  = ".jsonl.gz"
	maxTraces = 4 << 30 // bytes of one unpacked file: an archive can be made to unpack for ever
)

// ReadTraces reads a file of traces, or every one in a folder. A folder without any is no error.
func ReadTraces(path string) ([]*Pipeline, error) {
	files := []string{path}
	if !strings.HasSuffix(path, traceExt) {
		var err error
		if files, err = filepath.Glob(filepath.Join(path, "*"+traceExt)); err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	var out []*Pipeline
	for _, file := range files {
		p, err := readPipeline(file)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func readPipeline(file string) (*Pipeline, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := &Pipeline{Name: strings.TrimSuffix(filepath.Base(file), traceExt), Outputs: map[string]Output{}}
	limited := &io.LimitedReader{R: unpacked, N: maxTraces}
	if err := scan(limited, file, p.add); err != nil {
		return nil, err
	}
	if limited.N == 0 {
		return nil, fmt.Errorf("%s is too large", file)
	}
	return p, nil
}

func (p *Pipeline) add(t Trace) error {
	switch t.Kind {
	case "output":
		p.Outputs[t.ID] = Output{ID: t.ID, Text: t.Text, Structured: structured(t.Text)}
	case "benign":
		if t.Utility {
			p.Benign = append(p.Benign, t)
		}
	case "attacked":
		if t.Security {
			p.Attacks = append(p.Attacks, t)
		}
	default:
		return fmt.Errorf("a line of the kind %q", t.Kind)
	}
	return nil
}

// structured is the value that a text spells in YAML, as AgentDojo spells every list and every object that a tool returns.
// The traces do not have the values themselves. Any other text is that text.
func structured(text string) json.RawMessage {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		v = text
	}
	switch v.(type) {
	case map[string]any, []any:
	default:
		v = text
	}
	raw, err := json.Marshal(v)
	if err != nil { // keys that are no strings
		raw, _ = json.Marshal(text)
	}
	return raw
}

// Folder is what a folder of recordings holds.
type Folder struct {
	Suites    []*Suite    // to be replayed
	Pipelines []*Pipeline // to be replayed
	Beside    []*Suite    // what the traces' injections and tools are known from
}

// ReadFolder reads the suites and the traces of a folder, or one file of traces. Traces stand in the folder of their
// suites or in one below it, named real. One of the two may be missing.
func ReadFolder(path string) (f Folder, err error) {
	if f.Pipelines, err = ReadTraces(path); err != nil {
		return f, err
	}
	file := strings.HasSuffix(path, traceExt)
	if file {
		path = filepath.Dir(path)
	} else {
		below, err := ReadTraces(filepath.Join(path, "real"))
		if err != nil {
			return f, err
		}
		f.Pipelines = append(f.Pipelines, below...)
	}
	switch {
	case isSuites(path) || len(f.Pipelines) == 0:
		f.Beside, err = ReadDojo(path)
		if !file {
			f.Suites = f.Beside
		}
	case isSuites(filepath.Dir(path)):
		f.Beside, err = ReadDojo(filepath.Dir(path))
	}
	return f, err
}

func isSuites(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "*"+toolsExt)) // a pattern that is none has no match
	return len(found) > 0
}

// ReplayTraces replays the traces of each pipeline in which a task was done or an attack succeeded. Beside the suites, what
// an injection's own calls are is known from them; without, it is told from what the model did in the same task when
// nobody attacked it, and the tools are known by the names and arguments of their calls alone.
func ReplayTraces(cfg Config, pipelines []*Pipeline, suites []*Suite) ([]Run, error) {
	var jobs []job
	for _, p := range pipelines {
		known, err := p.suites(suites)
		if err != nil {
			return nil, err
		}
		for _, t := range p.Benign {
			task := Task{UserTask: t.UserTask, Prompt: t.Prompt, Calls: known[t.Suite].listed(t.Calls)}
			jobs = append(jobs, job{name: p.Name, task: t.Suite + "/" + t.UserTask, suite: known[t.Suite], user: task})
		}
		for _, t := range p.Attacks {
			a := p.attribute(t, known[t.Suite])
			jobs = append(jobs, job{name: p.Name, task: t.Suite + "/" + t.UserTask, suite: known[t.Suite], user: a.Task, attack: &a.Attack, score: a.score})
		}
	}
	return playAll(cfg, jobs)
}

// Only returns the pipeline with the traces of one suite, nil if it has none. No name returns the pipeline.
func (p *Pipeline) Only(suite string) *Pipeline {
	if suite == "" {
		return p
	}
	other := func(t Trace) bool { return t.Suite != suite }
	out := &Pipeline{Name: p.Name, Outputs: p.Outputs,
		Benign: slices.DeleteFunc(slices.Clone(p.Benign), other), Attacks: slices.DeleteFunc(slices.Clone(p.Attacks), other)}
	if len(out.Benign)+len(out.Attacks) == 0 {
		return nil
	}
	return out
}

// suites returns the suites that the pipeline's traces are of, with the pipeline's outputs.
func (p *Pipeline) suites(given []*Suite) (map[string]*Suite, error) {
	out := map[string]*Suite{}
	for _, s := range given {
		c := *s
		c.Outputs = p.Outputs
		out[s.Name] = &c
	}
	calls := map[string][]Call{}
	for _, t := range slices.Concat(p.Benign, p.Attacks) {
		if out[t.Suite] == nil {
			calls[t.Suite] = append(calls[t.Suite], t.Calls...)
		}
	}
	for name, made := range calls {
		s := &Suite{Name: name, Outputs: p.Outputs}
		if err := s.guessTools(made); err != nil {
			return nil, err
		}
		out[name] = s
	}
	return out, nil
}

// guessTools defines the tools that calls were made of, by name and by the names of their arguments.
func (s *Suite) guessTools(calls []Call) error {
	properties := map[string]map[string]any{}
	for _, c := range calls {
		var args map[string]json.RawMessage
		if json.Unmarshal(c.Args, &args) != nil {
			continue
		}
		if properties[c.Function] == nil {
			properties[c.Function] = map[string]any{}
		}
		for name := range args {
			properties[c.Function][name] = struct{}{}
		}
	}
	var tools []any
	for name, p := range properties {
		tools = append(tools, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object", "properties": p}})
	}
	slices.SortFunc(tools, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
	})
	raw, err := json.Marshal(map[string]any{"tools": tools})
	if err != nil {
		return err
	}
	v, err := jsonrpc.Decode(raw)
	if err != nil {
		return errors.Join(errors.New("the traces call a tool by what is no name"), err)
	}
	list, _ := v.Get("tools")
	s.Tools, s.Listed = list.Elems, raw
	return nil
}

// listed leaves out calls of tools that the server does not have: a model that invents one gets an error from the server,
// with Bouncer or without.
func (s *Suite) listed(calls []Call) []Call {
	names := map[string]bool{}
	for _, t := range s.Tools {
		name, _ := t.Get("name")
		names[name.Text] = true
	}
	return slices.DeleteFunc(slices.Clone(calls), func(c Call) bool { return !names[c.Function] })
}
