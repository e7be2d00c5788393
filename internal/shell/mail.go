package shell

import (
	"strings"
)

// mail: the operands are addresses, and so are those in options and headers.
func mail(c *invocation) content {
	for i, a := range c.args {
		if a.text == "-S" && i+1 < len(c.args) && strings.Contains(c.args[i+1].text, "smtp") || strings.HasPrefix(a.text, "-S") && strings.Contains(a.text, "smtp") || strings.HasPrefix(a.text, "--smtp") || strings.HasPrefix(a.text, "--host") {
			c.doubt("a mail server of the command's own")
			c.shape(word{text: a.text})
			if i+1 < len(c.args) {
				c.shape(word{text: c.args[i+1].text})
			}
		}
		if (a.text == "-s" || a.text == "--server" || a.text == "-smtp") && c.name == "swaks" && i+1 < len(c.args) {
			c.endpoint(Send, c.args[i+1])
		}
		if (a.text == "-a" || a.text == "-A") && i+1 < len(c.args) && !strings.Contains(c.args[i+1].text, ":") {
			c.add(Effect{Kind: ReadFile, Path: c.sc.place(c.args[i+1].text), Command: c.text})
		}
	}
	found := c.addresses()
	inText := false
	if c.in.kind == known { // sendmail -t reads To: from the text
		for _, line := range strings.Split(c.in.text, "\n") {
			name, v, ok := strings.Cut(line, ":")
			if n := strings.ToLower(name); ok && (n == "to" || n == "cc" || n == "bcc") {
				c.reach(Send, word{text: strings.TrimSpace(v)})
				inText = true
			}
		}
	}
	switch {
	case c.name != "mail" && c.name != "mailx" && c.name != "mutt" && !found && !inText:
		c.doubt("to whom it sends cannot be read")
	case !found && !inText && (c.in.kind != inherited || len(c.args) > 0):
		c.doubt("to whom it sends cannot be read")
	case hasFlag(c.args, "-t") && !inText:
		c.doubt("to whom it sends stands in its text")
	case loose(c.args):
		c.doubt("some of its words are known only when it runs")
	}
	return content{kind: stream}
}

func hasFlag(args []word, name string) bool {
	for _, a := range args {
		if a.text == name {
			return true
		}
	}
	return false
}

// addresses notes every argument that holds an e-mail address, and reports whether one did. A local user has none.
func (c *invocation) addresses() bool {
	found, value := false, false
	for _, a := range c.args {
		t := a.text
		if strings.HasPrefix(t, "-") {
			_, v, ok := strings.Cut(t, "=")
			value = len(t) == 2 && strings.IndexByte("saSAr", t[1]) >= 0 || t == "--subject" || t == "--header" || t == "--body"
			if !ok {
				continue
			}
			t = v
		} else if value {
			value = false
			if !strings.Contains(t, "@") || strings.Contains(t, " ") {
				continue
			}
		}
		switch {
		case !fixed(t) || a.many:
			c.doubt("to whom it sends is known only when it runs")
			found = true
		case strings.Contains(t, "@"):
			c.reach(Send, word{text: t})
			found = true
		}
	}
	return found
}
