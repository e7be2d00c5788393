package casefile

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

var (
	wantKeys   = []string{"want", "contract", "origin", "reason", "answer", "then", "returns"}
	answerKeys = []string{"text", "structured", "content", "error", "_meta"}
	rawKeys    = []string{"text", "base64", "cut"}
)

func (r *reader) steps(c *Case, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.at(n, "steps must be a list of at least one step")
		return
	}
	judged := false
	for i, item := range n.Content {
		s := r.step(c, item)
		judged = judged || s.kind == kindCall || s.kind == kindRaw
		if s.cut && i < len(n.Content)-1 {
			r.at(item, "the client's input ends in this step, so it must be the last one")
		}
		c.steps = append(c.steps, s)
	}
	if !judged && len(r.errs) == 0 { // a case that wants nothing cannot fail
		r.at(n, "no step wants anything: add a call or raw step with a want")
	}
}

func (r *reader) step(c *Case, n *yaml.Node) step {
	s := step{at: policy.Position{File: r.file, Line: n.Line, Column: n.Column}}
	keys := r.known(n, "a step", slices.Concat(kinds, wantKeys, []string{"server"}))
	for _, k := range kinds {
		if keys[k] == nil {
			continue
		}
		if s.kind != "" {
			r.at(keys[k], "a step is one of %s, not both %s and %s", strings.Join(kinds, ", "), s.kind, k)
			return s
		}
		s.kind = kind(k)
	}
	if s.kind == "" {
		if len(keys) > 0 || n.Kind == yaml.MappingNode {
			r.at(n, "a step needs one of %s", strings.Join(kinds, ", "))
		}
		return s
	}
	r.stepServer(c, &s, n, keys["server"])
	r.stepBody(&s, keys[string(s.kind)])
	if s.kind == kindCall || s.kind == kindRaw {
		r.wants(&s, n, keys)
		return s
	}
	for _, k := range wantKeys {
		if keys[k] != nil {
			r.at(keys[k], "%s belongs to a call or raw step", k)
		}
	}
	return s
}

// stepServer finds the step's server. Where there are several, a step that named none would be sent to a guess.
func (r *reader) stepServer(c *Case, s *step, n, name *yaml.Node) {
	if name == nil {
		if len(c.servers) > 1 && s.kind != kindPrompt {
			r.at(n, "the case has several servers: name the step's with server")
		}
		return
	}
	s.server = r.text(name, "server")
	if s.kind == kindPrompt {
		r.at(name, "a prompt goes to no server")
	} else if !slices.ContainsFunc(c.servers, func(have server) bool { return have.name == s.server }) {
		r.at(name, "the case has no server %s", show(s.server))
	}
}

func (r *reader) stepBody(s *step, n *yaml.Node) {
	switch s.kind {
	case kindPrompt:
		s.prompt = r.text(n, "prompt")
	case kindTools:
		s.tools = r.toolPages(n, nil)
	case kindRaw:
		r.rawFrame(s, n)
	case kindMessage:
		keys := r.known(n, "message", []string{"method", "params"})
		if keys["method"] == nil {
			r.at(n, "message needs the key method")
		} else {
			s.method = r.text(keys["method"], "method")
		}
		if p := keys["params"]; p != nil {
			s.params = r.object(p, "params")
		}
	case kindCall:
		r.toolAndArgs(s, n, r.known(n, "call", []string{"tool", "args"}))
	case kindResult:
		keys := r.known(n, "result", append([]string{"tool", "args"}, answerKeys...))
		r.toolAndArgs(s, n, keys)
		s.returns = r.scripted(n, keys)
	}
}

func (r *reader) toolAndArgs(s *step, n *yaml.Node, keys map[string]*yaml.Node) {
	if keys["tool"] == nil {
		r.at(n, "%s needs the key tool", s.kind)
		return
	}
	s.tool = r.text(keys["tool"], "tool")
	if a := keys["args"]; a != nil {
		s.args = r.object(a, "args")
	}
}

// rawFrame reads the bytes of one line: a text, or {base64: ...} for what YAML cannot hold. cut ends the client's input
// inside the line.
func (r *reader) rawFrame(s *step, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		s.raw = strings.TrimSuffix(r.text(n, "raw"), "\n")
	} else {
		keys := r.known(n, "raw", rawKeys)
		text, coded := keys["text"], keys["base64"]
		switch {
		case (text == nil) == (coded == nil):
			r.at(n, "raw needs one of the keys text and base64")
			return
		case text != nil:
			s.raw = strings.TrimSuffix(r.text(text, "text"), "\n")
		default:
			data, err := base64.StdEncoding.DecodeString(r.text(coded, "base64"))
			if err != nil {
				r.at(coded, "base64 cannot be decoded: %s", err)
			}
			s.raw = string(data)
		}
		s.cut = keys["cut"] != nil && r.truth(keys["cut"], "cut")
	}
	if strings.ContainsRune(s.raw, '\n') {
		r.at(n, "raw is one line: a line feed would start another frame")
	}
	if strings.Trim(s.raw, " \t\r") == "" && len(r.errs) == 0 {
		r.at(n, "raw is blank: a blank line is no frame")
	}
}

// scripted reads what the server answers.
func (r *reader) scripted(n *yaml.Node, keys map[string]*yaml.Node) scripted {
	var members []string
	if t, c := keys["text"], keys["content"]; t != nil && c != nil {
		r.at(c, "content stands beside text: write the text into content")
	} else if t != nil {
		if t.Kind != yaml.ScalarNode || t.Tag != "!!str" {
			r.at(t, "text must be text, not %s", load.KindOf(t))
		}
		members = append(members, `"content":[{"type":"text","text":`+r.json(t)+`}]`)
	} else if c != nil {
		if c.Kind != yaml.SequenceNode {
			r.at(c, "content must be a list, not %s", load.KindOf(c))
		}
		members = append(members, `"content":`+r.json(c))
	} else {
		members = append(members, `"content":[]`)
	}
	if s := keys["structured"]; s != nil {
		members = append(members, `"structuredContent":`+r.object(s, "structured"))
	}
	if m := keys["_meta"]; m != nil {
		members = append(members, `"_meta":`+r.object(m, "_meta"))
	}
	e := keys["error"]
	switch {
	case e == nil:
	case e.Kind == yaml.MappingNode:
		if keys["text"] != nil || keys["content"] != nil || keys["structured"] != nil || keys["_meta"] != nil {
			r.at(e, "a JSON-RPC error stands alone; for a tool's own error write error: true")
		}
		keys := r.known(e, "error", []string{"code", "message", "data"})
		if keys["code"] == nil || keys["message"] == nil {
			r.at(e, "error needs the keys code and message")
		}
		return scripted{failure: r.json(e)}
	case r.truth(e, "error"):
		members = append(members, `"isError":true`)
	}
	return scripted{members: strings.Join(members, ",")}
}

// wants reads what a judged step expects. What can never be checked is an error, so that no step looks stricter than
// it is.
func (r *reader) wants(s *step, n *yaml.Node, keys map[string]*yaml.Node) {
	if keys["want"] == nil {
		r.at(n, "a %s step needs the key want", s.kind)
		return
	}
	s.want = r.wanted(keys["want"])
	for name, into := range map[string]*string{"contract": &s.contract, "origin": &s.origin, "reason": &s.reason} {
		if keys[name] != nil {
			*into = r.text(keys[name], name)
		}
	}
	asks := slices.Contains(s.want, ask)
	for _, name := range []string{"answer", "then"} {
		if keys[name] != nil && !asks {
			r.at(keys[name], "%s is for a step that wants ask", name)
		}
	}
	s.answer, s.then = answerNobody, deny
	if a := keys["answer"]; a != nil {
		s.answer = r.choice(a, "answer", answers)
	}
	if approves(s.answer) {
		s.then = allow
	}
	if t := keys["then"]; t != nil {
		s.then = r.choice(t, "then", []string{allow, deny})
	}
	if ret := keys["returns"]; ret != nil {
		if !slices.Contains(s.want, allow) && !(asks && s.then == allow) {
			r.at(ret, "returns is for a step whose call can reach the server")
		}
		s.returns = r.scripted(ret, r.known(ret, "returns", answerKeys))
	}
}

func (r *reader) wanted(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		return []string{r.choice(n, "want", verdicts)}
	}
	var out []string
	for _, item := range n.Content {
		v := r.choice(item, "each item of want", verdicts)
		if slices.Contains(out, v) {
			r.at(item, "want has %s twice", v)
		}
		out = append(out, v)
	}
	if len(out) == 0 || len(out) == len(verdicts) {
		r.at(n, "want must name at least one verdict and not all of them: the step could never fail")
	}
	return out
}

// name says which step this is, for people.
func (s step) name() string {
	switch s.kind {
	case kindCall, kindResult:
		return fmt.Sprintf("%s %s", s.kind, show(s.tool))
	case kindMessage:
		return fmt.Sprintf("%s %s", s.kind, show(s.method))
	}
	return string(s.kind)
}
