package shell

import (
	"regexp"
	"strings"
)

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
