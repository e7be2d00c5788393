package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// A wrap is three insertions and one replacement in the entry's own text:
//
//	"command"             its value becomes Bouncer's path
//	"args"                gets `"run", ..., "--", COMMAND` in front, COMMAND spelled as it was; made where there is none
//	"x-bouncer-upstream"  is added as the last member: the entry's text as it was, byte for byte
//
// Nothing else is touched, so env, cwd and variables stay where the client expands them (B37, B38), and each of these
// can be taken back on its own: an edit that the user makes in between survives (D25). wrapEntry proves that by taking
// it back before it hands anything out.
//
// Where the client may refuse a member that it does not know, the last one is left out, and the command line alone holds
// what undo needs: that there was no args is said by --name=NAME instead of --name NAME.

var errNotReversible = errors.New("wrapping it could not be taken back exactly")

var errNullArgs = errors.New("its args is null, which could not be given back: make it [], or take it out")

// wrapEntry returns the text of the entry behind bouncer. own are the flags of bouncer run, as JSON strings.
func wrapEntry(text []byte, bouncer string, own [][]byte, f form) ([]byte, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	object, ok := v.Value.(*hujson.Object)
	command, hasCommand := member(v, f.key)
	if !ok || !hasCommand || v.StartOffset != 0 || v.EndOffset != len(text) {
		return nil, fmt.Errorf("wrap entry: %w", errNotReversible)
	}
	style := styleOf(object, command)
	edits, err := commandEdits(v, style, command, bouncer, own, f)
	if err != nil {
		return nil, err
	}
	if !f.inline {
		last := object.Members[len(object.Members)-1].Value.EndOffset
		edits = append(edits, style.member(last, Sentinel, text))
	}
	wrapped := apply(text, edits)
	if back, err := unwrapEntry(wrapped, f); err != nil || !bytes.Equal(back, text) {
		return nil, errNotReversible
	}
	return wrapped, nil
}

// commandEdits puts bouncer in the place of the command, and the command behind bouncer's own arguments.
func commandEdits(v hujson.Value, style style, command hujson.ObjectMember, bouncer string, own [][]byte, f form) ([]splice, error) {
	front := slices.Concat([][]byte{[]byte(`"run"`)}, own, [][]byte{[]byte(`"--"`)})
	if f.list {
		list, ok := command.Value.Value.(*hujson.Array)
		if !ok {
			return nil, errors.New("command is not a list")
		}
		return []splice{style.prepend(command.Value, list, slices.Concat([][]byte{hujson.String(bouncer)}, front))}, nil
	}
	front = append(front, command.Value.Value.(hujson.Literal))
	edits := []splice{{command.Value.StartOffset, command.Value.EndOffset, hujson.String(bouncer)}}
	args, has := member(v, "args")
	switch list, _ := args.Value.Value.(*hujson.Array); {
	case !has:
		edits = append(edits, style.member(command.Value.EndOffset, "args", style.list(front)))
	case isNull(args.Value) && f.inline:
		return nil, errNullArgs
	case isNull(args.Value):
		edits = append(edits, splice{args.Value.StartOffset, args.Value.EndOffset, style.list(front)})
	case list == nil:
		return nil, errors.New("args is not a list")
	default:
		edits = append(edits, style.prepend(args.Value, list, front))
	}
	return edits, nil
}

// splice replaces text[from:to] with with.
type splice struct {
	from, to int
	with     []byte
}

// apply makes all edits; those at one place stand in the order in which they are given.
func apply(text []byte, edits []splice) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b splice) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.from]...), e.with...)
		at = e.to
	}
	return append(out, text[at:]...)
}

// style is how the file spaces things, so that what is inserted looks like what is there.
type style struct {
	between []byte // what stands in front of a member
	colon   []byte // between a colon and its value
	comma   []byte // after a comma in a list on one line
}

func styleOf(o *hujson.Object, command hujson.ObjectMember) style {
	s := style{colon: command.Value.BeforeExtra, comma: []byte(" ")}
	if !isSpace(s.colon) || bytes.ContainsAny(s.colon, "\r\n") {
		s.colon = []byte(" ")
	}
	if len(s.colon) == 0 {
		s.comma = nil // a file without spaces stays one
	}
	s.between = s.gap(o.Members[0].Name.BeforeExtra)
	if len(o.Members) > 1 {
		s.between = s.gap(o.Members[1].Name.BeforeExtra)
	}
	return s
}

// gap is the space that extra puts in front of a thing, without the blank lines and comments in it.
func (s style) gap(extra []byte) []byte {
	at := bytes.LastIndexByte(extra, '\n')
	if at < 0 {
		return s.comma
	}
	end := []byte("\n")
	if at > 0 && extra[at-1] == '\r' {
		end = []byte("\r\n")
	}
	indent := extra[at+1:]
	if n := len(indent) - len(bytes.TrimLeft(indent, " \t")); n < len(indent) {
		indent = indent[:n]
	}
	return slices.Concat(end, indent)
}

// member is the insertion of one more member behind the value that ends at at.
func (s style) member(at int, name string, value []byte) splice {
	text := slices.Concat([]byte(","), s.between, hujson.String(name), []byte(":"), s.colon, value)
	return splice{at, at, text}
}

func (s style) list(items [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(items, s.separator(s.comma)), []byte("]"))
}

// prepend is the insertion of items in front of what list holds.
func (s style) prepend(v hujson.Value, list *hujson.Array, items [][]byte) splice {
	if len(list.Elements) == 0 {
		at := v.StartOffset + 1
		return splice{at, at, bytes.Join(items, s.separator(s.comma))}
	}
	gap := s.gap(list.Elements[0].BeforeExtra)
	if len(list.Elements) > 1 {
		gap = s.gap(list.Elements[1].BeforeExtra)
		if len(list.Elements[1].BeforeExtra) == 0 {
			gap = nil
		}
	}
	separator := s.separator(gap)
	at := list.Elements[0].StartOffset
	return splice{at, at, append(bytes.Join(items, separator), separator...)}
}

func (style) separator(gap []byte) []byte { return slices.Concat([]byte(","), gap) }

func isSpace(b []byte) bool { return len(bytes.TrimLeft(b, " \t\r\n")) == 0 }
