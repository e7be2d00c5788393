package provenance

import (
	"strconv"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

const maxInner = 1 << 20 // bytes of a leaf that are read for the sake of evidence

// innerPlace returns the path of the value at an offset of a leaf that is JSON (most servers put JSON into
// content[0].text): "messages[3].body". The leaf is normalised, so names are lower case here. It returns "" for what
// is no JSON up to there; nothing but the evidence depends on it.
func innerPlace(leaf []byte, at int) string {
	if at > maxInner || !looksJSON(leaf) {
		return ""
	}
	type level struct {
		object bool
		name   string
		index  int
		value  bool // behind the colon
	}
	var stack []level
	for i := 0; i < len(leaf); i++ {
		var top *level
		if len(stack) > 0 {
			top = &stack[len(stack)-1]
		}
		switch c := leaf[i]; {
		case c == '"':
			end := closing(leaf, i)
			if end < 0 {
				return ""
			}
			if top != nil && top.object && !top.value {
				top.name = string(leaf[i+1 : end])
			}
			if i = end; i >= at {
				goto done
			}
		case i >= at:
			goto done
		case c == '{' || c == '[':
			if len(stack) == 64 {
				return ""
			}
			stack = append(stack, level{object: c == '{'})
		case top == nil:
		case c == '}' || c == ']':
			stack = stack[:len(stack)-1]
		case c == ':':
			top.value = true
		case c == ',':
			top.index++
			top.value = false
		}
	}
done:
	var s strings.Builder
	for _, l := range stack {
		switch {
		case !l.object:
			s.WriteString("[" + strconv.Itoa(l.index) + "]")
		case s.Len() > 0:
			s.WriteString("." + destination.Visible(l.name, 64))
		default:
			s.WriteString(destination.Visible(l.name, 64))
		}
	}
	return destination.Visible(s.String(), maxPlace)
}

// closing returns the offset of the quote that closes the string at i, or -1.
func closing(leaf []byte, i int) int {
	for i++; i < len(leaf); i++ {
		switch leaf[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
