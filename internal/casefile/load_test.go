package casefile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// head is a case without steps, nine lines long.
const head = `case: X
title: t
profile: standard
server: mail
policy: |
  send: {exfiltrating: true, sink_params: [to]}
tools:
  - {name: send, inputSchema: {type: object, properties: {to: {type: string}}}}
steps:
`

// TestLoadErrors is the loader's golden lines: what is wrong is said with its place and, for a misspelled key, with the
// one that was meant.
func TestLoadErrors(t *testing.T) {
	step := func(s string) string { return head + "  - " + s + "\n" }
	tests := map[string]struct{ text, want string }{
		"empty":             {"", "1:1: the file is empty"},
		"only a comment":    {"# nothing\n", "1:1: the file is empty"},
		"a list":            {"- case: X\n", "1:1: a case must be a mapping, not a list"},
		"not YAML":          {"case: [\n", "not YAML"},
		"two documents":     {head + "  - call: {tool: send}\n    want: ask\n---\ncase: Y\n", "12:1: a case file is one YAML document; a second one starts here"},
		"alias":             {"case: &a X\ntitle: *a\n", "1:7: anchors are not allowed"},
		"tag":               {"case: !!str X\n", "1:7: tags are not allowed"},
		"unknown key":       {strings.Replace(head, "title", "titel", 1), `2:1: unknown key "titel" in a case (did you mean "title"?)`},
		"missing key":       {strings.Replace(head, "profile: standard\n", "", 1), "1:1: a case needs the key profile"},
		"duplicate key":     {head + "  - call: {tool: send}\n    want: ask\ncase: Y\n", `12:1: duplicate key "case", first on line 1`},
		"profile":           {strings.Replace(head, "standard", "standart", 1), `3:10: profile must be one of strict, standard, paranoid, not "standart" (did you mean "standard"?)`},
		"no server":         {strings.Replace(head, "server: mail\n", "", 1), "a case needs the key server, or servers"},
		"server beside":     {"servers: {a: {tools: []}}\n" + head, "5:9: server stands beside servers"},
		"policy":            {strings.Replace(head, "sink_params", "sink_parms", 1), `6:30: unknown key "sink_parms" (did you mean "sink_params"?)`},
		"policy's profile":  {strings.Replace(head, "  send: {exfiltrating: true, sink_params: [to]}", "  version: 1\n  profile: strict", 1), "the policy says profile strict and the case says standard"},
		"tool without name": {strings.Replace(head, "{name: send, ", "{", 1), "8:5: a tool must be a mapping with the key name"},
		"tools file":        {strings.Replace(head, "tools:\n  - {name: send, inputSchema: {type: object, properties: {to: {type: string}}}}", "tools: {file: nowhere.json}", 1), `7:15: read tools "`},
		"version":           {"client: {version: 2025-01-01}\n" + head, "1:19: version must be one of 2024-11-05"},
		"files outside":     {"files: {../x: a}\n" + head, `1:9: "../x" is not a path inside the scratch directory`},
		"files absolute":    {"files: {/etc/x: a}\n" + head, `1:9: "/etc/x" is not a path inside the scratch directory`},
		"files dir":         {"files: {x/: hello}\n" + head, `1:13: "x/" ends in a slash, so it must be dir`},
		"no steps":          {head, "steps must be a list of at least one step"},
		"nothing wanted":    {step("message: {method: notifications/x}"), "no step wants anything"},
		"step kind":         {step("cal: {tool: send}\n    want: ask"), `10:5: unknown key "cal" in a step (did you mean "call"?)`},
		"two kinds":         {step("call: {tool: send}\n    raw: x\n    want: ask"), "a step is one of"},
		"no want":           {step("call: {tool: send}"), "10:5: a call step needs the key want"},
		"want":              {step("call: {tool: send}\n    want: denied"), `11:11: want must be one of allow, ask, deny, refused, not "denied"`},
		"want everything":   {step("call: {tool: send}\n    want: [allow, ask, deny, refused]"), "the step could never fail"},
		"want nothing":      {step("call: {tool: send}\n    want: []"), "the step could never fail"},
		"want of a result":  {step("result: {tool: send}\n    want: allow"), "11:11: want belongs to a call or raw step"},
		"answer unasked":    {step("call: {tool: send}\n    want: deny\n    answer: once"), "12:13: answer is for a step that wants ask"},
		"then unasked":      {step("call: {tool: send}\n    want: deny\n    then: deny"), "12:11: then is for a step that wants ask"},
		"returns denied":    {step("call: {tool: send}\n    want: deny\n    returns: {text: x}"), "12:14: returns is for a step whose call can reach the server"},
		"no tool":           {step("call: {args: {}}\n    want: ask"), "10:11: call needs the key tool"},
		"args":              {step("call: {tool: send, args: [1]}\n    want: ask"), "10:30: args must be a mapping, not a list"},
		"argument twice":    {step("call: {tool: send, args: {a: 1, a: 2}}\n    want: ask"), `10:37: duplicate key "a", first on line 10`},
		"number":            {step("call: {tool: send, args: {a: 0x1f}}\n    want: ask"), `10:34: "0x1f" is no JSON number`},
		"infinity":          {step("call: {tool: send, args: {a: .inf}}\n    want: ask"), `".inf" is no JSON number`},
		"raw lines":         {step("raw: \"a\\nb\"\n    want: refused"), "10:10: raw is one line"},
		"raw blank":         {step("raw: \"\\t\\r\"\n    want: refused"), "10:10: raw is empty"},
		"raw base64":        {step("raw: {base64: \"%\"}\n    want: refused"), "base64 cannot be decoded"},
		"cut not last":      {step("raw: {text: x, cut: true}\n    want: refused\n  - raw: y\n    want: refused"), "10:5: the client's input ends in this step, so it must be the last one"},
		"text and content":  {step("result: {tool: send, text: a, content: []}"), "content stands beside text"},
		"error beside text": {step("result: {tool: send, text: a, error: {code: 1, message: m}}"), "a JSON-RPC error stands alone"},
		"unknown server":    {step("call: {tool: send}\n    server: male\n    want: ask"), `11:13: the case has no server "male"`},
		"which server": {"case: X\ntitle: t\nprofile: strict\nservers: {a: {tools: []}, b: {tools: []}}\nsteps:\n  - call: {tool: x}\n    want: deny\n",
			"6:5: the case has several servers: name the step's with server"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := write(t, "case.yaml", test.text)
			c, err := Load(path)
			if err == nil || c != nil {
				t.Fatalf("loaded %v, error %v", c, err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("want %q in:\n%s", test.want, err)
			}
			if !strings.HasPrefix(err.Error(), path+":") {
				t.Errorf("the error does not start with the file: %s", err)
			}
		})
	}
}

// TestLoadKeepsSpelling: what YAML says is what is sent.
func TestLoadKeepsSpelling(t *testing.T) {
	c := loaded(t, head+`  - call: {tool: send, args: {z: 1.50, a: 9007199254740993, d: 2025-11-25, t: yes, e: 1E3, n: null, b: True, s: "\u0000\"<", l: [~, {}]}}
    want: ask
`)
	want := `{"z":1.50,"a":9007199254740993,"d":"2025-11-25","t":"yes","e":1E3,"n":null,"b":true,"s":"\u0000\"<","l":[null,{}]}`
	if diff := cmp.Diff(want, c.steps[0].args); diff != "" {
		t.Error(diff)
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.HasPrefix(err.Error(), "load case ") {
		t.Errorf("no file: %v", err)
	}
	if _, err := Load(write(t, "big.yaml", strings.Repeat("# comment\n", maxSize/10+1))); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large file: %v", err)
	}
}

// TestSchemaKnowsTheSameKeys holds the editors' schema against the reader, key by key: they must not drift apart.
func TestSchemaKnowsTheSameKeys(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "schema", "case.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage
		Enum       []string
		Additional *bool `json:"additionalProperties"`
	}
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	schema.Defs["case"] = schema.object
	for name, keys := range map[string][]string{
		"case": caseKeys, "server": serverKeys, "client": clientKeys, "toolsFile": {"file"}, "toolsPages": {"pages", "endless"}, "rawBytes": rawKeys,
		"step": slices.Concat(kinds, wantKeys, []string{"server"}), "answer": answerKeys,
		"result": append([]string{"tool", "args"}, answerKeys...),
	} {
		def, ok := schema.Defs[name]
		if !ok || def.Additional == nil || *def.Additional {
			t.Errorf("%s: not in the schema, or open for other keys", name)
			continue
		}
		var has []string
		for key := range def.Properties {
			has = append(has, key)
		}
		slices.Sort(has)
		want := slices.Sorted(slices.Values(keys))
		if diff := cmp.Diff(want, has); diff != "" {
			t.Errorf("%s: keys of the reader (-) and of the schema (+):\n%s", name, diff)
		}
	}
	for name, values := range map[string][]string{"verdict": verdicts, "answerOfAPerson": answers} {
		if diff := cmp.Diff(values, schema.Defs[name].Enum); diff != "" {
			t.Errorf("%s: values of the reader (-) and of the schema (+):\n%s", name, diff)
		}
	}
}

// FuzzLoad: no file makes the reader panic, and whatever it takes has a step that wants something.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(mail + allowed + denied))
	f.Add([]byte(head + "  - raw: {base64: AAA=, cut: true}\n    want: [refused]\n"))
	f.Add([]byte("servers: {a: {tools: {pages: [[]], endless: true}}}\nfiles: {a/: dir, b: -> c}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := read("case.yaml", data)
		if (c == nil) == (err == nil) {
			t.Fatalf("case %v and error %v", c, err)
		}
		if c != nil && !slices.ContainsFunc(c.steps, func(s step) bool { return len(s.want) > 0 }) {
			t.Fatal("a case that cannot fail was loaded")
		}
	})
}
