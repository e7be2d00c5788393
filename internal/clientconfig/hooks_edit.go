package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// settingOff names the setting that turns all hooks off, if it is there.
func settingOff(text []byte) string {
	v, err := hujson.Parse(text)
	if err != nil {
		return ""
	}
	m, _ := member(v, "disableAllHooks")
	if lit, ok := m.Value.Value.(hujson.Literal); ok && lit.Kind() == 't' {
		return "disableAllHooks"
	}
	return ""
}

// commandIn returns the command line of Bouncer's hook in a settings file.
func commandIn(text []byte) (command string) {
	v, err := hujson.Parse(text)
	if err != nil {
		return ""
	}
	hooks, _ := member(v, "hooks")
	for _, event := range answeredEvents {
		list, _ := member(hooks.Value, event)
		if groups, ok := list.Value.Value.(*hujson.Array); ok {
			for i := range groups.Elements {
				if own := ownCommand(groups.Elements[i]); own != "" {
					return own
				}
			}
		}
	}
	return ""
}

// ownCommand returns the command of a group of hooks that is Bouncer's as a whole.
func ownCommand(group hujson.Value) string {
	hooks, _ := member(group, "hooks")
	list, ok := hooks.Value.Value.(*hujson.Array)
	if !ok || len(list.Elements) != 1 {
		return ""
	}
	command, _ := member(list.Elements[0], "command")
	text, _ := stringOf(command.Value)
	if !ownHook.MatchString(text) {
		return ""
	}
	return text
}

// group is the text of Bouncer's entry under one event.
func group(event, command string) any {
	type entry struct {
		Type      string `json:"type"`
		Command   string `json:"command"`
		Timeout   int    `json:"timeout"`
		OnFailure string `json:"onFailure"`
	}
	type group struct {
		Matcher string  `json:"matcher,omitempty"`
		Hooks   []entry `json:"hooks"`
	}
	g := group{Hooks: []entry{{"command", command, hookTimeout, "block"}}}
	if strings.HasSuffix(event, "ToolUse") || strings.HasSuffix(event, "ToolUseFailure") {
		g.Matcher = "*"
	}
	return g
}

// emptyOnes lists the containers that are there and empty, by name.
func emptyOnes(text []byte) (out []string) {
	v, err := hujson.Parse(text)
	if err != nil {
		return nil
	}
	hooks, has := member(v, "hooks")
	if !has {
		return nil
	}
	if o, ok := hooks.Value.Value.(*hujson.Object); ok && len(o.Members) == 0 {
		return []string{"hooks"}
	}
	for _, event := range answeredEvents {
		if list, has := member(hooks.Value, event); has {
			if a, ok := list.Value.Value.(*hujson.Array); ok && len(a.Elements) == 0 {
				out = append(out, event)
			}
		}
	}
	return out
}

func keptBy(command string) []string {
	_, names, _ := strings.Cut(command, " --kept ")
	names, _, _ = strings.Cut(names, " ")
	return strings.Split(names, ",")
}

func withKept(command string, kept []string) string {
	if len(kept) == 0 {
		return command
	}
	return command + " --kept " + strings.Join(kept, ",")
}

func indented(v any, gap []byte) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	line := bytes.TrimLeft(gap, "\r\n")
	if len(line) < len(gap) {
		unit := "  "
		if bytes.Contains(line, []byte("\t")) {
			unit = "\t"
		} else if len(line) > 0 && len(line)%4 == 0 {
			unit = string(line[:4])
		}
		e.SetIndent(string(line), unit)
	}
	if err := e.Encode(v); err != nil {
		panic("clientconfig: a hook cannot be written: " + err.Error())
	}
	out := bytes.TrimRight(b.Bytes(), "\n")
	if bytes.HasPrefix(gap, []byte("\r\n")) {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	return out
}

// insertHooks adds a group under each event.
func insertHooks(text []byte, command string, kept []string) ([]byte, error) {
	command = withKept(command, kept)
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, errors.New("it is not JSON: " + err.Error())
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	if twice(root, "hooks") {
		return nil, errors.New(`it has "hooks" twice`)
	}
	gap := gapOf(root)
	hooks, has := member(v, "hooks")
	if !has {
		all := orderedHooks{}
		for _, event := range answeredEvents {
			all = append(all, hookOf{event, []any{group(event, command)}})
		}
		return apply(text, []splice{addMember(v, root, gap, "hooks", indented(all, gap))}), nil
	}
	events, ok := hooks.Value.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("its hooks are not an object")
	}
	inner := gapOf(events)
	if len(events.Members) == 0 {
		inner = deeper(gap)
	}
	for _, event := range answeredEvents { // each on the text that the one before left
		if text, err = insertHook(text, event, command, inner); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func insertHook(text []byte, event, command string, gap []byte) ([]byte, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	hooks, _ := member(v, "hooks")
	events := hooks.Value.Value.(*hujson.Object)
	if twice(events, event) {
		return nil, fmt.Errorf("it has %q twice", event)
	}
	list, has := member(hooks.Value, event)
	if !has {
		return apply(text, []splice{addMember(hooks.Value, events, gap, event, indented([]any{group(event, command)}, gap))}), nil
	}
	groups, ok := list.Value.Value.(*hujson.Array)
	if !ok {
		return nil, fmt.Errorf("its hooks for %s are not a list", event)
	}
	one := indented(group(event, command), deeper(gap))
	if len(groups.Elements) == 0 {
		at := list.Value.StartOffset + 1
		return apply(text, []splice{{at, at, one}}), nil
	}
	at := groups.Elements[len(groups.Elements)-1].EndOffset
	return apply(text, []splice{{at, at, slices.Concat([]byte(","), deeper(gap), one)}}), nil
}

// hookOf is a member of an object whose members keep their order.
type hookOf struct {
	event  string
	groups []any
}

type orderedHooks []hookOf

// MarshalJSON implements json.Marshaler.
func (o orderedHooks) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, h := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:", h.event)
		if err := e.Encode(h.groups); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func twice(o *hujson.Object, name string) bool {
	n := 0
	for i := range o.Members {
		if textOf(o.Members[i].Name) == name {
			n++
		}
	}
	return n > 1
}

// gapOf is what stands in front of a member of o.
func gapOf(o *hujson.Object) []byte {
	if len(o.Members) == 0 {
		return []byte("\n  ")
	}
	return styleOf(o, o.Members[0]).between
}

// deeper is one step further in than gap.
func deeper(gap []byte) []byte {
	line := bytes.TrimLeft(gap, "\r\n")
	switch {
	case len(line) == len(gap):
		return gap // all on one line
	case bytes.Contains(line, []byte("\t")):
		return append(slices.Clone(gap), '\t')
	case len(line) > 0 && len(line)%4 == 0:
		return append(slices.Clone(gap), "    "...)
	}
	return append(slices.Clone(gap), "  "...)
}

// addMember is the insertion of a member behind the last one, or of the first.
func addMember(v hujson.Value, o *hujson.Object, gap []byte, name string, value []byte) splice {
	text := slices.Concat(hujson.String(name), []byte(": "), value)
	if len(o.Members) == 0 {
		at := v.StartOffset + 1
		return splice{at, at, text}
	}
	at := o.Members[len(o.Members)-1].Value.EndOffset
	return splice{at, at, slices.Concat([]byte(","), gap, text)}
}

// removeHooks takes every group of Bouncer's out, and what became empty by that.
func removeHooks(text []byte) ([]byte, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, errors.New("it is not JSON: " + err.Error())
	}
	kept := keptBy(commandIn(text))
	hooks, has := member(v, "hooks")
	events, ok := hooks.Value.Value.(*hujson.Object)
	if !has || !ok {
		return text, nil
	}
	taken := false
	for i := range events.Members {
		event := textOf(events.Members[i].Name)
		changed := false
		if text, changed, err = removeFrom(text, event, slices.Contains(kept, event)); err != nil {
			return nil, err
		}
		taken = taken || changed
	}
	if !taken || slices.Contains(kept, "hooks") {
		return text, nil
	}
	if v, err = hujson.Parse(text); err != nil {
		return nil, err
	}
	hooks, _ = member(v, "hooks")
	if left, ok := hooks.Value.Value.(*hujson.Object); ok && len(left.Members) == 0 && isSpace(left.AfterExtra) {
		return removeMember(text, "hooks")
	}
	return text, nil
}

// removeFrom takes Bouncer's groups of one event out. The event goes with the last of them, unless it was there before.
func removeFrom(text []byte, event string, keep bool) (out []byte, changed bool, err error) {
	for {
		v, err := hujson.Parse(text)
		if err != nil {
			return nil, false, err
		}
		hooks, _ := member(v, "hooks")
		list, _ := member(hooks.Value, event)
		groups, ok := list.Value.Value.(*hujson.Array)
		if !ok {
			return text, changed, nil
		}
		i := slices.IndexFunc(groups.Elements, func(g hujson.Value) bool { return ownCommand(g) != "" })
		if i < 0 {
			if changed && !keep && len(groups.Elements) == 0 && isSpace(groups.AfterExtra) {
				inner := hooks.Value
				piece, err := removeMember(bytes.Clone(text[inner.StartOffset:inner.EndOffset]), event)
				if err != nil {
					return nil, false, err
				}
				return apply(text, []splice{{inner.StartOffset, inner.EndOffset, piece}}), true, nil
			}
			return text, changed, nil
		}
		text, changed = apply(text, []splice{cutElement(groups, i)}), true
	}
}

// cutElement takes an element and one comma out.
func cutElement(list *hujson.Array, i int) splice {
	e := list.Elements[i]
	switch {
	case i > 0:
		return splice{list.Elements[i-1].EndOffset, e.EndOffset, nil}
	case len(list.Elements) > 1:
		return splice{e.StartOffset, list.Elements[1].StartOffset, nil}
	}
	return splice{e.StartOffset, e.EndOffset, nil}
}
