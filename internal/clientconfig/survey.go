package clientconfig

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// The parser is recursive and keeps every value, so what it is given is bounded first: a project's file comes from
// whoever wrote the repository.
const (
	maxDepth  = 512
	maxValues = 2 << 20
)

// Refused says why a config file is left as it is. It names the file and, where there is one, the place.
type Refused struct {
	Path         string
	Line, Column int // from 1, in bytes; 0 where no place is to blame
	Why          string
	Hint         string // what to do about it; may be empty
}

func (r *Refused) Error() string {
	if r.Line == 0 {
		return fmt.Sprintf("%s: %s", Visible(r.Path), r.Why)
	}
	return fmt.Sprintf("%s:%d:%d: %s", Visible(r.Path), r.Line, r.Column, r.Why)
}

// document is a config file as it was read: the text after the byte order mark, and its parse tree, whose offsets are
// those of the text.
type document struct {
	path   string
	text   []byte
	client client // whose file it is
	named  bool   // that was said, and not read from the path
	root   hujson.Value
	empty  bool                    // nothing but space and comments
	loose  int                     // where the first comment or trailing comma stands, -1 in strict JSON
	read   func() ([]found, error) // finds the entries of a file that is not JSON
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse proves that data has one reading and returns it. client is the name of the client whose file it is, if that is
// known. The only errors are *Refused.
func parse(path string, data []byte, client string) (*document, error) {
	d := &document{path: path, text: bytes.TrimPrefix(data, byteOrderMark), client: clientOf(client, path), named: client != "", loose: -1}
	if looksUTF16(data) { // C07: PowerShell's > writes this
		return nil, &Refused{Path: path, Why: "it is UTF-16, which no client reads reliably",
			Hint: "save it as UTF-8 (an editor's \"Save with encoding\", or PowerShell: Set-Content -Encoding utf8)"}
	}
	if at := invalidUTF8(d.text); at >= 0 {
		return nil, d.refuse(at, "it is not UTF-8: readers disagree on what this byte means")
	}
	switch strings.ToLower(filepath.Ext(path)) { // what is TOML or YAML must not be read as JSON (C26, C32)
	case ".toml":
		return d, d.parseTOML()
	case ".yaml", ".yml":
		return d, d.parseYAML()
	}
	if err := d.survey(); err != nil {
		return nil, err
	}
	if d.empty {
		return d, nil
	}
	// The newline ends a // comment in the last line, which the parser would take for a torn one.
	root, err := hujson.Parse(append(d.text[:len(d.text):len(d.text)], '\n'))
	if err != nil {
		return nil, d.broken(err)
	}
	d.root = root
	return d, nil
}

func looksUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) ||
		len(data) > 1 && (data[0] == 0) != (data[1] == 0)
}

func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	at := 0
	for at < len(text) {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return at
}

// survey walks the text once without building anything: it bounds depth and number of values, notes where it leaves
// strict JSON, and whether it holds anything at all. It reads strings and comments as the parser does, so that no
// bracket is structure for one and text for the other.
func (d *document) survey() error {
	text, depth, values, comma := d.text, 0, 0, -1
	d.loose, d.empty = -1, true
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			continue
		case '/':
			end, err := d.comment(i)
			if err != nil {
				return err
			}
			if end > i {
				d.isLoose(i)
				i = end - 1
				continue
			}
		case '"':
			i = stringEnd(text, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return d.refuse(i, "it is nested more than %d deep", maxDepth)
			}
		case ',':
			if values++; values > maxValues {
				return d.refuse(i, "it has more than %d values", maxValues)
			}
			comma, d.empty = i, false
			continue
		case '}', ']':
			depth--
			if comma >= 0 {
				d.isLoose(comma)
			}
		}
		comma, d.empty = -1, false
	}
	return nil
}

func (d *document) isLoose(at int) {
	if d.loose < 0 || at < d.loose {
		d.loose = at
	}
}

// comment returns where the comment that may start at i ends. A carriage return on its own ends a // comment for some
// readers and not for others: what follows it would be a server for the client and a comment for Bouncer.
func (d *document) comment(i int) (int, error) {
	rest := d.text[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		body := bytes.TrimSuffix(rest[:end], []byte("\r"))
		if at := bytes.IndexByte(body, '\r'); at >= 0 {
			return 0, d.refuse(i+at, "a carriage return stands inside a // comment: readers disagree on where the comment ends")
		}
		return i + end, nil
	case bytes.HasPrefix(rest, []byte("/*")):
		if end := bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			return i + 2 + end + 2, nil
		}
		return 0, d.refuse(i, "the comment is not closed")
	}
	return i, nil
}

// stringEnd returns the index of the quote that ends the string at i, or the last index where none does.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

var parserPlace = regexp.MustCompile(`(?s)^hujson: line (\d+), column (\d+): (.*)$`)

// quoted is what the parser repeats of a broken literal: it can be the rest of the file, secrets and all.
var quoted = regexp.MustCompile(`(?s)(invalid literal): .*`)

func (d *document) broken(err error) error {
	r := &Refused{Path: d.path, Why: "it is not valid JSON: " + err.Error(), Hint: "mend it by hand; it was not touched"}
	if m := parserPlace.FindStringSubmatch(err.Error()); m != nil {
		r.Line, _ = strconv.Atoi(m[1])
		r.Column, _ = strconv.Atoi(m[2])
		r.Why = "it is not valid JSON: " + m[3]
		if line, column := d.place(len(d.text)); r.Line > line { // the newline that parse adds
			r.Line, r.Column = line, column
		}
	}
	r.Why = Visible(quoted.ReplaceAllString(r.Why, "$1"))
	return r
}

func (d *document) refuse(at int, format string, a ...any) *Refused {
	line, column := d.place(at)
	return &Refused{Path: d.path, Line: line, Column: column, Why: fmt.Sprintf(format, a...)}
}

func (d *document) place(at int) (line, column int) {
	at = min(at, len(d.text))
	return 1 + bytes.Count(d.text[:at], []byte("\n")), at - bytes.LastIndexByte(d.text[:at], '\n')
}
