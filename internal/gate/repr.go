package gate

import (
	"fmt"
	"strconv"
	"strings"
)

// shownStart and shownEnd are how many characters of a long value a reason shows. The end is shown too, because it
// decides: an address is as trustworthy as the end of its host. The log has the whole value.
const (
	shownStart = 140
	shownEnd   = 60
)

// repr quotes a value for a reason, in single quotes as the first version did. Control, bidi and invisible characters show as
// escapes, so that a value cannot forge the line that it stands in (A59, A85).
func repr(s string) string {
	if len(s) > shownStart+shownEnd {
		if runes := []rune(s); len(runes) > shownStart+shownEnd {
			start, end := string(runes[:shownStart]), string(runes[len(runes)-shownEnd:])
			return fmt.Sprintf("'%s...(%d more characters)...%s'", escape(start), len(runes)-shownStart-shownEnd, escape(end))
		}
	}
	return "'" + escape(s) + "'"
}

func escape(s string) string {
	quoted := strconv.QuoteToGraphic(s)
	inner := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	return strings.ReplaceAll(inner, "'", `\'`)
}

// reprList quotes a list, with its first values if it is long.
func reprList(values []string) string {
	var quoted []string
	for i, v := range values {
		if i == 20 {
			quoted = append(quoted, fmt.Sprintf("... %d more", len(values)-i))
			break
		}
		quoted = append(quoted, repr(v))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
