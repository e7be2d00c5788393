package hook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/shell"
)

// call is one thing that a native tool does, as it is judged.
type call struct {
	tool  string
	args  []byte
	facts bool   // it is judged by what the session knows
	why   string // in place of the reason, where the gate cannot know it
	never string // it is refused without a look
}

// plain are the tools that stay with the client and name no place: nothing to judge.
var plain = strings.Fields(`Agent Task TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoWrite TodoRead BashOutput KillBash KillShell
	ExitPlanMode EnterPlanMode AskUserQuestion ListAgents ReportFindings Skill SlashCommand ToolSearch ListMcpResourcesTool ReadMcpResourceTool
	StructuredOutput LSP EnterWorktree ExitWorktree`)

// paths are the tools that take files, with the argument that names one.
var paths = map[string]string{"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path",
	"Read": "file_path", "NotebookRead": "notebook_path", "Glob": "path", "Grep": "path", "LS": "path"}

var readers = []string{"Read", "NotebookRead", "Glob", "Grep", "LS"}

// callsOf reads what a native tool would do. strange is set for a tool that is not known: it is judged like one of a server
// that nobody has described.
func (h *Hook) callsOf(e event) (calls []call, strange bool, err error) {
	text := func(name string) (string, error) {
		v, has := e.input.Get(name)
		if has && v.Kind != jsonrpc.String {
			return "", fmt.Errorf("%s of %s is no text", name, e.tool)
		}
		return v.Text, nil
	}
	switch {
	case slices.Contains(plain, e.tool):
		return nil, false, nil
	case e.tool == "Bash" || e.tool == "Monitor":
		command, err := text("command")
		if err != nil || command == "" {
			return nil, false, err
		}
		return h.shell(command, e.dir), false, nil
	case e.tool == "PowerShell":
		command, err := text("command")
		return []call{{tool: bash, args: object("command", command)},
			{tool: bashUnknown, args: object("words", command), facts: true, why: "commands of PowerShell cannot be read"}}, false, err
	case e.tool == webFetch:
		url, err := text("url")
		return []call{{tool: webFetch, args: object("url", url), facts: true}}, false, err
	case e.tool == webSearch:
		query, err := text("query")
		return []call{{tool: webSearch, args: object("query", query), facts: true}}, false, err
	case paths[e.tool] != "":
		path, err := text(paths[e.tool])
		if err != nil || path == "" {
			return nil, false, err
		}
		tool := write
		if slices.Contains(readers, e.tool) {
			tool = read
		}
		return []call{{tool: tool, args: object(paths[e.tool], path)}}, false, nil
	}
	return []call{{tool: e.tool, args: e.input.Raw, facts: true}}, true, nil
}

// shell reads a command as what it does. The command as a whole comes first: guard looks at its words.
func (h *Hook) shell(command, dir string) []call {
	out := []call{{tool: bash, args: object("command", command)}}
	for _, e := range h.cfg.Shell(command, shell.Options{Dir: dir, Home: h.cfg.UserHome}) {
		out = append(out, effect(e)...)
	}
	return out
}

func effect(e shell.Effect) []call {
	unknown := call{tool: bashUnknown, args: object("words", e.Command), facts: true, why: unclear(e)}
	var to []string
	local := 0
	for _, d := range e.Destinations {
		if e.Kind == shell.Fetch && loopback(d.Host()) {
			local++
			continue
		}
		spelled, same := spelling(d)
		to = append(to, spelled)
		if !same {
			unknown.why = fmt.Sprintf("where %s leads to cannot be told", visible(d.Raw))
			return []call{unknown}
		}
	}
	switch e.Kind {
	case shell.Fetch:
		if len(to) == 0 && local > 0 { // a server of this machine's: nothing leaves
			return nil
		}
		if len(to) == 0 {
			return []call{unknown}
		}
		return []call{{tool: bashFetch, args: object("url", to...), facts: true}}
	case shell.Send, shell.Publish:
		if len(to) == 0 {
			return []call{unknown}
		}
		tool := bashSend
		if e.Kind == shell.Publish {
			tool = bashPublish
		}
		args := object("to", to...)
		args = append(args[:len(args)-1], `,"words":`...)
		return []call{{tool: tool, args: append(append(args, jsonrpc.Quote(e.Command)...), '}'), facts: true}}
	case shell.Write:
		return writing(e, unknown)
	case shell.ReadFile:
		return []call{{tool: read, args: object("file_path", e.Path)}}
	case shell.Run:
		return []call{{tool: bash, never: "the command runs a command of Bouncer that only a person may"}}
	}
	return []call{unknown} // what this version does not know is no reason to allow
}

// writing is a write to a place. Of one that is known in part, everything below that part is meant.
func writing(e shell.Effect, unknown call) []call {
	path, tool := e.Path, write
	if e.Tree {
		tool = remove
	}
	if before, _, pattern := strings.Cut(path, "*"); pattern {
		at := strings.LastIndexByte(before, '/')
		if at < 0 {
			unknown.why = fmt.Sprintf("which file %s writes is known when it runs and not before", visible(e.Command))
			return []call{unknown}
		}
		path, tool = before[:at+1], remove
	}
	return []call{{tool: tool, args: object("file_path", path)}}
}

func unclear(e shell.Effect) string {
	what := e.Why
	if what == "" {
		what = "it names no destination"
	}
	return fmt.Sprintf("the command cannot be judged: %s (%s)", visible(what), visible(e.Command))
}

// spelling returns a text that reads as d again, for the gate reads the arguments of a call for itself.
func spelling(d destination.Destination) (text string, same bool) {
	for _, text := range []string{d.Raw, d.Canonical} {
		ds := destination.Parse(text)
		if len(ds) == 1 && ds[0].Kind == d.Kind && ds[0].Canonical == d.Canonical && (d.Ambiguous == "" || ds[0].Ambiguous != "") {
			return text, true
		}
	}
	return d.Raw, d.Kind == destination.Opaque && d.Ambiguous == ""
}

// object writes a call's arguments: one of them, as a text or as a list of texts.
func object(name string, values ...string) []byte {
	b := append([]byte{'{'}, jsonrpc.Quote(name)...)
	b = append(b, ':')
	if len(values) != 1 {
		b = append(b, '[')
	}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, jsonrpc.Quote(v)...)
	}
	if len(values) != 1 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func opaque(text string) destination.Destination {
	return destination.Destination{Kind: destination.Opaque, Raw: text, Canonical: text}
}

func visible(text string) string { return destination.Visible(text, 120) }

// loopback is the machine itself, spelled so that every program reads it so.
func loopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "[::1]"
}
