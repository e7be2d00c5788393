package provenance

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

const (
	maxNesting = 3 // JSON in strings in strings
	maxPlace   = 256
	maxIndexes = 16 // of lists in lists; more would cost more than the text
	indexMark  = 1  // stands for one index in a place; names cannot hold it
)

// walker takes a payload apart into leaves of text, each with its place. It belongs to the writer and is reused, so
// that a leaf costs no allocation.
type walker struct {
	ix     *Index
	place  []byte   // path of the current leaf, with an indexMark for each index
	at     []uint32 // the indexes
	nested int      // how deep in JSON that stood in a string
	text   []byte   // normalised leaf
	seams  []int    // where its letters meet though something kept them apart
	raw    [maxNesting + 1][]byte
	found  []finding
	echo   [][]byte // normalised
}

func (w *walker) start(field string) {
	w.place, w.at, w.nested = append(w.place[:0], destination.Visible(field, maxPlace)...), w.at[:0], 0
}

// leaf stores one text, and what stands in it in a disguise.
func (w *walker) leaf(text []byte) {
	w.plain(text)
	for _, r := range destination.Unveil(text) {
		for line := range bytes.Lines(r.Text) {
			w.veiled(bytes.TrimRight(line, "\n"), r.Through)
		}
	}
}

// through stands in the place of a text that nobody wrote as it is, before the name of its disguise.
const through = ", through "

func (w *walker) veiled(text []byte, how string) {
	place := len(w.place)
	w.place = append(append(w.place, through...), how...)
	w.plain(text)
	w.place = w.place[:place]
}

// plain normalises and stores one text.
func (w *walker) plain(text []byte) {
	w.text, w.seams = destination.AppendNormalisedSeams(w.text[:0], text, w.seams[:0])
	w.blank(w.text)
	n := len(w.text)
	w.text = append(w.text, make([]byte, slack)...)
	w.ix.store(w.text[:n], w.seams, w.place, w.at)
}

// json walks one JSON value and reports whether it was one. What was read before an error stays stored. Duplicate
// names, invalid UTF-8 and lone surrogates are read the way a careless client reads them: taint wants all of it.
func (w *walker) json(payload []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewBuffer(payload), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if !w.value(dec) {
		return false
	}
	return len(bytes.TrimLeft(payload[dec.InputOffset():], " \t\r\n")) == 0
}

func (w *walker) value(dec *jsontext.Decoder) bool {
	switch dec.PeekKind() {
	case '{':
		return w.object(dec)
	case '[':
		return w.array(dec)
	case '"':
		v, err := dec.ReadValue()
		if err != nil {
			return false
		}
		w.str(v, w.nested == 0)
		return true
	case '0':
		v, err := dec.ReadValue()
		if err == nil && w.nested == 0 && len(v) >= minRunes {
			w.leaf(v)
		}
		return err == nil
	default:
		_, err := dec.ReadToken()
		return err == nil
	}
}

func (w *walker) object(dec *jsontext.Decoder) bool {
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	place := len(w.place)
	var halves halves
	for dec.PeekKind() != '}' {
		v, err := dec.ReadValue()
		if err != nil || len(v) < 2 || v[0] != '"' {
			return false
		}
		w.name(v)
		named := halves.name(v)
		if dec.PeekKind() == '"' {
			if v, err = dec.ReadValue(); err != nil {
				return false
			}
			halves.add(named, v)
			w.str(v, w.nested == 0)
		} else if !w.value(dec) {
			return false
		}
		w.place = w.place[:place]
	}
	for _, address := range halves.joined() {
		w.veiled(address, "two fields")
	}
	_, err := dec.ReadToken()
	return err == nil
}

func (w *walker) array(dec *jsontext.Decoder) bool {
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	place, depth := len(w.place), len(w.at)
	counted := place < maxPlace && depth < maxIndexes
	if counted {
		w.place, w.at = append(w.place, indexMark), append(w.at, 0)
	}
	inside := len(w.place)
	for dec.PeekKind() != ']' {
		if !w.value(dec) {
			return false
		}
		w.place = w.place[:inside]
		if counted {
			w.at[depth]++
		}
	}
	w.place, w.at = w.place[:place], w.at[:depth]
	_, err := dec.ReadToken()
	return err == nil
}

// str stores a string, or, inside JSON that stood in a string, only one that was escaped there: the others stand in
// the outer text as they are.
func (w *walker) str(quoted []byte, always bool) {
	escaped := bytes.IndexByte(quoted, '\\') >= 0
	if !always && !escaped {
		return
	}
	text := quoted[1 : len(quoted)-1]
	if escaped {
		w.raw[w.nested], _ = jsontext.AppendUnquote(w.raw[w.nested][:0], quoted) // the error is about UTF-8, already replaced
		text = w.raw[w.nested]
	}
	w.leaf(text)
	w.inner(text)
}

// inner walks a string that is JSON itself, if that can make any difference (A44).
func (w *walker) inner(text []byte) {
	if w.nested == maxNesting || bytes.IndexByte(text, '\\') < 0 || !looksJSON(text) {
		return
	}
	place := len(w.place)
	depth := len(w.at)
	w.place = append(w.place, " → "...)
	w.nested++
	w.json(text)
	w.nested--
	w.place, w.at = w.place[:place], w.at[:depth]
}

func looksJSON(text []byte) bool {
	t := bytes.TrimSpace(text)
	return len(t) > 2 && (t[0] == '{' || t[0] == '[')
}

// name appends a member name to the place and stores it, unless the same one is stored already: the thousandth
// "email" of a list says nothing new.
func (w *walker) name(quoted []byte) {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(quoted, '\\') >= 0 {
		d, _ := jsontext.AppendUnquote(nil, quoted)
		name = d
	}
	w.step(name)
	if w.nested > 0 && bytes.IndexByte(quoted, '\\') < 0 {
		return
	}
	if _, ok := w.ix.names[string(name)]; ok {
		return
	}
	if len(name) <= 128 && len(w.ix.names) < maxNames {
		w.ix.names[string(name)] = struct{}{}
	}
	w.leaf(name)
}

func (w *walker) step(name []byte) {
	if len(w.place) > maxPlace {
		if !bytes.HasSuffix(w.place, []byte("…")) {
			w.place = append(w.place, "…"...)
		}
		return
	}
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			w.place = append(w.place, `["`+strings.ReplaceAll(destination.Visible(string(name), 64), `"`, `\"`)+`"]`...)
			return
		}
	}
	if n := len(w.place); n > 0 && !bytes.HasSuffix(w.place, []byte(" ")) {
		w.place = append(w.place, '.')
	}
	w.place = append(w.place, name...)
}
