package gate

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// shown is how many characters of a value a reason shows. The log has the whole of it.
const shown = 200

// repr quotes a value for a reason, in single quotes as the seed does. Control, bidi and invisible characters show as
// escapes, so that a value cannot forge the line that it stands in (A59, A85).
func repr(s string) string {
	cut := ""
	if n := utf8.RuneCountInString(s); n > shown {
		end := 0
		for range shown {
			_, size := utf8.DecodeRuneInString(s[end:])
			end += size
		}
		s, cut = s[:end], "...(+"+strconv.Itoa(n-shown)+" characters)"
	}
	quoted := strconv.QuoteToGraphic(s)
	inner := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(inner, "'", `\'`) + "'" + cut
}

func reprList(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = repr(v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
