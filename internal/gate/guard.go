package gate

import (
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// homeName is the usual name of the Bouncer home. A text that holds it where a path or command is meant is close enough.
const homeName = ".bouncer"

// guard keeps the agent from opening the door for itself: no tool of any server may touch the Bouncer home or run the
// commands that approve, whatever the policy says (A76).
func guard(c Call, r Rules) []Finding {
	var out []Finding
	command := takesCommand(c.Args)
	moves := unsettles(c.Tool)
	for _, leaf := range c.Leaves {
		path, isPath := c.Paths[leaf.Spot()]
		text := leaf.Value.Text
		switch {
		case isPath && reachesHome(path, text, c.Home, moves):
			out = append(out, deny(Guard, leaf.Path(), "%s reaches Bouncer's own files, which no tool may", leaf.Path()))
		case isPath && !r.Reader && startsShell(path):
			out = append(out, deny(Guard, leaf.Path(), "%s is a file that a shell or a login runs, which no tool may write", leaf.Path()))
		case isPath && !r.Reader && guardsClient(path, moves):
			out = append(out, deny(Guard, leaf.Path(), "%s is a file that says which servers and hooks a client runs, which no tool may write", leaf.Path()))
		case command && leaf.Value.Kind == jsonrpc.String && writesClientFile(text):
			out = append(out, deny(Guard, leaf.Path(), "%s writes a file that says which servers and hooks a client runs, which no tool may", leaf.Path()))
		case command && leaf.Value.Kind == jsonrpc.String && namesHome(text, c.Home):
			out = append(out, deny(Guard, leaf.Path(), "%s names Bouncer's own files in a command, which no tool may", leaf.Path()))
		case command && leaf.Value.Kind == jsonrpc.String && opensTheDoor(text):
			out = append(out, deny(Guard, leaf.Path(), "%s runs a command of Bouncer that only a person may", leaf.Path()))
		case command && leaf.Value.Kind == jsonrpc.String:
			out = append(out, readCommand(text, leaf.Path(), c.Home)...)
		}
	}
	if command && out == nil {
		for _, line := range commandLines(c.Args) {
			out = append(out, readCommand(line.text, line.param, c.Home)...)
		}
	}
	return out
}

// unsettles reports a tool that takes whole directories away, with whatever is in them.
func unsettles(tool string) bool {
	return slices.ContainsFunc([]string{"move", "rename", "delete", "remove", "rmdir", "trash", "unlink", "purge"}, func(verb string) bool {
		return strings.Contains(strings.ToLower(tool), verb)
	})
}

// reachesHome holds for a path with any reading inside the home; for one with the home below it, where the tool moves
// it; and for one that cannot be placed but names the home.
func reachesHome(path Path, text string, home []Reading, moves bool) bool {
	if path.Problem != "" && namesHome(text, home) {
		return true
	}
	return slices.ContainsFunc(path.Readings, func(r Reading) bool {
		if insideAnyCase(r.Lexical, home) || insideAnyCase(r.Resolved, home) {
			return true
		}
		return moves && slices.ContainsFunc(home, func(h Reading) bool {
			return inside(h.Lexical, r.Lexical) || inside(h.Resolved, r.Resolved)
		})
	})
}

// insideAnyCase is insideAny without regard to the case of letters, which some file systems do not tell apart.
func insideAnyCase(path string, dirs []Reading) bool {
	low := strings.ToLower(path)
	return slices.ContainsFunc(dirs, func(d Reading) bool {
		return inside(low, strings.ToLower(d.Lexical)) || inside(low, strings.ToLower(d.Resolved))
	})
}

// commandArguments are the names under which servers take a shell command or code. In a call that has one of them
// every text is part of a command: {command: sh, args: [-c, ...]}. Elsewhere a text may speak of the home as it likes.
var commandArguments = []string{"command", "commands", "cmd", "script", "code", "shell", "bash", "exec", "argv"}

func takesCommand(args jsonrpc.Value) bool {
	return slices.ContainsFunc(args.Members, func(m jsonrpc.Member) bool {
		return slices.Contains(commandArguments, strings.ToLower(m.Name))
	})
}

func namesHome(text string, home []Reading) bool {
	if strings.Contains(strings.ToLower(text), homeName) {
		return true
	}
	return slices.ContainsFunc(home, func(h Reading) bool {
		return h.Lexical != "" && strings.Contains(text, h.Lexical) || h.Resolved != "" && strings.Contains(text, h.Resolved)
	})
}

// personal are the commands by which a person adds trust.
var personal = []string{"approve", "approvals", "deny", "init", "intent", "pins", "hook", "ui"}

// opensTheDoor finds such a command in a text, whatever stands around it and whatever language it is in. It reads words;
// readCommand reads a shell's grammar.
func opensTheDoor(text string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()'\"`", r) })
	for i, word := range words {
		if j := strings.LastIndexAny(word, `/\`); j >= 0 {
			word = word[j+1:]
		}
		if strings.TrimSuffix(strings.ToLower(word), ".exe") != "bouncer" {
			continue
		}
		if slices.ContainsFunc(words[i+1:], func(w string) bool { return slices.Contains(personal, w) }) {
			return true
		}
	}
	return false
}
