package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/shell"
)

// readCommand reads a text as a shell does, so that quotes, variables, substitutions and commands in commands hide neither a
// write to a guarded file nor a command of Bouncer's (A76): boun""cer approve, cd ~/.claude && echo x > settings.json.
// What is known only when it runs is no reason for guard to deny: it is judged as a command elsewhere, or is a limit.
func readCommand(text, param string, home []Reading) []Finding {
	for _, e := range shell.Read(text, shell.Options{Home: userHome(home)}) {
		switch {
		case e.Kind == shell.Run:
			return []Finding{deny(Guard, param, "%s runs a command of Bouncer that only a person may", param)}
		case e.Kind != shell.Write && e.Kind != shell.ReadFile:
		case touchesHome(e, home):
			return []Finding{deny(Guard, param, "%s names Bouncer's own files in a command, which no tool may", param)}
		case e.Kind == shell.ReadFile:
		case isStartFile(known(e.Path)):
			return []Finding{deny(Guard, param, "%s writes a file that a shell or a login runs, which no tool may", param)}
		case isClientFile(known(e.Path), e.Tree || strings.Contains(e.Path, "*")):
			return []Finding{deny(Guard, param, "%s writes a file that says which servers and hooks a client runs, which no tool may", param)}
		}
	}
	return nil
}

// known is the path of an effect, as far as it is known: without its beginning where that is open, and of a pattern the
// directory in which it matches.
func known(p string) string {
	if rest := p[strings.LastIndexByte(p, '*')+1:]; strings.HasPrefix(rest, "/") {
		return rest
	}
	if before, _, pattern := strings.Cut(p, "*"); pattern {
		return path.Dir(before + "x")
	}
	return p
}

func touchesHome(e shell.Effect, home []Reading) bool {
	p := known(e.Path)
	if strings.Contains(strings.ToLower(p)+"/", "/"+homeName+"/") || insideAnyCase(p, home) {
		return true
	}
	return e.Kind == shell.Write && e.Tree && slices.ContainsFunc(home, func(h Reading) bool {
		return inside(h.Lexical, p) || inside(h.Resolved, p)
	})
}

// userHome is what ~ means to a command: the directory of the Bouncer home where that has its usual place. Without it any name
// does, for the ends of paths are compared.
func userHome(home []Reading) string {
	for _, h := range home {
		if dir, name := path.Split(h.Lexical); name == homeName {
			return path.Clean(dir)
		}
	}
	return "/~"
}

// line is a command that stands in several arguments: {command: bouncer, args: [approve, abc]}.
type line struct{ param, text string }

// argumentLists are the names under which servers take the words after a command.
var argumentLists = []string{"args", "arguments", "argv", "params", "parameters", "options"}

func commandLines(args jsonrpc.Value) (out []line) {
	var after []string
	for _, m := range args.Members {
		if slices.Contains(argumentLists, strings.ToLower(m.Name)) {
			after = append(after, wordsOf(m.Value)...)
		}
	}
	for _, m := range args.Members {
		if !slices.Contains(commandArguments, strings.ToLower(m.Name)) {
			continue
		}
		switch words := wordsOf(m.Value); {
		case m.Value.Kind == jsonrpc.Array && len(words) > 0:
			out = append(out, line{m.Name, strings.Join(append(words, after...), " ")})
		case len(words) == 1 && len(after) > 0:
			out = append(out, line{m.Name, m.Value.Text + " " + strings.Join(after, " ")}, line{m.Name, strings.Join(append(words, after...), " ")})
		}
	}
	return out
}

// wordsOf quotes the texts of an argument, so that each is one word.
func wordsOf(v jsonrpc.Value) (out []string) {
	switch v.Kind {
	case jsonrpc.String:
		return []string{"'" + strings.ReplaceAll(v.Text, "'", `'\''`) + "'"}
	case jsonrpc.Array:
		for _, e := range v.Elems {
			if e.Kind == jsonrpc.String {
				out = append(out, wordsOf(e)...)
			}
		}
	}
	return out
}
