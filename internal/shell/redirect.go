package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects reads the redirections of a command. It returns what the command reads, and the files that get what it prints.
func (r *reader) redirects(list []*syntax.Redirect, sc *scope, in content) (content, []string) {
	var into []string
	for _, rd := range list {
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			text := ""
			if rd.Op == syntax.WordHdoc {
				text = r.text(rd.Word, sc) + "\n"
			} else {
				text = r.heredoc(rd, sc)
			}
			if rd.N == nil || rd.N.Value == "0" { // of other descriptors nobody knows who reads them
				in = known1(text)
			}
			continue
		}
		text := r.target(rd.Word, sc)
		switch rd.Op {
		case syntax.DplIn, syntax.DplOut:
			if strings.Trim(text, "0123456789-") == "" {
				if rd.Op == syntax.DplIn && text != "0" && text != "-" && (rd.N == nil || rd.N.Value == "0") {
					in = content{kind: stream} // opened somewhere before
				}
				continue
			}
		}
		if r.socket(text) {
			in = content{kind: stream}
			continue
		}
		if couldBeSocket(text) {
			r.unknown("<> "+text, "which file it opens is known only when it runs, and it could be a connection")
		}
		if rd.Op == syntax.RdrIn || rd.Op == syntax.DplIn {
			in = r.input(text, sc)
			continue
		}
		if rd.Op == syntax.RdrInOut {
			in = r.input(text, sc)
		}
		path := r.write(text, sc, "> "+text)
		if rd.N == nil || rd.N.Value == "1" {
			into = append(into, path)
		}
	}
	return in, into
}

func known1(text string) content {
	if !fixed(text) {
		return content{kind: stream}
	}
	return content{known, text}
}

// target is the file of a redirection. A word that turns into several is an error in the shell, so one text is enough.
func (r *reader) target(w *syntax.Word, sc *scope) string {
	ws := r.fields(w, sc)
	if len(ws) != 1 {
		return string(rune(hole))
	}
	return ws[0].text
}

// heredoc is the text of a here-document.
func (r *reader) heredoc(rd *syntax.Redirect, sc *scope) string {
	if rd.Hdoc == nil {
		return ""
	}
	quoted := false
	for _, p := range rd.Word.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			quoted = true
		case *syntax.Lit:
			quoted = quoted || strings.Contains(p.Value, `\`)
		}
	}
	if quoted {
		text := rd.Hdoc.Lit()
		if rd.Op == syntax.DashHdoc {
			text = untabbed(text)
		}
		return text
	}
	e := expansion{r: r, sc: sc, whole: true}
	e.doubleQuoted(&syntax.DblQuoted{Parts: rd.Hdoc.Parts})
	if rd.Op == syntax.DashHdoc {
		return untabbed(e.cur.String())
	}
	return e.cur.String()
}

func untabbed(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "\t")
	}
	return strings.Join(lines, "")
}

// socket reads bash's /dev/tcp/HOST/PORT, which opens a connection. It holds for a target that is one for certain.
func (r *reader) socket(text string) bool {
	for _, prefix := range []string{"/dev/tcp/", "/dev/udp/"} {
		rest, ok := strings.CutPrefix(text, prefix)
		if !ok {
			continue
		}
		host, port, _ := strings.Cut(rest, "/")
		c := &invocation{reader: r, text: "> " + text}
		c.host(Send, word{text: host}, port)
		return true
	}
	return false
}

// couldBeSocket holds for a name with a hole that may turn out to be /dev/tcp/HOST/PORT.
func couldBeSocket(text string) bool {
	at := strings.IndexByte(text, hole)
	if at < 0 || !strings.HasPrefix("/dev/tcp/", text[:min(at, 9)]) && !strings.HasPrefix("/dev/udp/", text[:min(at, 9)]) {
		return false
	}
	port := text[strings.LastIndexByte(text, '/')+1:]
	return !fixed(port) || strings.Trim(port, "0123456789") == "" || services[port]
}

// services are names of ports.
var services = setOf("http https http-alt webcache ssh domain ftp ftp-data smtp smtps submission telnet pop3 pop3s imap imaps ntp irc ldap ldaps mysql postgresql redis socks syslog tftp echo discard whois gopher nntp snmp rsync git")

// input is what a command reads from a file. A name that is not known could be /dev/tcp/..., which sends (A19).
func (r *reader) input(text string, sc *scope) content {
	if strings.HasPrefix(text, "/dev/fd/") || strings.HasPrefix(text, "/dev/stdin") {
		return content{kind: stream}
	}
	path := sc.place(text)
	if c, ok := sc.files[path]; ok {
		return c
	}
	r.read(path, "< "+text)
	return content{kind: local}
}
