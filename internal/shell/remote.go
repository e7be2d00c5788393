package shell

import (
	"regexp"
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
	opts, rest := grammarOf("cDFiJloPSXBbRs", "").parse(c.args, false)
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
			c.writes(w.text, c.sc, c.text, true)
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

// netcat: host and port, in one of many dialects, or a program to run behind a connection.
func netcat(c *invocation) content {
	opts, rest := grammarOf("eceGgIiMmOopqsTVWwXxP", "exec sh-exec lua-exec proxy proxy-type proxy-auth source source-port ssl-cert ssl-key wait delay idle-timeout max-conns output hex-dump allow allowfile deny denyfile ssl-trustfile ssl-servername").parse(withoutSwitches(c.args), false)
	listens := false
	for _, o := range opts {
		switch o.name {
		case "-e", "-c", "--exec", "--sh-exec", "--lua-exec":
			c.doubt("whoever is connected runs a program here")
		case "-l", "--listen":
			listens = true
		case "-x", "--proxy":
			c.endpoint(Send, o.value)
		case "-o", "--output":
			c.write(o.value.text, c.sc, c.text)
		}
	}
	switch {
	case listens:
		c.implied(Send, "it waits for whoever connects")
	case len(rest) == 0 && len(c.args) > 0 && !loose(c.args):
		if _, help := valueOf(opts, "-h", "--help", "--version"); !help {
			c.doubt("the host cannot be read")
		}
	}
	for _, w := range rest {
		if portOnly.MatchString(w.text) && len(rest) > 1 {
			continue
		}
		c.host(Send, w, "")
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	}
	return content{kind: stream}
}

var portOnly = regexp.MustCompile(`^\d{1,5}(-\d{1,5})?$`)

// withoutSwitches leaves netcat's words alone except for -c, which some netcats have without a value and others with: the
// word behind it counts twice.
func withoutSwitches(args []word) []word {
	var out []word
	for i, a := range args {
		out = append(out, a)
		if a.text == "-c" || a.text == "-i" || a.text == "-p" || a.text == "-o" || a.text == "-T" || a.text == "-O" || a.text == "-M" || a.text == "-m" || a.text == "-P" || a.text == "-e" || a.text == "-g" || a.text == "-G" || a.text == "-I" || a.text == "-V" || a.text == "-X" || a.text == "-s" {
			if i+1 < len(args) && !portOnly.MatchString(args[i+1].text) && strings.Contains(args[i+1].text, ".") {
				out = append(out, args[i+1])
			}
		}
	}
	return out
}

// socat joins two addresses: TYPE:host:port, SYSTEM:command, EXEC:command, files.
func socat(c *invocation) content {
	for _, a := range c.args {
		if strings.HasPrefix(a.text, "-") && len(a.text) > 1 && !strings.Contains(a.text, ":") {
			continue
		}
		for _, half := range strings.Split(a.text, "!!") {
			c.socatAddress(word{half, a.many})
		}
	}
	return content{kind: stream}
}

func (c *invocation) socatAddress(w word) {
	kind, rest, ok := strings.Cut(w.text, ":")
	kind = strings.ToUpper(kind)
	rest, _, _ = strings.Cut(rest, ",")
	switch {
	case !fixed(kind), w.many:
		c.doubt("where it connects to is known only when it runs")
	case strings.HasPrefix(kind, "EXEC"), strings.HasPrefix(kind, "SYSTEM"), strings.HasPrefix(kind, "SHELL"):
		c.doubt("a program is joined to a connection")
		c.inner(word{text: rest})
	case strings.Contains(kind, "LISTEN"), strings.Contains(kind, "RECV"):
		c.implied(Send, "it waits for whoever connects")
	case kind == "OPEN" || kind == "CREATE" || kind == "GOPEN" || kind == "FILE":
		c.write(rest, c.sc, c.text)
	case ok && (strings.HasPrefix(kind, "UNIX") || strings.HasPrefix(kind, "ABSTRACT") || kind == "PTY" || kind == "FD" || kind == "PIPE"):
		c.implied(Send, "what listens there is not known")
	case ok:
		host := strings.Split(rest, ":")[0]
		if strings.HasPrefix(rest, "[") {
			host, _, _ = strings.Cut(rest, "]")
			host += "]"
		}
		c.host(Send, word{text: host}, "")
		if strings.HasPrefix(kind, "PROXY") || strings.HasPrefix(kind, "SOCKS") {
			if parts := strings.Split(rest, ":"); len(parts) > 1 {
				c.host(Send, word{text: parts[1]}, "")
			}
		}
	case kind != "-" && kind != "STDIO" && kind != "STDIN" && kind != "STDOUT" && kind != "STDERR":
		c.write(w.text, c.sc, c.text)
	}
}

// hosts is for programs whose operands are host names: telnet, ping, dig. Looking a name up sends the name (A19).
func hosts(g grammar, most int) program {
	return func(c *invocation) content {
		opts, rest := g.parse(c.args, false)
		n := 0
		for _, o := range opts {
			switch o.name {
			case "-h", "--host", "-H", "-x", "-q", "-connect", "-proxy", "-f", "--server", "--broker", "-b", "--bootstrap-server", "-s", "-d", "-e":
				if o.value.text == "" || !hostLike(o.value) {
					if o.name == "-f" && o.value.text != "" {
						c.doubt("its hosts stand in a file")
					}
					continue
				}
				c.endpoint(Send, o.value)
				n++
			}
		}
		for _, w := range rest {
			t := strings.TrimPrefix(w.text, "@")
			if strings.HasPrefix(t, "+") || portOnly.MatchString(t) && n > 0 || n >= most || recordTypes[strings.ToUpper(t)] {
				if !hostLike(word{text: t}) {
					continue
				}
			}
			c.endpoint(Send, word{t, w.many})
			n++
		}
		if loose(c.args) && n == 0 {
			c.doubt("the host is known only when it runs")
		}
		return content{kind: stream}
	}
}

var recordTypes = setOf("A AAAA ANY AXFR CAA CNAME DNSKEY DS HINFO IN CH HS MX NAPTR NS NULL PTR RRSIG SOA SPF SRV SSHFP TLSA TXT")

// hostLike holds for what may be a host where a host may or may not stand.
func hostLike(w word) bool {
	return !fixed(w.text) || strings.Contains(w.text, ".") && strings.Trim(w.text, "0123456789.") != "" || addrShape.MatchString(w.text) || strings.Contains(w.text, "://") || strings.Contains(w.text, ":") || w.text == "localhost"
}

// openssl s_client connects; the rest of openssl reckons.
func openssl(c *invocation) content {
	if len(c.args) == 0 {
		return c.standardInputDoubt()
	}
	switch c.args[0].text {
	case "s_client", "s_time", "ocsp", "s_server", "ts", "cmp":
		if c.args[0].text == "s_server" {
			c.implied(Send, "it waits for whoever connects")
		}
		for i, a := range c.args {
			name := strings.TrimLeft(a.text, "-")
			if i+1 < len(c.args) && a.text != name && (name == "connect" || name == "host" || name == "proxy" || name == "url" || name == "server" || name == "servername") {
				c.endpoint(Send, c.args[i+1])
			}
		}
		last := c.args[len(c.args)-1]
		if len(c.args) > 1 && isShaped(last.text) {
			c.endpoint(Send, last)
		}
		if loose(c.args) || len(c.args) == 1 {
			c.doubt("the host is known only when it runs")
		}
	default:
		if strings.IndexByte(c.args[0].text, hole) >= 0 {
			c.doubt("what openssl does is known only when it runs")
		}
		for i, a := range c.args {
			if (a.text == "-out" || a.text == "-keyout") && i+1 < len(c.args) {
				c.sc.files[c.write(c.args[i+1].text, c.sc, c.text)] = content{kind: stream}
			}
			if a.text == "-engine" || a.text == "-provider-path" {
				c.doubt("openssl loads code")
			}
		}
	}
	return content{kind: stream}
}

func (c *invocation) standardInputDoubt() content {
	if c.in.kind == stream || c.in.kind == known {
		c.doubt("it is told what to do by what it reads")
	}
	return content{kind: stream}
}

// session is for programs that connect, and are then told what to do by what they read: ftp, telnet, lftp.
func session(c *invocation) content {
	c.standardInputDoubt()
	for i, a := range c.args {
		if (a.text == "-c" || a.text == "-e" || a.text == "-E") && i+1 < len(c.args) {
			c.doubt("its commands say where it goes to")
			for _, f := range strings.Fields(c.args[i+1].text) {
				c.shape(word{text: strings.Trim(f, ";,'\"")})
			}
		}
	}
	return hosts(grammarOf("ceEPpuqnlb", "user password port"), 1)(c)
}

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
