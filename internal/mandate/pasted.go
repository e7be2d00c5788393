package mandate

import (
	"strings"
	"unicode"
)

var (
	headerKeys  = set(`from subject reply-to sent date to cc bcc von betreff gesendet an de objet`)
	headerAlone = set(`from subject reply-to von betreff`)
	roleKeys    = set(`assistant system tool ai tool_result function bot`)
	greetings   = set(`dear hi hello hey greetings hallo liebe lieber`)

	// pointing words in front of a colon say that what follows is a text, and not a request.
	pointing = set(`this following below here here's pasted says said saying wrote writes reads reading states stating asks asked`)
	texts    = set(`message messages mail mails email emails e-mail text content contents note letter article post quote body subject
		error output log logs transcript thread comment description title question document snippet data code review reply
		paragraph passage line lines caption statement prompt feedback tweet`)
	labels  = set(`subject body message text content title description quote from caption comment`)
	tasking = set(`task tasks step steps thing things action actions todo todos to-do do help need want perform complete order`)
	places  = set(`people person persons users user members addresses address recipients recipient accounts account channels channel contacts
		emails participants colleagues friends to at with cc bcc`)
)

// key returns what a line has before its first colon, if that is one word.
func key(l line) string {
	head, _, ok := strings.Cut(strings.Trim(l.text, "*_# "), ":")
	if !ok || len(head) > 20 {
		return ""
	}
	return strings.ToLower(strings.Trim(head, "*_ "))
}

// pasted cuts what is recognisably a mail, a thread or a transcript, from its first sign to the end of the prompt: where a
// pasted text ends is what its author would like to decide.
func (sh *sheet) pasted() {
	lines := sh.lines()
	begun := false
	for i, l := range lines {
		if !sh.own(l) {
			continue
		}
		if sh.foreign(lines, i, begun) {
			sh.paint(l.at, len(sh.s), cut)
			return
		}
		begun = true
		if pointsDown(l.text) && i+1 < len(lines) {
			sh.paint(lines[i+1].at, len(sh.s), cut)
			return
		}
	}
}

// foreign reports a line with which somebody else's text begins. begun says that the user has spoken before.
func (sh *sheet) foreign(lines []line, i int, begun bool) bool {
	low, k := strings.ToLower(lines[i].text), key(lines[i])
	switch {
	case headerAlone[k], roleKeys[k]:
		return true
	case headerKeys[k]:
		for j := i + 1; j < len(lines) && j <= i+2; j++ {
			if headerKeys[key(lines[j])] {
				return true
			}
		}
		return false
	case strings.HasSuffix(low, "wrote:"), strings.HasSuffix(low, "schrieb:"), strings.HasSuffix(low, "écrit :"),
		strings.Contains(low, "begin forwarded message"), strings.Contains(low, "original message--"),
		strings.Contains(low, "forwarded message--"), strings.HasPrefix(low, "---------- forwarded"):
		return true
	case len(low) >= 3 && strings.Trim(low, "-=_*#") == "":
		return begun
	}
	return begun && salutation(lines[i].text)
}

// salutation reports a line that greets somebody and says nothing else.
func salutation(text string) bool {
	if len(text) > 60 || strings.ContainsAny(text, "?@.") {
		return false
	}
	ws := words(text)
	switch {
	case len(ws) == 0 || len(ws) > 5:
		return false
	case !greetings[ws[0]]:
		return len(ws) > 1 && ws[0] == "good" && (ws[1] == "morning" || ws[1] == "afternoon" || ws[1] == "evening")
	}
	return true
}

// pointsDown reports a line that speaks of a text below it: "Summarise the mail below."
func pointsDown(text string) bool {
	ws := words(text)
	for i, w := range ws {
		if w == "pasted" || w == "below" && (i+1 == len(ws) || !startsDigit(ws[i+1]) && !determiner[ws[i+1]]) {
			return true
		}
	}
	return false
}

func startsDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// introduced handles colons: "Summarise this: ...", "write the following message: ...", "Subject: ...". What follows is a
// text and no request. With nothing else on its line, or with a word that points at it, it reaches to the end.
func (sh *sheet) introduced() {
	for _, l := range sh.lines() {
		start := l.at
		for i := l.at; i < l.end; i++ {
			switch c := sh.s[i]; {
			case sh.kind(i) != said:
			case strings.IndexByte(".!?;", c) >= 0 && (i+1 == l.end || sh.s[i+1] == ' '):
				start = i + 1
			case c == ':' && (i+1 == l.end || unicode.IsSpace(rune(sh.s[i+1])) || sh.kind(i+1) != said || strings.IndexByte("'\"`", sh.s[i+1]) >= 0):
				lead := leading(sh.s[start:i])
				if lead == "" {
					continue
				}
				if sh.introduce(i+1, l.end, lead == "pointing") {
					return
				}
			}
		}
	}
}

// introduce marks the text behind a colon, and reports whether that reaches to the end of the prompt.
func (sh *sheet) introduce(at, end int, pointing bool) bool {
	rest := sh.s[at:end]
	bare := strings.TrimLeft(rest, " \t\r'\"`")
	switch {
	case strings.TrimSpace(rest) == "":
	case bare == "" || onlyPlaces(rest) || sh.kind(end-len(bare)) != said:
		return false // destinations, or a quotation, which is judged already
	default:
		from, to := at+len(rest)-len(strings.TrimLeft(rest, " \t")), at+len(strings.TrimRight(rest, " \t\r"))
		if text := strings.TrimRight(sh.s[from:to], ".!?"); isName(text) {
			to = from + len(text)
			sh.names = append(sh.names, span{from, to})
			sh.paint(from, to, named)
		} else {
			sh.paint(from, to, quoted)
		}
	}
	if pointing {
		sh.paint(end, len(sh.s), cut)
	}
	return pointing
}

// leading judges what stands before a colon: "pointing" and "label" introduce a text, "" does not.
func leading(lead string) string {
	ws := words(lead)
	if len(ws) == 0 {
		return ""
	}
	last := ws[len(ws)-1]
	points, text, task := false, false, false
	for _, w := range ws {
		points, text, task = points || pointing[w], text || texts[w], task || tasking[w]
	}
	switch {
	case len(ws) == 1 && labels[last]:
		return "label"
	case task, places[last]:
		return ""
	case points:
		return "pointing"
	case text && len(ws) > 1 && !(last == "email" || last == "e-mail" || last == "mail"):
		return "label"
	}
	return ""
}

// onlyPlaces reports a list of destinations and nothing else.
func onlyPlaces(text string) bool {
	rest := words(withoutMentions(text))
	for _, w := range rest {
		if w != "and" && w != "or" {
			return false
		}
	}
	return len(rest) < len(words(text))
}
