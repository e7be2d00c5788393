package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// masker takes secrets and bulk out of what is written (D19). The zero masker knows the names that everybody uses.
type masker struct {
	names map[string]bool // further secret names, in normal form
}

const (
	// argsLimit is how many bytes of arguments a line holds, and textLimit how many one string may have. What is longer
	// is named by its size and digest: a log that doubles every upload fills the disk, and a full disk denies.
	argsLimit = 64 << 10
	textLimit = 4 << 10

	// deepest is how far arguments may nest; a frame that nests deeper is refused before it gets here.
	deepest = 200
)

func newMasker(names []string) *masker {
	m := &masker{names: map[string]bool{}}
	for _, name := range names {
		m.names[normal(name)] = true
	}
	return m
}

// text returns s as a line may show it: without secrets, and no longer than a line can bear.
func (m *masker) text(s string) string {
	if len(s) > textLimit {
		return m.omitted(s)
	}
	return m.maskText(s)
}

// omitted stands for a text that is too long: its size, its digest, the beginning of its first line.
func (m *masker) omitted(s string) string {
	const shown = 120
	sum := sha256.Sum256([]byte(s))
	head := m.maskText(strings.ToValidUTF8(s[:textLimit], ""))
	head, _, _ = strings.Cut(head, "\n")
	if len(head) > shown {
		head = strings.ToValidUTF8(head[:shown], "") + "..."
	}
	return "[omitted: " + strconv.Itoa(len(s)) + " bytes, sha256 " + hex.EncodeToString(sum[:]) + ", begins: " + head + "]"
}

// args appends arguments as they may be logged: byte for byte, except for what is masked or omitted. What is not JSON is
// never copied, since a line must stay one JSON value on one line.
func (m *masker) args(b, args []byte) []byte {
	if args == nil {
		return append(b, "null"...)
	}
	w := walker{m: m, in: args}
	end, ok := w.value(0, 0, "")
	if !ok || w.space(end) != len(args) || !utf8.Valid(args) {
		return appendDigest(b, "bouncer:unreadable", args, "")
	}
	from := len(b)
	if len(w.edits) == 0 && len(args) <= argsLimit {
		b = append(b, args...)
	} else {
		b = w.apply(b)
	}
	if out := b[from:]; len(out) > argsLimit {
		first := string(out[:textLimit])
		return appendDigest(b[:from], "bouncer:omitted", args, m.omitted(first))
	}
	// A line break between tokens is white space, but would be a line of its own here.
	if bytes.IndexByte(b[from:], '\n') >= 0 || bytes.IndexByte(b[from:], '\r') >= 0 {
		for i := from; i < len(b); i++ {
			if b[i] == '\n' || b[i] == '\r' {
				b[i] = ' '
			}
		}
	}
	return b
}

func appendDigest(b []byte, name string, args []byte, begins string) []byte {
	sum := sha256.Sum256(args)
	b = append(append(append(b, `{"`...), name...), `": {"bytes": `...)
	b = strconv.AppendInt(b, int64(len(args)), 10)
	b = append(hex.AppendEncode(append(b, `, "sha256": "`...), sum[:]), '"')
	if _, shown, ok := strings.Cut(begins, ", begins: "); ok {
		b = appendQuoted(append(b, `, "begins": `...), strings.TrimSuffix(shown, "]"))
	}
	return append(b, "}}"...)
}

// walker reads a JSON value once, strictly, and notes what has to be replaced in it.
type walker struct {
	m     *masker
	in    []byte
	edits []edit
}

type edit struct {
	from, to int
	with     []byte
}

func (w *walker) apply(b []byte) []byte {
	slices.SortStableFunc(w.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	at := 0
	for _, e := range w.edits {
		b = append(append(b, w.in[at:e.from]...), e.with...)
		at = e.to
	}
	return append(b, w.in[at:]...)
}

func (w *walker) space(i int) int {
	for i < len(w.in) && (w.in[i] == ' ' || w.in[i] == '\t' || w.in[i] == '\n' || w.in[i] == '\r') {
		i++
	}
	return i
}

// value reads the value at i and returns where it ends. secret is the name that makes it one, "" when none does.
func (w *walker) value(i, depth int, secret string) (int, bool) {
	i = w.space(i)
	if i >= len(w.in) || depth > deepest {
		return i, false
	}
	switch c := w.in[i]; {
	case c == '{':
		return w.object(i+1, depth+1, secret)
	case c == '[':
		return w.array(i+1, depth+1, secret)
	case c == '"':
		end, escaped, ok := w.quoted(i)
		if ok {
			w.str(i, end, escaped, secret)
		}
		return end, ok
	case c == '-' || c >= '0' && c <= '9':
		end, ok := number(w.in, i)
		if ok && secret != "" {
			w.mask(i, end, secret, string(w.in[i:end]))
		}
		return end, ok
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(w.in[i:], []byte(word)) {
			return i + len(word), true
		}
	}
	return i, false
}

func (w *walker) mask(from, to int, name, secret string) {
	w.edits = append(w.edits, edit{from, to, appendQuoted(nil, string(appendMask(nil, "value of "+label(name), secret)))})
}

// str notes what is wrong with the string in in[i:end], quotes included.
func (w *walker) str(i, end int, escaped bool, secret string) {
	if !escaped && secret == "" && end-i-2 <= textLimit && !suspicious(w.in[i+1:end-1]) {
		return
	}
	text := string(w.in[i+1 : end-1])
	if escaped {
		text = unquoted(w.in[i:end])
	}
	if secret != "" {
		if text != "" {
			w.mask(i, end, secret, text)
		}
		return
	}
	if shown := w.m.text(text); shown != text {
		w.edits = append(w.edits, edit{i, end, appendQuoted(nil, shown)})
	}
}

// suspicious reports whether the text has a byte that a secret could be recognised by.
func suspicious(text []byte) bool {
	for _, c := range text {
		if rare[c] {
			return true
		}
	}
	return false
}

func unquoted(raw []byte) string {
	v, err := jsonrpc.DecodeLenient(raw)
	if err != nil || v.Kind != jsonrpc.String {
		return string(raw) // not reached for what quoted has read; then the spelling is looked through
	}
	return v.Text
}

// array reads what follows "[". An element that follows "--password" is its value.
func (w *walker) array(i, depth int, secret string) (int, bool) {
	if i = w.space(i); i < len(w.in) && w.in[i] == ']' {
		return i + 1, true
	}
	for flag := ""; ; {
		i = w.space(i)
		from := i
		end, ok := w.value(i, depth, cmp.Or(secret, flag))
		if !ok {
			return end, false
		}
		flag = ""
		if name := w.plain(from, end); len(name) > 1 && name[0] == '-' && !strings.Contains(name, "=") && w.m.secretName(name) {
			flag = name
		}
		i = w.space(end)
		if i >= len(w.in) {
			return i, false
		}
		switch w.in[i] {
		case ',':
			i++
		case ']':
			return i + 1, true
		default:
			return i, false
		}
	}
}

// plain is the text of the value in in[from:to] if that is a short string.
func (w *walker) plain(from, to int) string {
	if from >= to || w.in[from] != '"' || to-from > 4*maxName {
		return ""
	}
	return w.name(from, to)
}

func (w *walker) name(from, to int) string {
	raw := w.in[from:to]
	if bytes.IndexByte(raw, '\\') >= 0 {
		return unquoted(raw)
	}
	return string(raw[1 : len(raw)-1])
}

// object reads what follows "{". In {"name": "API_KEY", "value": "..."} the name of the value is a value itself.
func (w *walker) object(i, depth int, secret string) (int, bool) {
	if i = w.space(i); i < len(w.in) && w.in[i] == '}' {
		return i + 1, true
	}
	named, valueAt := "", -1
	for {
		i = w.space(i)
		if i >= len(w.in) || w.in[i] != '"' {
			return i, false
		}
		end, escaped, ok := w.quoted(i)
		if !ok {
			return end, false
		}
		name := w.name(i, end)
		w.str(i, end, escaped, "")
		if i = w.space(end); i >= len(w.in) || w.in[i] != ':' {
			return i, false
		}
		from, inner := w.space(i+1), secret
		if inner == "" && w.m.secretName(name) {
			inner = name
		}
		if end, ok = w.value(from, depth, inner); !ok {
			return end, false
		}
		switch {
		case inner != "":
		case strings.EqualFold(name, "value"):
			valueAt = from
		case len(name) <= 8 && pairName(name):
			if text := w.plain(from, end); text != "" && w.m.secretName(text) {
				named = text
			}
		}
		if i = w.space(end); i >= len(w.in) {
			return i, false
		}
		if w.in[i] == '}' {
			break
		}
		if w.in[i] != ',' {
			return i, false
		}
		i++
	}
	if named != "" && valueAt >= 0 {
		w.again(valueAt, depth, named)
	}
	return i + 1, true
}

func pairName(name string) bool {
	switch strings.ToLower(name) {
	case "name", "key", "header", "variable", "field":
		return true
	}
	return false
}

// again reads a value anew, now known to be secret.
func (w *walker) again(at, depth int, name string) {
	kept := w.edits
	w.edits = nil
	end, _ := w.value(at, depth, name)
	inner := w.edits
	w.edits = append(slices.DeleteFunc(kept, func(e edit) bool { return e.from >= at && e.to <= end }), inner...)
}

// quoted reads the string at i and returns the position after its closing quote.
func (w *walker) quoted(i int) (end int, escaped, ok bool) {
	for i++; i < len(w.in); i++ {
		switch c := w.in[i]; {
		case c == '"':
			return i + 1, escaped, true
		case c < ' ':
			return i, escaped, false
		case c == '\\':
			escaped = true
			if i++; i >= len(w.in) {
				return i, escaped, false
			}
			switch w.in[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if len(w.in) < i+5 {
					return i, escaped, false
				}
				for k := i + 1; k < i+5; k++ {
					if c := w.in[k]; !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
						return i, escaped, false
					}
				}
				i += 4
			default:
				return i, escaped, false
			}
		}
	}
	return i, escaped, false
}

// number reads a JSON number.
func number(b []byte, i int) (int, bool) {
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if b[i] == '-' {
		i++
	}
	from := i
	if !digits() || b[from] == '0' && i > from+1 {
		return i, false
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return i, false
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return i, false
		}
	}
	return i, true
}
