// Package casefile reads and runs case files: one behaviour a file, written as data. The same format serves the
// project's own tests, the cases reduced from public reports, and the users' tests of their own policies.
//
// A case runs against the real relay, with an in-memory client and an in-memory scripted server, so that parsing,
// relaying and judging are tested together. A verdict counts only when the wire and the audit log agree about it.
//
// It must not decide anything about a call, must not know what any rule means, and must never let a step pass that it
// did not observe: what it cannot run is an error of the case. Case files may come from others, so a case touches
// nothing outside a scratch directory of its own.
package casefile

import (
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/proxy"
)

// Case is one case file. It is not changed by running it.
type Case struct {
	File    string
	ID      string
	Title   string
	Profile policy.Profile

	policy  policySource
	servers []server
	client  clientSpec
	files   []scratchFile
	steps   []step

	// relay replaces the relay under test by a broken one, to prove that the runner notices. nil is proxy.New.
	relay func(cfg proxy.Config, client, server proxy.Pipe) runner
}

// runner is a relay.
type runner interface{ Run() error }

// server is one scripted server of a case.
type server struct {
	name         string
	pkg          string // the configured package, which selects packs; "" for none
	reported     string // serverInfo.name
	instructions string
	tools        toolPages
}

// toolPages is what a server answers to tools/list.
type toolPages struct {
	pages   []string // each a JSON list of tools
	endless bool     // the last page names another one, for ever (A64)
}

type clientSpec struct {
	version     string
	elicitation bool
}

// modern is the first protocol version without initialize.
const modern = "2026-07-28"

func (c clientSpec) stateless() bool { return c.version >= modern }

// kind is what a step does.
type kind string

const (
	kindPrompt  kind = "prompt"
	kindResult  kind = "result"
	kindMessage kind = "message"
	kindTools   kind = "tools"
	kindCall    kind = "call"
	kindRaw     kind = "raw"
)

var kinds = []string{string(kindPrompt), string(kindResult), string(kindMessage), string(kindTools), string(kindCall), string(kindRaw)}

// step is one step of a case. Texts are templates: ${DIR} in them becomes the scratch directory.
type step struct {
	at     policy.Position
	kind   kind
	server string // "" where the case has one server

	tool    string // call, result
	args    string // call, result: a JSON object; "" when absent
	returns scripted
	prompt  string // prompt: the user's own words
	method  string // message
	params  string // message: a JSON object; "" when absent
	tools   toolPages
	raw     string // may be any bytes but a line feed
	cut     bool   // raw: the client's input ends inside this line

	want     []string
	contract string
	origin   string
	reason   string
	answer   string
	then     string
}

// The verdicts that a step can want.
const (
	allow   = "allow"
	ask     = "ask"
	deny    = "deny"
	refused = "refused"
)

var verdicts = []string{allow, ask, deny, refused}

// The answers to a question. always and never are read, so that a case can be written, and are errors when it is run.
const (
	answerOnce    = "once"
	answerSession = "session"
	answerAlways  = "always"
	answerNever   = "never"
	answerDeny    = "deny"
	answerNobody  = "nobody"
)

var answers = []string{answerOnce, answerSession, answerAlways, answerNever, answerDeny, answerNobody}

// approves reports whether an answer lets the call through.
func approves(answer string) bool {
	return answer == answerOnce || answer == answerSession || answer == answerAlways
}

// scripted is what the server answers to a tools/call. At most one of the two is set; neither is an empty result.
type scripted struct {
	members string // the result's members without braces, as JSON
	failure string // a JSON-RPC error object
}

// frame is the answer to the request with this id (spelled as JSON).
func (s scripted) frame(id string, stateless bool) string {
	head := `{"jsonrpc":"2.0","id":` + id
	if s.failure != "" {
		return head + `,"error":` + s.failure + `}`
	}
	members := s.members
	if members == "" {
		members = `"content":[]`
	}
	if stateless {
		members += `,"resultType":"complete"`
	}
	return head + `,"result":{` + members + `}}`
}
