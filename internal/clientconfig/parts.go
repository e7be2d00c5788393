package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// parts are the places of an entry's words in a TOML or YAML file. A wrap there is the same as in JSON without the
// sentinel: the command's value is replaced, and arguments are put in front of the others. Each word keeps its own
// quotes, and no line that was there is written anew.
type parts struct {
	command piece     // the value that names the program; not where it is the first of list
	list    *wordList // the arguments; nil where there are none
	insert  int       // where a member args would be put
	lead    string    // what would stand there, up to the list
	cut     piece     // the member args and what separates it from the one before
}

// piece is text[from:to].
type piece struct{ from, to int }

// wordList is a list of strings: [a, b] on one line or several, or YAML's lines with dashes.
type wordList struct {
	open  int     // behind the [
	words []piece // each with its quotes
	dash  string  // a line's beginning up to the word, where each word has a line; else ""
	eol   string
}

// quoteWord spells s so that TOML and YAML both read it back as it is.
func quoteWord(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r >= 0x7f && r <= 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// wrap returns the text of f behind bouncer.
func (p *parts) wrap(text []byte, f found, bouncer string, s shape) ([]byte, error) {
	if s.nullArgs {
		return nil, errNullArgs
	}
	front := []string{quoteWord("run"), quoteWord("--name"), quoteWord(f.runName()), quoteWord("--")}
	if !s.hasArgs {
		front = []string{quoteWord("run"), quoteWord("--name=" + f.runName()), quoteWord("--")}
	}
	if f.form.list {
		return p.edited(text, f, []splice{p.list.prepend(text, append([]string{quoteWord(bouncer)}, front...))}), nil
	}
	edits := []splice{{p.command.from, p.command.to, []byte(quoteWord(bouncer))}}
	front = append(front, string(text[p.command.from:p.command.to]))
	if p.list == nil {
		edits = append(edits, splice{p.insert, p.insert, []byte(p.lead + "[" + strings.Join(front, ", ") + "]")})
	} else {
		edits = append(edits, p.list.prepend(text, front))
	}
	return p.edited(text, f, edits), nil
}

// unwrap returns the text of f without Bouncer's part.
func (p *parts) unwrap(text []byte, f found, s shape) ([]byte, error) {
	if s.dash < 0 || s.dash+1 >= len(s.args) || p.list == nil {
		return nil, errors.New("it names no command after --")
	}
	if f.form.list {
		return p.edited(text, f, []splice{p.list.cutFront(text, s.dash+2)}), nil
	}
	real := p.list.words[s.dash+1]
	edits := []splice{{p.command.from, p.command.to, bytes.Clone(text[real.from:real.to])}}
	if _, joined := s.ownName(); joined && len(s.args) == s.dash+2 {
		edits = append(edits, splice{p.cut.from, p.cut.to, nil})
	} else {
		edits = append(edits, p.list.cutFront(text, s.dash+2))
	}
	return p.edited(text, f, edits), nil
}

// edited makes edits whose places are those of the whole text, and returns the text of f alone.
func (p *parts) edited(text []byte, f found, edits []splice) []byte {
	for i := range edits {
		edits[i].from -= f.from
		edits[i].to -= f.from
	}
	return apply(text[f.from:f.to], edits)
}

// prepend is the insertion of words in front of those of the list.
func (l *wordList) prepend(text []byte, words []string) splice {
	switch {
	case l.dash != "":
		at := lineStart(text, l.words[0].from)
		var b strings.Builder
		for _, w := range words {
			b.WriteString(l.dash + w + l.eol)
		}
		return splice{at, at, []byte(b.String())}
	case len(l.words) == 0:
		return splice{l.open, l.open, []byte(strings.Join(words, ", "))}
	default:
		at := l.words[0].from
		return splice{at, at, []byte(strings.Join(words, ", ") + ", ")}
	}
}

// cutFront is the removal of the first n words.
func (l *wordList) cutFront(text []byte, n int) splice {
	from, to := l.words[0].from, l.words[n-1].to
	if l.dash != "" {
		from, to = lineStart(text, from), lineEnd(text, to)
		if to < len(text) {
			return splice{from, to + bytes.IndexByte(text[to:], '\n') + 1, nil}
		}
		return splice{endBefore(text, from), to, nil} // the last line has no end: take that of the one before
	}
	comma := pastSpace(text, to)
	if comma < len(text) && text[comma] == ',' {
		to = pastSpace(text, comma+1)
	}
	return splice{from, to, nil}
}

// pastSpace returns the first place from at on where no space or tab stands.
func pastSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

// lineStart returns where the line that holds at begins.
func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd returns where the line that holds at ends, in front of its line end.
func lineEnd(text []byte, at int) int {
	end := bytes.IndexByte(text[at:], '\n')
	if end < 0 {
		return len(text)
	}
	if end += at; end > at && text[end-1] == '\r' {
		end--
	}
	return end
}

// endBefore returns where the line before the one that begins at start ends, in front of its line end.
func endBefore(text []byte, start int) int {
	if start == 0 {
		return 0
	}
	if start--; start > 0 && text[start-1] == '\r' {
		start--
	}
	return start
}

// eolOf returns the line end that text uses.
func eolOf(text []byte) string {
	if at := bytes.IndexByte(text, '\n'); at > 0 && text[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// skipBlank returns the first place from at on where there is more than space, line ends and # comments.
func skipBlank(text []byte, at int) int {
	for at < len(text) {
		switch text[at] {
		case ' ', '\t', '\r', '\n':
			at++
		case '#':
			at = lineEnd(text, at)
		default:
			return at
		}
	}
	return at
}
