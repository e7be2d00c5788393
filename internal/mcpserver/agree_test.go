package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/casefile"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/judge"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/policy/packs"
)

// TestAgreesWithTheProxy: every call of every case file, tried with what had been written until then, gets the verdict,
// contract, origin, reason and evidence that the real relay logged for it. A call whose verdict rests on what the
// session did before (attempts, answers, a list that changed) cannot be tried alone; it is counted.
func TestAgreesWithTheProxy(t *testing.T) {
	files, err := casefile.Find(filepath.Join("..", "..", "testdata", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	compared, skipped := 0, map[string]int{}
	count := func(why string) {
		mu.Lock()
		defer mu.Unlock()
		switch why {
		case "":
			compared++
		case notJudged:
		default:
			skipped[why]++
		}
	}
	const shards = 8 // a case mostly waits
	t.Run("cases", func(t *testing.T) {
		for shard := range shards {
			t.Run(strconv.Itoa(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < len(files); i += shards {
					compareCase(t, files[i], count)
				}
			})
		}
	})
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		t.Logf("skipped %d: %s", skipped[why], why)
	}
	t.Logf("compared %d", compared)
	if compared < 30 {
		t.Errorf("only %d calls were compared", compared)
	}
}

func compareCase(t *testing.T, file string, count func(why string)) {
	c, err := casefile.Load(file)
	if err != nil {
		count("the case cannot be read")
		t.Logf("%s: %v", file, err)
		return
	}
	r := c.Run(t.Context())
	if !r.Passed() {
		count("the case does not pass")
		t.Logf("%s does not pass: %v", file, r.Err)
		return
	}
	p := newPlay(t, file, string(c.Profile))
	for i, step := range r.Steps {
		count(p.step(t, i, step))
	}
}

const notJudged = "no call"

// play is a case file as far as a trial needs to know it.
type play struct {
	file, dir string
	server    *Server
	set       *policy.Set
	profile   policy.Profile
	servers   map[string]*playServer
	only      string // the one server's name, "" where there are several
	steps     []object
	calls     map[int]string // the arguments of the call in a step, in their order
	written   []string
	attempts  map[string]int
	vouched   map[string]bool
	prompt    string
	labels    bool     // the policy looks at more than texts: labelled fields, earlier calls
	echoed    []string // what answers to calls of the agent's were, each with the call's own arguments in front
}

type playServer struct {
	who     policy.Server
	tools   []jsonrpc.Value
	changed bool // the list changed since it was pinned, or never ended
}

func newPlay(t *testing.T, file, profile string) *play {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc object
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &play{file: file, dir: dir, profile: policy.Profile(profile), servers: map[string]*playServer{}, attempts: map[string]int{}, vouched: map[string]bool{}}
	p.plant(t, doc["files"])
	p.server = New(Config{Paths: &judge.Paths{Dir: dir, UserHome: dir, Guarded: []string{filepath.Join(dir, ".bouncer")}}})
	p.set = (&policy.Set{}).WithPacks(packs.All())
	if doc["policy"] != nil {
		text, inline := doc["policy"].(string)
		if !inline {
			text = string(p.readFile(t, doc["policy"].(object)["file"].(string)))
		}
		set, err := load.Bytes("case", []byte(p.here(text)))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		p.set, p.labels = set.WithPacks(packs.All()), strings.Contains(text, "results:") || strings.Contains(text, "first_use:") || strings.Contains(text, "fetch: true")
	}
	if several, ok := doc["servers"].(object); ok {
		for name, s := range several {
			p.addServer(t, name, s.(object))
		}
	} else {
		p.only = doc["server"].(string)
		p.addServer(t, p.only, doc)
	}
	for _, s := range doc["steps"].([]any) {
		p.steps = append(p.steps, s.(object))
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	p.calls = map[int]string{}
	for i, step := range valueOf(root.Content[0], "steps").Content {
		if args := valueOf(valueOf(step, "call"), "args"); args != nil {
			p.calls[i] = p.here(asJSON(args))
		}
	}
	return p
}

// valueOf is what a mapping has under a key, nil when it has nothing.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	if n == nil {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Kind == yaml.MappingNode && n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// asJSON spells YAML as JSON, names in their order and numbers as they stand.
func asJSON(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, string(jsonrpc.Quote(n.Content[i].Value))+":"+asJSON(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, asJSON(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	switch n.Tag {
	case "!!null":
		return "null"
	case "!!bool", "!!int", "!!float":
		return n.Value
	}
	return string(jsonrpc.Quote(n.Value))
}

func (p *play) here(s string) string { return strings.ReplaceAll(s, "${DIR}", filepath.ToSlash(p.dir)) }

func (p *play) readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(p.file), path))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (p *play) plant(t *testing.T, files any) {
	t.Helper()
	tree, _ := files.(object)
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		content := p.here(fmt.Sprint(tree[name]))
		path := filepath.Join(p.dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		target, link := strings.CutPrefix(content, "-> ")
		switch {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o700)
		case link:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// addServer reads a server's tools. What it lists and says of itself was written by a server, too.
func (p *play) addServer(t *testing.T, name string, s object) {
	t.Helper()
	out := &playServer{who: policy.Server{Name: name, Reported: "case-server"}}
	if pkg, ok := s["package"].(string); ok {
		out.who.Identity = []string{pkg}
	}
	listed := s["tools"]
	if m, ok := listed.(object); ok {
		out.changed = m["endless"] == true
		if file, ok := m["file"].(string); ok {
			var captured object
			if err := json.Unmarshal(p.readFile(t, file), &captured); err != nil {
				t.Fatal(err)
			}
			listed = captured["tools"]
			if info, ok := captured["serverInfo"].(object); ok {
				out.who.Reported, _ = info["name"].(string)
			}
			p.write(captured["instructions"])
		} else {
			var all []any
			for _, page := range m["pages"].([]any) {
				all = append(all, page.([]any)...)
			}
			listed = all
		}
	}
	p.write(listed)
	p.write(s["instructions"])
	for _, def := range listed.([]any) {
		v, err := jsonrpc.Decode([]byte(p.here(string(mustJSON(def)))))
		if err != nil {
			t.Fatal(err)
		}
		out.tools = append(out.tools, v)
	}
	p.servers[name] = out
}

// write notes what a server wrote: a text as it is, everything else as JSON.
func (p *play) write(v any) {
	switch v := v.(type) {
	case nil:
	case string:
		p.written = append(p.written, p.here(v))
	default:
		p.written = append(p.written, p.here(string(mustJSON(v))))
	}
}

// step tries the step if it is a call, and says why it could not be compared.
func (p *play) step(t *testing.T, i int, got casefile.StepReport) string {
	step := p.steps[i]
	at, _ := step["server"].(string)
	if at == "" {
		at = p.only
	}
	s := p.servers[at]
	why := notJudged
	for kind, body := range step {
		switch kind {
		case "call":
			tool := body.(object)["tool"].(string)
			why = p.compare(t, s, tool, p.calls[i], got)
			p.attempts[at+" "+tool]++
			if a := step["answer"]; a == "session" || a == "always" || a == "never" {
				p.vouched[at+" "+tool] = true
			}
		case "raw":
			why = "a frame that was written byte for byte"
		case "result":
			p.attempts[at+" "+body.(object)["tool"].(string)]++
			for _, key := range []string{"text", "content", "structured", "error", "_meta"} {
				p.write(body.(object)[key])
			}
		case "prompt":
			p.prompt = body.(string)
		case "message":
			p.write(body.(object)["params"])
		case "tools":
			s.changed = true
			p.write(body)
		}
	}
	if returns, ok := step["returns"].(object); ok {
		for _, key := range []string{"text", "content", "structured", "error", "_meta"} {
			p.write(returns[key])
		}
		p.echoed = append(p.echoed, p.calls[i]+"\x00"+p.here(string(mustJSON(returns))))
	}
	return why
}

func (p *play) compare(t *testing.T, s *playServer, tool, args string, got casefile.StepReport) string {
	if len(got.Log) == 0 {
		return "nothing was logged"
	}
	var definitions []jsonrpc.Value
	for _, d := range s.tools {
		if n, _ := d.Get("name"); n.Text == tool && !slices.ContainsFunc(definitions, func(o jsonrpc.Value) bool { return pin.Of(o) == pin.Of(d) }) {
			definitions = append(definitions, d)
		}
	}
	switch {
	case s.changed || len(definitions) != 1 || got.Contract == "pinning":
		return "it rests on pins: the list changed, has two of the name, or none"
	case got.Contract == "budget" && p.attempts[s.who.Name+" "+tool] > 0:
		return "it rests on a budget: attempts were made before"
	case strings.Contains(got.Reason, "[masked:"):
		return "the log masks a password"
	case p.labels:
		return "it rests on labelled fields or on earlier calls"
	case got.Contract == "flow" || got.Origin == "untrusted" && got.Contract == "default" || strings.Contains(got.Reason, "stands in untrusted data"):
		return "it rests on what was read before"
	case p.vouched[s.who.Name+" "+tool]:
		return "it rests on an answer that a person gave before"
	}
	line, logged, ok := parseLine([]byte(got.Log[0]))
	if !ok {
		t.Fatalf("%s: the log has %s", got.At, got.Log[0])
	}
	decoded := jsonrpc.Value{}
	if args != "" {
		var err error
		if decoded, err = jsonrpc.Decode([]byte(args)); err != nil {
			t.Fatal(err)
		}
	}
	v := p.server.try(trial{server: s.who, rules: p.set, profile: p.profile, tool: tool, args: decoded, definition: &definitions[0], context: p.written, prompt: p.prompt})
	want := Verdict{Verdict: line.Verdict, Contract: line.Contract, Origin: line.Origin, Reason: line.Reason, Evidence: evidenceIn(logged)}
	if slices.ContainsFunc(want.Evidence, func(e Evidence) bool { return e.Contract == "flow" }) || strings.Contains(got.Log[0], "through two fields") {
		return "it rests on what was read before"
	}
	v.Rule, v.Assumptions = RuleSource{}, nil
	if d := cmp.Diff(p.comparable(want), p.comparable(v)); d != "" {
		if want.Verdict == "ask" && v.Verdict == "deny" && p.rests(want.Evidence) {
			return "it rests on an echo: an answer repeated what the agent had sent, and the check, which cannot know that, is the stricter"
		}
		t.Errorf("%s: the proxy and the check disagree about %s:\n%s", got.At, tool, d)
	}
	return ""
}

// rests reports whether a destination stands in an answer to a call that had it as an argument.
func (p *play) rests(evidence []Evidence) bool {
	return slices.ContainsFunc(evidence, func(e Evidence) bool {
		return e.Destination != "" && slices.ContainsFunc(p.echoed, func(both string) bool {
			sent, answered, _ := strings.Cut(both, "\x00")
			return strings.Contains(sent, e.Destination) && strings.Contains(answered, e.Destination)
		})
	})
}

// caseDir is the scratch directory of a run, which is gone by now.
var caseDir = regexp.MustCompile(`/[^\s'"]*?/bouncer-case-[0-9]+/dir`)

// comparable drops what differs by nature: the scratch directory, and the place inside an answer where something stood,
// since a trial gets every answer as one text.
func (p *play) comparable(v Verdict) Verdict {
	same := func(s string) string {
		s = strings.ReplaceAll(caseDir.ReplaceAllLiteralString(s, "${DIR}"), filepath.ToSlash(p.dir), "${DIR}")
		if cut, _, long := strings.Cut(s, "…"); long {
			return cut[:min(len(cut), 200)]
		}
		return s
	}
	v.Reason = same(v.Reason)
	for i := range v.Evidence {
		e := &v.Evidence[i]
		e.SeenServer, e.SeenTool, e.SeenField, e.Snippet = "", "", "", ""
		e.Reason, e.Destination = same(e.Reason), same(e.Destination)
	}
	return v
}
