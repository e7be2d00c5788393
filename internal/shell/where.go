package shell

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// reach notes that a command sends to, or fetches from, what a word names. What is known of a destination that is not
// known whole is told as well: data in a link to a host is a send to that host, and unknown.
func (c *invocation) reach(kind Kind, w word) {
	switch known, whole := settled(w); {
	case whole && strings.HasPrefix(strings.ToLower(w.text), "file:"):
		c.add(Effect{Kind: ReadFile, Path: strings.TrimPrefix(w.text[len("file:"):], "//"), Command: c.text})
	case whole:
		c.to(kind, destination.Parse(known))
	default:
		if known != "" {
			c.to(Send, destination.Parse(known))
		}
		c.doubt("where it sends to, or what the link carries, is known only when it runs")
	}
}

func (c *invocation) to(kind Kind, ds []destination.Destination) {
	c.add(Effect{Kind: kind, Destinations: ds, Command: c.text})
}

// implied notes that a command sends to a place that its words do not name.
func (c *invocation) implied(kind Kind, why string) {
	c.add(Effect{Kind: kind, Command: c.text, Why: why})
}

// settled returns what is known of a destination, and whether it is all: of https://x.example/?q=$y the link to the host.
// A host with a hole in it is another host.
func settled(w word) (text string, whole bool) {
	at := strings.IndexAny(w.text, marks)
	if at < 0 {
		return w.text, !w.many
	}
	head := w.text[:at]
	from := strings.Index(head, "://")
	if from < 0 {
		from = -3
	}
	slash := strings.IndexAny(head[from+3:], "/?#")
	if slash < 0 || strings.ContainsAny(head[from+3:], "\\") {
		return "", false
	}
	if fixed(w.text) && !w.many && strings.IndexByte(w.text, set1) < 0 { // no file is called like a link: the pattern stays
		return strings.NewReplacer("\x01", "*", "\x02", "?").Replace(w.text), true
	}
	return head[:from+3+slash] + "/", false
}

// host notes a command's destination that is a host by its place among the words, whatever it looks like: nc evil 443.
func (c *invocation) host(kind Kind, w word, port string) {
	text := w.text
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		text = text[at+1:]
	}
	if !plain(text) || w.many || text == "" {
		c.doubt("the host is known only when it runs")
		if _, parent, ok := strings.Cut(text[strings.LastIndexAny(text, marks)+1:], "."); ok && strings.Contains(parent, ".") {
			c.to(Send, asHost(parent)) // $(whoami).evil.example: the name is the data (A19)
		}
		return
	}
	c.to(kind, asHost(text))
}

// asHost reads a text as a host. What would be read as something else when it stands alone is read as in a link.
func asHost(text string) []destination.Destination {
	ds := destination.Parse(text)
	if len(ds) == 1 && ds[0].Kind == destination.URL {
		return ds
	}
	if strings.Contains(text, ":") && !strings.HasPrefix(text, "[") {
		if ip, err := netip.ParseAddr(text); err == nil && ip.Is6() {
			return destination.Parse("http://[" + text + "]/")
		}
	}
	if strings.ContainsAny(text, " \t/") {
		return ds
	}
	return destination.Parse("http://" + text + "/")
}

// remote notes host:path and user@host:path, as scp, rsync and git read them, and links. It reports whether w is one.
func (c *invocation) remote(kind Kind, w word) bool {
	text := w.text
	if at := linkShape.FindStringIndex(text); at != nil {
		c.reach(kind, word{text[at[0]:], w.many})
		return true
	}
	colon := strings.IndexByte(text, ':')
	slash := strings.IndexByte(text, '/')
	switch {
	case colon < 0 || slash >= 0 && slash < colon:
		if text != "" && strings.Trim(text, "\x00") == "" || w.many {
			c.doubt("whether it is a file or another machine is known only when it runs")
			return true
		}
		return false
	case colon == 1 && len(text) > 2 && (text[2] == '\\' || text[2] == '/'): // C:\x
		return false
	case strings.HasPrefix(text[colon:], "::") && fixed(text) && !w.many: // rsync's own protocol
		c.to(kind, destination.Parse("rsync://"+text[:colon]+"/"+text[colon+2:]))
	case !plain(text[:colon]):
		c.doubt("the host is known only when it runs")
	default:
		if w.many {
			c.doubt("some of its words are known only when it runs")
		}
		if fixed(text) {
			c.to(kind, destination.Parse(text))
		} else {
			c.to(kind, destination.Parse(text[:colon+1]+"x")) // the machine is known, the place on it is not
		}
	}
	return true
}

var (
	portShape   = regexp.MustCompile(`^(?:[\w.+-]+@)?(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*):\d{1,5}(?:/.*)?$`)
	addrShape   = regexp.MustCompile(`^\d{1,3}(?:\.\d{1,3}){3}(?:[:/].*)?$`)
	remoteShape = regexp.MustCompile(`^[\w.+-]+@[\w.-]+:.*$`)
	emailShape  = regexp.MustCompile(`^[\w.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}$`)
	linkShape   = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://`)
)

// shapes notes every argument that has the shape of a destination, for programs that nobody described here. It reports
// whether there was one.
func (c *invocation) shapes() bool {
	found := false
	for _, a := range c.args {
		found = c.shape(a) || found
	}
	return found
}

func (c *invocation) shape(a word) bool {
	text := a.text
	if at := linkShape.FindStringIndex(text); at != nil {
		rest := text[at[0]:]
		if strings.HasPrefix(strings.ToLower(rest), "file://") {
			return false
		}
		if fixed(text) && strings.ContainsAny(text, " \n\t\"'") { // a text with links in it
			for _, m := range destination.Mentions(text) {
				c.to(Send, []destination.Destination{m.Destination})
			}
			return true
		}
		c.reach(Send, word{rest, a.many})
		return true
	}
	pieces := []string{text}
	if _, v, ok := strings.Cut(text, "="); ok {
		pieces = append(pieces, v)
	}
	for _, p := range pieces {
		if !fixed(p) {
			if strings.Contains(p, "@\x00") {
				c.doubt("the host is known only when it runs")
				return true
			}
			continue
		}
		if isShaped(p) {
			c.to(Send, destination.Parse(p))
			return true
		}
	}
	return false
}

// isShaped holds for an address, host:port, an IP address and user@host:path. A bare name like report.io is a file as
// well as a host, and is not one of them.
func isShaped(p string) bool {
	switch {
	case emailShape.MatchString(p), remoteShape.MatchString(p), addrShape.MatchString(p):
		return true
	case portShape.MatchString(p):
		ds := destination.Parse(p)
		host := strings.ToLower(p)
		return ds[0].Kind != destination.Opaque && ds[0].Kind != destination.Path && (strings.Contains(ds[0].Host(), ".") || strings.HasPrefix(host, "localhost:") || strings.HasPrefix(p, "["))
	}
	return false
}
