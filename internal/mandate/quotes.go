package mandate

import (
	"slices"
	"strings"
	"unicode"
)

// mark is an opening quotation mark that waits for its end.
type mark struct {
	kind   byte
	at     int // of the mark
	inside int // behind it
}

// quotations finds what stands in quotation marks. Marks are told apart by what stands beside them, so that an apostrophe
// opens nothing and quotations may hold others. The weak marks ' and ` end nothing that a strong one began: a text in
// double quotes cannot be left through an apostrophe in it.
func (sh *sheet) quotations() {
	var open []mark
	var found []span // inner ones before their outer one
	count := map[byte]int{}
	before, doubtful := 0, 0 // the start of the last quotation with strong marks; what is doubted already
	for i := 0; i < len(sh.s); {
		kind, opens, closes, size := sh.quote(i)
		if kind == 0 || sh.kind(i) == cut {
			i += size
			continue
		}
		if sh.class[i]&doubted != 0 { // between fences: a pasted mark may end or begin anything
			if len(open) > 0 {
				before = min(before, open[0].at)
			}
			sh.doubt(before, len(sh.s))
			open = nil
			break
		}
		if opens && closes {
			opens = count[kind] == 0
		}
		n := -1
		if !opens && closes {
			n = matching(open, kind, count)
		}
		switch {
		case opens:
			open = append(open, mark{kind, i, i + size})
			count[kind]++
		case n >= 0:
			if strong(kind) {
				before = open[n].at
			}
			found = append(found, span{open[n].inside, i})
			for _, m := range open[n:] {
				count[m.kind]--
			}
			open = open[:n]
		case closes && strong(kind) && !unicode.IsDigit(runeBefore(sh.s, i)):
			// An end without a beginning: somewhere before, a quotation was left too early.
			sh.doubt(max(before, doubtful), i)
			doubtful = i
		}
		i += size
	}
	for _, m := range open {
		if strong(m.kind) {
			sh.doubt(m.at, len(sh.s))
			break
		}
	}
	sh.outermost(found)
}

// outermost marks the quotations that stand in no other as names or as texts.
func (sh *sheet) outermost(found []span) {
	outer := len(sh.s)
	for _, q := range slices.Backward(found) { // an outer one ends later, and stands behind the inner ones
		if q.at >= outer {
			continue
		}
		outer = q.at
		if inner := sh.s[q.at:q.end]; isName(inner) {
			sh.names = append(sh.names, q)
			sh.paint(q.at, q.end, named)
		} else {
			sh.paint(q.at, q.end, quoted)
		}
	}
}

func strong(kind byte) bool { return kind == '"' || kind == 'c' || kind == 'g' }

// matching returns the place of the mark that a closing one ends, or -1.
func matching(open []mark, kind byte, count map[byte]int) int {
	if count[kind] == 0 {
		return -1
	}
	for n := len(open) - 1; n >= 0; n-- {
		if open[n].kind == kind {
			return n
		}
		if strong(open[n].kind) {
			return -1
		}
	}
	return -1
}

// quote says which mark stands at i, and what it can be there.
func (sh *sheet) quote(i int) (kind byte, opens, closes bool, size int) {
	r := runeAt(sh.s, i)
	size = max(1, len(string(r)))
	if size > len(sh.s)-i {
		size = len(sh.s) - i
	}
	before, after := runeBefore(sh.s, i), runeAt(sh.s, i+size)
	left := unicode.IsSpace(before) || strings.ContainsRune("([{<—–:,=/-\"'`“‘«„*_", before)
	right := unicode.IsSpace(after) || strings.ContainsRune(".,;:!?)]}>/—–-\"'`”’»*_", after)
	switch r {
	case '"', '`':
		kind = byte(r)
		opens, closes = left && !unicode.IsSpace(after), right && !unicode.IsSpace(before)
		if !opens && !closes {
			opens, closes = unicode.IsSpace(before), true
			if !opens && !unicode.IsSpace(after) && r == '"' {
				opens = false // inside a word: an end, if anything
			}
		}
	case '\'', '’', '‘':
		kind = '\''
		opens = r != '’' && left && !unicode.IsSpace(after)
		closes = r != '‘' && right && !unicode.IsSpace(before)
		if !opens && !closes {
			kind = 0
		}
	case '“', '„':
		kind, opens, closes = 'c', true, false
	case '”':
		kind, closes = 'c', true
	case '«', '»':
		kind = 'g'
		opens, closes = left && !unicode.IsSpace(after), right && !unicode.IsSpace(before)
		if opens == closes {
			opens, closes = r == '«', r == '»'
		}
	}
	return kind, opens, closes, size
}
