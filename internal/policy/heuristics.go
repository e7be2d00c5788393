package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// destructiveBudget is how often a session may call a tool that deletes things, when nobody has said otherwise.
const destructiveBudget = 2

// Heuristics returns the rule for a tool that neither the user nor a pack knows, made from its name and its input
// schema alone. It errs on the side of judging too much: a question too many is an annoyance, one too few a leak. A
// schema that cannot be read as a whole makes every argument a sink; a tool that sends without saying where to has no
// sink at all, and its destination is unknown. Annotations count only where they tighten.
func Heuristics(tool Tool) Rule {
	r := Rule{Tool: tool.Name, Layer: Heuristic}
	args, broken := declared(tool.InputSchema)
	verbs := toolWords(tool.Name)
	reader := plainReader(tool, verbs)
	var why []string
	if broken != "" {
		r.Exfiltrating = true
		why = append(why, broken+", so every argument counts as a destination")
	} else {
		for _, s := range shaped(args, verbs) {
			if reader && !s.contacts {
				continue
			}
			r.SinkParams = append(r.SinkParams, s.param)
			why = append(why, fmt.Sprintf("argument %q names %s", s.param.String(), s.what))
		}
		if reader && lookups.any(verbs) {
			for _, p := range queries(args) {
				r.Sinks = append(r.Sinks, Sink{Args: []Param{p}, Kind: KindText, Optional: true})
				r.SinkParams = append(r.SinkParams, p)
				why = append(why, fmt.Sprintf("a link in argument %q is looked up", p.String()))
			}
		}
		r.Exfiltrating = len(r.SinkParams) > 0
		if word, ok := sends(verbs); ok && !reader && !r.Exfiltrating {
			r.Exfiltrating = true
			r.Content = leaves(args)
			why = append(why, fmt.Sprintf("%q in its name sends, and no argument says where to", word))
		}
	}
	if writeVerbs.any(verbs) {
		r.WriteParams = pathParams(args, verbs)
	}
	if word, ok := destructive(verbs); ok {
		budget := destructiveBudget
		r.MaxCalls = &budget
		why = append(why, fmt.Sprintf("%q in its name takes things away", word))
	}
	if c, word := consequenceOf(tool, args, verbs); c != nil {
		r.Consequence = c
		if r.MaxCalls == nil {
			why = append(why, fmt.Sprintf("%q in its name changes things for good", word))
		}
	}
	r.Fetch = reader && r.Exfiltrating
	r.Why = summary(why)
	return r
}

// Shaped returns every argument of the tool that looks like a destination or like a path, whatever the tool does with
// it: what a pack has to declare, or to list as content.
func Shaped(tool Tool) (sinks, paths []Param) {
	args, _ := declared(tool.InputSchema)
	verbs := toolWords(tool.Name)
	for _, s := range shaped(args, verbs) {
		sinks = append(sinks, s.param)
	}
	return sinks, pathParams(args, verbs)
}

// Reads reports whether the tool's name says that it reads, and nothing says that it does more.
func Reads(tool Tool) bool { return plainReader(tool, toolWords(tool.Name)) }

// summary keeps a Why readable: tools with hundreds of arguments exist.
func summary(why []string) string {
	const most = 6
	switch {
	case len(why) == 0:
		return "nothing in its name or arguments looks like a destination"
	case len(why) > most:
		return fmt.Sprintf("%s; and %d more", strings.Join(why[:most], "; "), len(why)-most)
	}
	return strings.Join(why, "; ")
}

type sink struct {
	param    Param
	what     string // for people: "a recipient"
	contacts bool   // using it at all carries data there (a URL): it counts for tools that only read, too
}

// shaped returns the destination-shaped arguments. An object whose own name is shaped like one stands for all it
// holds, unless something inside it is shaped itself: attendees[] is sharpened to attendees.email.
func shaped(args []argument, verbs []string) []sink {
	var out []sink
	taken := map[string]bool{}            // the places of out, and everything around them
	for i := len(args) - 1; i >= 0; i-- { // inner before outer
		a := args[i]
		class, ok := classify(a, verbs)
		if !ok || taken[a.place()] {
			continue
		}
		p := a.param()
		for n := range p.steps {
			taken[place(a.path[:n+1])] = true
		}
		out = append(out, sink{p, class.what, class.contacts})
	}
	slices.Reverse(out)
	return out
}

// toolWords returns the words of a tool's name.
func toolWords(name string) []string {
	if len(name) > 1000 { // hostile: its words would not change the answer
		name = name[:1000]
	}
	return words(name)
}

// plainReader reports whether the tool's name says that it reads, and nothing says that it does more.
func plainReader(tool Tool, verbs []string) bool {
	if !saysReads(verbs) {
		return false
	}
	if _, ok := destructive(verbs); ok {
		return false
	}
	hints, _ := tool.Definition.Get("annotations")
	readOnly, _ := hints.Get("readOnlyHint")
	destroys, _ := hints.Get("destructiveHint")
	return !isBool(readOnly, "false") && !isBool(destroys, "true")
}

// saysReads reports whether a name is that of a reader: get_commit, issue_read, but not commit_get_status.
func saysReads(verbs []string) bool {
	if len(verbs) == 0 || actVerbs.any(verbs) {
		return false
	}
	if readVerbs[verbs[len(verbs)-1]] {
		return true
	}
	for _, v := range verbs {
		switch {
		case readVerbs[v]:
			return true
		case mixedVerbs[v]:
			return false
		}
	}
	return false
}

func isBool(v jsonrpc.Value, text string) bool {
	return v.Kind == jsonrpc.Bool && v.Text == text
}

// sends returns the word of a tool's name that says it sends to somebody whom the call need not name: reply_email,
// send_draft, publish_post. After another verb it is a thing (get_broadcast, create_reply_draft), unless there are two
// acts (search_and_send).
func sends(verbs []string) (string, bool) {
	if slices.Contains(verbs, "share") && slices.Contains(verbs, "link") { // whoever has it reads (A22)
		return "share", true
	}
	two := joining.any(verbs)
	for _, v := range verbs {
		switch {
		case sendVerbs[v], publicThings[v] && (verbs[0] == "create" || verbs[0] == "make" || verbs[0] == "new" || verbs[0] == "add"):
			return v, true
		case (readVerbs[v] || makeVerbs[v] && !publicThings.any(verbs)) && !two:
			return "", false
		}
	}
	return "", false
}

// destructive returns the word of a tool's name that says it takes things away. "delete" and "remove" count inside a
// word as well (deletefile, batchdelete); "deleted" is what a reader lists.
func destructive(verbs []string) (string, bool) {
	for _, v := range verbs {
		if destroyVerbs[v] {
			return v, true
		}
		for _, part := range []string{"delete", "remove"} {
			if strings.Contains(v, part) && !strings.Contains(v, part+"d") && !strings.HasPrefix(v, "un") {
				return v, true
			}
		}
	}
	return "", false
}

// queries returns the arguments that hold what is looked up on the web.
func queries(args []argument) []Param {
	return paramsOf(args, func(a argument) bool {
		ws := words(a.name())
		return !a.inner && !numeric(a) && carriesText(a) && len(ws) > 0 && queryNouns[ws[len(ws)-1]]
	})
}

// leaves returns the arguments that hold no others.
func leaves(args []argument) []Param {
	return paramsOf(args, func(a argument) bool { return !a.inner })
}

// pathParams returns the arguments that look like paths of files.
func pathParams(args []argument, verbs []string) []Param {
	return paramsOf(args, func(a argument) bool { return !a.inner && pathShaped(a, verbs) })
}

// paramsOf returns the params of the arguments that keep accepts, each once.
func paramsOf(args []argument, keep func(argument) bool) []Param {
	var out []Param
	taken := map[string]bool{}
	for _, a := range args {
		if keep(a) && !taken[a.place()] {
			taken[a.place()] = true
			out = append(out, a.param())
		}
	}
	return out
}
