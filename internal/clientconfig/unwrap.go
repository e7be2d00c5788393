package clientconfig

import (
	"errors"
	"fmt"

	"github.com/tailscale/hujson"
)

// unwrapEntry takes a wrap back, insertion by insertion, in whatever shape the user or the client has left the entry
// since: an argument that was added at the end stays, so does an edited command behind --, and a file that a client
// wrote anew in its own style is unwrapped in that style.
func unwrapEntry(text []byte, f form) ([]byte, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	stash, hasStash := member(v, Sentinel)
	_, stashIsObject := stash.Value.Value.(*hujson.Object)
	if hasStash && !stashIsObject {
		return nil, fmt.Errorf("its %s is not an object", Sentinel)
	}
	s, reason := readShape(v, f)
	if reason != "" {
		return nil, errors.New(reason)
	}
	if f.list {
		return takeOutOfList(text, v, s, f)
	}
	if len(s.args) > 0 && s.args[0] == "run" { // else the user has taken Bouncer out and left the stash
		if text, err = takeOut(text, v, s, stash.Value, hasStash, f); err != nil {
			return nil, err
		}
	}
	if hasStash {
		return removeMember(text, Sentinel)
	}
	return text, nil
}

// takeOut puts the real command back in front and takes Bouncer's part out of args.
func takeOut(text []byte, v hujson.Value, s shape, stash hujson.Value, hasStash bool, f form) ([]byte, error) {
	command, _ := member(v, f.key)
	args, _ := member(v, "args")
	old, oldHas := member(stash, "args")
	if s.dash < 0 || s.dash+1 == len(s.args) { // started from the stash alone
		return fromStash(text, command, args, stash)
	}
	list := args.Value.Value.(*hujson.Array)
	real := list.Elements[s.dash+1]
	edits := []splice{{command.Value.StartOffset, command.Value.EndOffset, real.Value.(hujson.Literal)}}
	empty := len(s.args) == s.dash+2 && isSpace(list.AfterExtra)
	_, joined := s.ownName()
	switch {
	case empty && (hasStash && !oldHas || !hasStash && f.inline && joined):
		return removeMember(apply(text, edits), "args")
	case empty && hasStash && isNull(old.Value):
		edits = append(edits, splice{args.Value.StartOffset, args.Value.EndOffset, old.Value.Value.(hujson.Literal)})
	default:
		edits = append(edits, splice{list.Elements[0].StartOffset, frontEnd(text, list, s.dash+1), nil})
	}
	return apply(text, edits), nil
}

// takeOutOfList takes Bouncer's part out of a command that is one list.
func takeOutOfList(text []byte, v hujson.Value, s shape, f form) ([]byte, error) {
	if s.dash < 0 || s.dash+1 == len(s.args) {
		return nil, errors.New("it names no command after --")
	}
	command, _ := member(v, f.key)
	list := command.Value.Value.(*hujson.Array)
	return apply(text, []splice{{list.Elements[0].StartOffset, frontEnd(text, list, s.dash+1), nil}}), nil
}

// frontEnd returns where Bouncer's part of args, whose last element is the i-th, ends.
func frontEnd(text []byte, list *hujson.Array, i int) int {
	last := list.Elements[i]
	end := last.EndOffset + len(last.AfterExtra)
	if end >= len(text) || text[end] != ',' {
		return last.EndOffset
	}
	if i+1 == len(list.Elements) {
		return end + 1 // a trailing comma of a list that is empty now
	}
	if next := list.Elements[i+1]; isSpace(next.BeforeExtra) {
		return next.StartOffset
	}
	return end + 1 // the user's comment stands before the next one
}

// fromStash restores an entry that names no command after --.
func fromStash(text []byte, command, args hujson.ObjectMember, stash hujson.Value) ([]byte, error) {
	old, ok := member(stash, "command")
	if name, isString := stringOf(old.Value); !ok || !isString || name == "" {
		return nil, fmt.Errorf("its %s has no command", Sentinel)
	}
	edits := []splice{{command.Value.StartOffset, command.Value.EndOffset, old.Value.Value.(hujson.Literal)}}
	oldArgs, ok := member(stash, "args")
	if !ok {
		return removeMember(apply(text, edits), "args")
	}
	packed := oldArgs.Value.Clone()
	packed.BeforeExtra, packed.AfterExtra = nil, nil
	return apply(text, append(edits, splice{args.Value.StartOffset, args.Value.EndOffset, packed.Pack()})), nil
}

// removeMember removes one member and one comma. A comment beside them stays: it is the user's.
func removeMember(text []byte, name string) ([]byte, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	i := memberIndex(v, name)
	if i < 0 {
		return text, nil
	}
	all := v.Value.(*hujson.Object).Members
	m := all[i]
	comma := m.Value.EndOffset + len(m.Value.AfterExtra)
	switch {
	case i > 0:
		before := all[i-1].Value
		if isSpace(before.AfterExtra) && isSpace(m.Name.BeforeExtra) {
			return apply(text, []splice{{before.EndOffset, m.Value.EndOffset, nil}}), nil
		}
		at := before.EndOffset + len(before.AfterExtra)
		return apply(text, []splice{{at, at + 1, nil}, {m.Name.StartOffset, m.Value.EndOffset, nil}}), nil
	case len(all) > 1 && isSpace(all[1].Name.BeforeExtra):
		return apply(text, []splice{{m.Name.StartOffset, all[1].Name.StartOffset, nil}}), nil
	case comma < len(text) && text[comma] == ',':
		return apply(text, []splice{{m.Name.StartOffset, comma + 1, nil}}), nil
	default:
		return apply(text, []splice{{m.Name.StartOffset, m.Value.EndOffset, nil}}), nil
	}
}
