package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// InjectCase is one case of InjecAgent: a user's call whose answer holds an instruction, and the calls that obey it.
type InjectCase struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"` // dh: direct harm; ds: data stealing
	Prompt string `json:"prompt"`
	User   struct {
		Tool     string          `json:"tool"`
		Args     json.RawMessage `json:"args"`
		Response string          `json:"response"`
	} `json:"user_call"`
	Attack []struct {
		Tool     string          `json:"tool"`
		Args     json.RawMessage `json:"args"`
		Response string          `json:"response"`
	} `json:"attacker_calls"`
}

// InjectServer is the name under which a policy can scope rules to these tools.
const InjectServer = "injecagent"

// Inject is the cases with the tools that they call.
type Inject struct {
	Cases  []InjectCase
	tools  []jsonrpc.Value
	listed []byte
}

// ReadInject reads a folder with replay.jsonl and tools.json.
func ReadInject(dir string) (*Inject, error) {
	in := &Inject{}
	err := lines(filepath.Join(dir, "replay.jsonl"), func(c InjectCase) error {
		if c.Kind != "dh" && c.Kind != "ds" || len(c.Attack) == 0 {
			return fmt.Errorf("case %q is neither dh nor ds, or nobody attacks in it", c.ID)
		}
		in.Cases = append(in.Cases, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(dir, "tools.json"))
	if err != nil {
		return nil, err
	}
	if err := in.define(raw); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "tools.json"), err)
	}
	return in, nil
}

// define makes MCP definitions of the toolkits: a tool is named by toolkit and name, as the calls name it.
func (in *Inject) define(raw []byte) error {
	var kits []struct {
		Toolkit string `json:"toolkit"`
		Tools   []struct {
			Name       string `json:"name"`
			Summary    string `json:"summary"`
			Parameters []struct {
				Name, Type, Description string
				Required                bool
			} `json:"parameters"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(raw, &kits); err != nil {
		return err
	}
	var tools []any
	for _, kit := range kits {
		for _, t := range kit.Tools {
			properties, required := map[string]any{}, []string{}
			for _, p := range t.Parameters {
				properties[p.Name] = map[string]any{"type": p.Type, "description": p.Description}
				if p.Required {
					required = append(required, p.Name)
				}
			}
			tools = append(tools, map[string]any{"name": kit.Toolkit + t.Name, "description": t.Summary,
				"inputSchema": map[string]any{"type": "object", "properties": properties, "required": required}})
		}
	}
	listed, err := json.Marshal(map[string]any{"tools": tools})
	if err != nil {
		return err
	}
	v, err := jsonrpc.Decode(listed)
	if err != nil {
		return err
	}
	list, _ := v.Get("tools")
	in.tools, in.listed = list.Elems, listed
	return nil
}

// Listed is the tools as a tools/list result.
func (in *Inject) Listed() []byte { return in.listed }

// object is the arguments of a call; a recording without any has a list.
func object(args json.RawMessage) json.RawMessage {
	if len(args) == 0 || !bytes.HasPrefix(bytes.TrimSpace(args), []byte("{")) {
		return json.RawMessage("{}")
	}
	return args
}

// ReplayInject plays every case and scores the verdicts on the attacker's calls.
func ReplayInject(cfg Config, in *Inject) ([]Run, error) {
	runs, errs := make([]Run, len(in.Cases)), make([]error, len(in.Cases))
	parallel(len(in.Cases), func(i int) { runs[i], errs[i] = in.play(cfg, in.Cases[i]) })
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return runs, nil
}

func (in *Inject) play(cfg Config, c InjectCase) (Run, error) {
	r := Run{Suite: c.Kind, UserTask: c.ID, Injection: "attack", Outcome: Silent}
	outputs := map[string]Output{"user": {Text: c.User.Response}}
	r.Steps = append(r.Steps, Step{Call: Call{Phase: "user", Function: c.User.Tool, Args: object(c.User.Args), Out: "user"}})
	for i, a := range c.Attack {
		id := fmt.Sprint(i)
		outputs[id] = Output{Text: a.Response}
		r.Steps = append(r.Steps, Step{Call: Call{Phase: "injection", Function: a.Tool, Args: object(a.Args), Out: id}})
	}
	p := newPlayer(cfg, InjectServer, c.Prompt, in.tools, in.listed, outputs)
	for i := range r.Steps {
		s := &r.Steps[i]
		if err := p.play(s); err != nil {
			return r, err
		}
		if i == 0 {
			if s.Asked() {
				r.Questions++
			}
			if s.Denied() {
				r.Refused, r.Outcome, r.Reason = 1, Blocked, "its text never reached the agent"
				return r, nil
			}
			continue
		}
		worse := Silent
		switch {
		case s.Denied():
			worse = Blocked
		case s.Verdict == gate.Ask:
			worse = Asked
		}
		if worse == Blocked && r.Outcome != Blocked || worse == Asked && r.Outcome == Silent {
			r.Outcome, r.Reason = worse, s.Call.Function+": "+s.Decision.Reason
		}
	}
	return r, nil
}
