package hook

import (
	"strings"
	"sync"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/pin"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// The names under which native tools are judged, and by which a policy may speak of them. A shell command is judged by what
// it does: what it fetches as WebFetch, what it reads as Read.
const (
	webFetch    = "WebFetch"
	webSearch   = "WebSearch"
	bash        = "Bash"         // the command as a whole: guard alone
	bashFetch   = "Bash.fetch"   // what it asks a server for
	bashSend    = "Bash.send"    // data that a command sends
	bashPublish = "Bash.publish" // what it makes readable by others
	bashUnknown = "Bash.unknown" // what cannot be known before it runs
	read        = "Read"
	write       = "Write"
	remove      = "Remove" // takes whole directories away
)

var (
	fetching = strings.Fields(`read visit open fetch get browse check look see summarize summarise find search download view show navigate
		crawl scrape review use follow curl wget clone pull install run ping query call test try request load import`)
	sending = strings.Fields(`send upload post put push copy transfer deliver submit share sync back backup mail email e-mail message
		forward write reply report deploy curl scp rsync notify call run`)
	publishing = strings.Fields(`publish release push deploy upload ship submit`)
)

// known are the rules of native tools, as a pack for the server that stands for the client. A user's policy may replace them.
var known = sync.OnceValue(func() policy.PackRules {
	param := policy.MustParam
	rules := map[string]policy.Rule{
		webFetch: {Exfiltrating: true, Fetch: true, Intent: fetching, SinkParams: []policy.Param{param("url")}, Content: []policy.Param{param("prompt")},
			Sinks: []policy.Sink{{Args: []policy.Param{param("url")}, Kind: policy.KindURL}}, Why: "it fetches a page"},
		webSearch: {Exfiltrating: true, Fetch: true, Intent: fetching, SinkParams: []policy.Param{param("query")},
			Sinks: []policy.Sink{{Args: []policy.Param{param("query")}, Kind: policy.KindText, Optional: true}}, Why: "it looks a text up"},
		bashFetch: {Exfiltrating: true, Fetch: true, Verbatim: policy.Deny, Intent: fetching, SinkParams: []policy.Param{param("url")},
			Sinks: []policy.Sink{{Args: []policy.Param{param("url")}, Kind: policy.KindURL}}, Why: "the command fetches, and may run what it fetched"},
		bashSend: {Exfiltrating: true, Intent: sending, SinkParams: []policy.Param{param("to")}, Content: []policy.Param{param("words")},
			Why: "the command sends"},
		bashPublish: {Exfiltrating: true, Intent: publishing, SinkParams: []policy.Param{param("to")}, Content: []policy.Param{param("words")},
			Why: "the command publishes"},
		bashUnknown: {RequireApproval: true, Why: "what the command does is known when it runs and not before"},
		bash:        {}, read: {}, write: {}, remove: {},
	}
	for name, r := range rules {
		r.Tool, r.Layer, r.Pack = name, policy.Pack, Server
		rules[name] = r
	}
	return policy.PackRules{Name: Server, Packages: []string{Server}, Tools: rules}
})

// arguments are what the native tools declare. What has none here is judged by its names alone.
var arguments = map[string][]string{
	webFetch: {"url", "prompt"}, webSearch: {"query"}, bashFetch: {"url"}, bashSend: {"to", "words"}, bashPublish: {"to", "words"},
	bashUnknown: nil, bash: nil, read: nil, write: nil, remove: nil,
}

// definition is a native tool as if a server had listed it.
func definition(name string, args []string) jsonrpc.Value {
	var b strings.Builder
	b.WriteString(`{"name":` + string(jsonrpc.Quote(name)) + `,"inputSchema":{"type":"object","properties":{`)
	for i, arg := range args {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(jsonrpc.Quote(arg)) + `:{"type":["string","array","object","number"]}`)
	}
	b.WriteString("}}}")
	v, err := jsonrpc.Decode([]byte(b.String()))
	if err != nil {
		panic("hook: a definition cannot be read: " + err.Error())
	}
	return v
}

// pinned lists the native tools, and one that is not known with the arguments that it was called with. They are part of the client:
// nobody changes them behind its back.
func pinned(stranger string, args []string) *pin.Book {
	var list []jsonrpc.Value
	for name, own := range arguments {
		if name != stranger {
			list = append(list, definition(name, own))
		}
	}
	if stranger != "" {
		list = append(list, definition(stranger, args))
	}
	b := &pin.Book{}
	b.Pin(list)
	return b
}
