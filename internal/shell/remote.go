package shell

import (
	"strings"
)

var sshGrammar = grammarOf("BbcDEeFIiJLlmOoPpQRSWw", "")

// ssh sends what it is given to a host, and runs commands there: what those send is sent as well.
func ssh(c *invocation) content {
	opts, rest := sshGrammar.parse(c.args, true)
	if len(rest) > 1 { // options may follow the host
		more, after := sshGrammar.parse(rest[1:], true)
		opts, rest = append(opts, more...), append(rest[:1:1], after...)
	}
	c.sshOptions(opts)
	if len(rest) == 0 {
		if len(c.args) > 0 && !queries(opts) {
			c.doubt("the host is known only when it runs")
		}
		return content{kind: stream}
	}
	c.sshHost(rest[0])
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	}
	if len(rest) > 1 {
		far := newScope(Options{}) // nothing of this machine's files
		far.vars, far.args = c.sc.vars, nil
		quiet := &reader{o: Options{}, seen: map[string]bool{}, steps: c.steps, texts: c.texts, depth: c.depth}
		quiet.script(joined(rest[1:]), far, c.in)
		for _, e := range quiet.out {
			if e.Kind != Write && e.Kind != ReadFile {
				c.add(e)
			}
		}
	}
	return content{kind: stream}
}

func queries(opts []option) bool {
	_, version := valueOf(opts, "-V", "-Q")
	return version
}

func (c *invocation) sshHost(w word) {
	if strings.Contains(w.text, "://") {
		c.reach(Send, w)
		return
	}
	c.host(Send, w, "")
}

// sshOptions: jump hosts, other config files, commands that ssh runs here.
func (c *invocation) sshOptions(opts []option) {
	for _, o := range opts {
		switch o.name {
		case "-F", "-S", "-I":
			if o.value.text != "none" && o.value.text != "/dev/null" {
				c.doubt("its settings stand in a file")
			}
		case "-J":
			for _, h := range strings.Split(o.value.text, ",") {
				c.sshJump(word{text: h, many: o.value.many})
			}
		case "-W":
			c.endpoint(Send, o.value)
		case "-L", "-R", "-D", "-w":
			c.forward(o.value)
		case "-o":
			c.sshSetting(o.value)
		case "-E":
			c.write(o.value.text, c.sc, c.text)
		}
	}
}

func (c *invocation) sshJump(w word) {
	if i := strings.LastIndexByte(w.text, ':'); i > 0 && !strings.Contains(w.text, "://") {
		w.text = w.text[:i]
	}
	c.sshHost(w)
}

// forward notes the host at the far end of a tunnel: port:host:port.
func (c *invocation) forward(w word) {
	parts := strings.Split(w.text, ":")
	if len(parts) >= 3 {
		c.host(Send, word{text: parts[len(parts)-2]}, parts[len(parts)-1])
	} else if !fixed(w.text) {
		c.doubt("where a tunnel leads is known only when it runs")
	}
}

func (c *invocation) sshSetting(w word) {
	name, v, _ := strings.Cut(strings.Replace(w.text, " ", "=", 1), "=")
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "proxycommand", "localcommand", "knownhostscommand", "match", "pkcs11provider", "securitykeyprovider", "xauthlocation", "permitlocalcommand":
		if v = strings.Trim(v, ` "`); v == "none" || v == "no" || v == "yes" {
			return
		}
		c.inner(word{text: v, many: w.many})
		c.doubt("ssh runs a command on this machine")
	case "proxyjump":
		for _, h := range strings.Split(v, ",") {
			if h != "none" {
				c.sshJump(word{text: h, many: w.many})
			}
		}
	case "hostname":
		c.host(Send, word{text: v, many: w.many}, "")
	case "include", "remotecommand":
		c.doubt("an option of ssh's that is not read")
	default:
		if !fixed(name) || w.many {
			c.doubt("an option of ssh's is known only when it runs")
		}
	}
}

// scp and sftp: the operands are files, host:file or links.
func scp(c *invocation) content {
	short := "cDFiJloPSX"
	if c.name == "sftp" {
		short += "BbRs"
	}
	opts, rest := grammarOf(short, "").parse(c.args, false)
	c.sshOptions(opts)
	for _, o := range opts {
		if o.name == "-S" || o.name == "-D" && c.name == "sftp" {
			c.doubt("it runs a command on this machine")
		}
		if o.name == "-b" && c.name == "sftp" {
			c.doubt("its commands stand in a file")
		}
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	}
	c.transfer(rest, c.name == "sftp")
	return content{kind: stream}
}

// transfer reads the operands of a copy between machines: the last is where to. A host may stand alone, as for sftp.
func (c *invocation) transfer(rest []word, bare bool) {
	for i, w := range rest {
		kind := Fetch
		if i == len(rest)-1 && len(rest) > 1 || bare {
			kind = Send
		}
		switch {
		case c.remote(kind, w):
		case bare && i == 0:
			c.host(kind, w, "")
		case i == len(rest)-1:
			c.fills(w.text)
		default:
			c.read(c.sc.place(w.text), c.text)
		}
	}
}

func rsync(c *invocation) content {
	opts, rest := grammarOf("efBTM", `rsh rsync-path filter exclude exclude-from include include-from files-from port sockopts password-file bwlimit partial-dir
		backup-dir suffix temp-dir compare-dest copy-dest link-dest block-size max-size min-size timeout log-file out-format write-batch
		read-batch only-write-batch chmod chown usermap groupmap info debug remote-option address iconv checksum-seed stop-after`).parse(c.args, false)
	for _, o := range opts {
		switch o.name {
		case "-e", "--rsh":
			if fields := strings.Fields(o.value.text); len(fields) == 0 || fields[0] != "ssh" {
				c.doubt("rsync runs a command on this machine")
				c.inner(o.value)
			} else {
				opts, _ := sshGrammar.parse(fieldsOf(o.value.text), true)
				c.sshOptions(opts)
			}
		case "--rsync-path", "--files-from", "--read-batch":
			c.doubt("an option of rsync's that is not read")
		case "--log-file", "--write-batch", "--only-write-batch", "--backup-dir", "--partial-dir":
			c.writes(o.value.text, c.sc, c.text, true)
		}
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	}
	c.transfer(rest, false)
	return content{kind: stream}
}
