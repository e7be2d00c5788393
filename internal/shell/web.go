package shell

import (
	"path"
	"regexp"
	"strings"
)

var curlGrammar = grammarOf("AbcCdDeEFHKmoPQrtTuUwxXyYz", `abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config
	connect-timeout connect-to continue-at cookie cookie-jar create-file-mode crlfile curves data data-ascii data-binary data-raw
	data-urlencode delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url dump-header ech egd-file engine etag-compare
	etag-save expect100-timeout form form-string ftp-account ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode
	happy-eyeballs-timeout-ms haproxy-clientip header hostpubmd5 hostpubsha256 hsts interface ip-tos ipfs-gateway json keepalive-cnt
	keepalive-time key key-type krb libcurl limit-rate local-port login-options mail-auth mail-from mail-rcpt max-filesize max-redirs
	max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max pass pinnedpubkey preproxy proto proto-default proto-redir
	proxy proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type
	proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword proxy-tlsuser proxy-user
	proxy1.0 pubkey quote random-file range rate referer request request-target resolve retry retry-delay retry-max-time sasl-authzid
	service-name signature-algorithms socks4 socks4a socks5 socks5-gssapi-service socks5-hostname speed-limit speed-time stderr
	telnet-option tftp-blksize time-cond tls-max tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii trace-config unix-socket
	upload-file upload-flags url url-query user user-agent variable vlan-priority write-out`)

// curlSwitches are the long options of curl without a value. One that is in neither list is not guessed at.
var curlSwitches = setOf(`all anyauth append basic ca-native cert-status compressed compressed-ssh create-dirs crlf digest disable disable-eprt
	disable-epsv disallow-username-in-url doh-cert-status doh-insecure fail fail-early fail-with-body false-start form-escape
	ftp-create-dirs ftp-pasv ftp-pret ftp-skip-pasv-ip ftp-ssl ftp-ssl-ccc ftp-ssl-control ftp-ssl-reqd get globoff haproxy-protocol head help http0.9 http1.0
	http1.1 http2 http2-prior-knowledge http3 http3-only ignore-content-length include insecure ipv4 ipv6 junk-session-cookies list-only
	location location-trusted manual metalink mptcp negotiate netrc netrc-optional next no-buffer no-clobber no-keepalive no-progress-meter
	no-sessionid no-alpn no-npn no-silent no-location no-fail no-verbose no-compressed ntlm ntlm-wb parallel parallel-immediate path-as-is post301 post302 post303 progress-bar progress-meter
	proxy-anyauth proxy-basic proxy-ca-native proxy-digest proxy-http2 proxy-insecure proxy-negotiate proxy-ntlm proxy-ssl-allow-beast
	proxy-ssl-auto-client-cert proxy-tlsv1 proxytunnel raw remote-header-name remote-name remote-name-all remote-time remove-on-error
	retry-all-errors retry-connrefused sasl-ir show-error show-headers silent skip-existing socks5-basic socks5-gssapi socks5-gssapi-nec
	ssl ssl-allow-beast ssl-auto-client-cert ssl-no-revoke ssl-reqd ssl-revoke-best-effort sslv2 sslv3 styled-output
	suppress-connect-headers tcp-fastopen tcp-nodelay tftp-no-options tls-earlydata tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 tr-encoding
	trace-ids trace-time use-ascii verbose version xattr`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// curl reads every way in which curl is told where to go.
func curl(c *invocation) content {
	opts, urls := curlGrammar.parse(c.args, false)
	kind := Fetch
	saves, globs := false, true
	for _, o := range opts {
		if sends := c.curlOption(o); sends {
			kind = Send
		}
		switch o.name {
		case "--url":
			urls = append(urls, o.value)
		case "-O", "--remote-name", "--remote-name-all":
			saves = true
		case "-g", "--globoff":
			globs = false
		}
	}
	for _, u := range urls {
		if globs && strings.ContainsAny(u.text, "{}[]") && !ipv6Link.MatchString(u.text) {
			c.doubt("the link is a pattern of several")
		}
		c.reach(kind, u)
		if saves {
			c.write(path.Base(u.text), c.sc, c.text)
			c.sc.files[c.sc.place(path.Base(u.text))] = content{kind: stream}
		}
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	}
	return content{kind: stream}
}

var ipv6Link = regexp.MustCompile(`^\w*:?/?/?([^/@]*@)?\[[0-9A-Fa-f:.%]+\][^{}\[\]]*$`)

// curlOption reads one option, and reports one that makes the request carry more than its link.
func (c *invocation) curlOption(o option) (sends bool) {
	switch o.name {
	case "-K", "--config":
		c.doubt("its options stand in a file")
	case "-x", "--proxy", "--preproxy", "--proxy1.0", "--socks4", "--socks4a", "--socks5", "--socks5-hostname", "--doh-url", "--ipfs-gateway", "--haproxy-clientip":
		c.endpoint(Send, o.value)
	case "--dns-servers":
		for _, h := range strings.Split(o.value.text, ",") {
			c.endpoint(Send, word{h, o.value.many})
		}
	case "--resolve": // host:port:address[,address]
		if parts := strings.SplitN(o.value.text, ":", 3); len(parts) == 3 {
			for _, h := range strings.Split(parts[2], ",") {
				c.host(Send, word{text: strings.Trim(h, "[]")}, "")
			}
		} else if !strings.HasPrefix(o.value.text, "-") {
			c.doubt("the address of a host is given in a form that cannot be read")
		}
	case "--connect-to": // host:port:host:port
		if parts := strings.Split(o.value.text, ":"); len(parts) == 4 && parts[2] != "" {
			c.host(Send, word{text: parts[2]}, parts[3])
		} else if len(parts) != 4 {
			c.doubt("the address of a host is given in a form that cannot be read")
		}
	case "--unix-socket", "--abstract-unix-socket", "-P", "--ftp-port", "--interface", "--engine", "--variable":
		c.doubt("what listens there is not known")
	case "-d", "--data", "--data-ascii", "--data-binary", "--data-urlencode", "--json", "-F", "--form":
		c.upload(o)
		return true
	case "-T", "--upload-file":
		c.add(Effect{Kind: ReadFile, Path: c.sc.place(o.value.text), Command: c.text})
		return true
	case "--data-raw", "--form-string", "--url-query", "--mail-from", "-Q", "--quote":
		return true
	case "--mail-rcpt":
		c.reach(Send, o.value)
		return true
	case "-X", "--request":
		m := strings.ToUpper(o.value.text)
		return m != "GET" && m != "HEAD" && m != "OPTIONS"
	case "-H", "--header", "-b", "--cookie", "-A", "--user-agent", "-e", "--referer", "-u", "--user", "--oauth2-bearer", "--proxy-header":
		if strings.HasPrefix(strings.ToLower(o.value.text), "host:") {
			c.host(Send, word{text: strings.TrimSpace(o.value.text[len("host:"):])}, "")
		}
		return !o.value.fixed()
	case "-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr", "--etag-save", "--libcurl", "--hsts", "--alt-svc":
		if o.value.text != "-" {
			c.sc.files[c.write(o.value.text, c.sc, c.text)] = content{kind: stream}
		}
	case "-w", "--write-out":
		if strings.Contains(o.value.text, "%output{") || strings.HasPrefix(o.value.text, "@") {
			c.doubt("the form of its output names a file")
		}
	case "--output-dir":
		c.fills(o.value.text)
	default:
		if name := strings.TrimPrefix(o.name, "--"); name != o.name && !curlSwitches[name] && !curlGrammar.long[name] {
			c.doubt("an option of curl that is not known: --" + name)
		}
	}
	return false
}

// upload notes the files in -d @file, -F name=@file and their like.
func (c *invocation) upload(o option) {
	text := o.value.text
	if o.name == "-F" || o.name == "--form" || o.name == "--data-urlencode" {
		if at := strings.IndexAny(text, "=@"); at >= 0 {
			text = strings.TrimPrefix(text[at:], "=")
		}
	}
	if file := strings.TrimLeft(text, "@<"); file != text && file != "-" {
		file, _, _ = strings.Cut(file, ";")
		c.add(Effect{Kind: ReadFile, Path: c.sc.place(file), Command: c.text})
	}
}

// endpoint is a proxy or server: a link, or a host with or without its port.
func (c *invocation) endpoint(kind Kind, w word) {
	if strings.Contains(w.text, "://") {
		c.reach(kind, w)
		return
	}
	if w.text == "" {
		return
	}
	c.host(kind, w, "")
}

var wgetGrammar = grammarOf("aABDeIiloOPQRtTUwX", `accept accept-regex append-output base bind-address body-data body-file ca-certificate
	ca-directory certificate config connect-timeout cut-dirs default-page directory-prefix dns-timeout dns-servers domains exclude-directories
	exclude-domains execute follow-tags header hsts-file http-passwd http-password http-user ignore-tags include-directories input-file
	level limit-rate load-cookies local-encoding max-redirect method output-document output-file password post-data post-file prefer-family
	private-key progress proxy-password proxy-user quota read-timeout referer regex-type reject reject-regex rejected-log remote-encoding
	restrict-file-names save-cookies secure-protocol start-pos timeout tries use-askpass user user-agent wait waitretry warc-file warc-header`)

func wget(c *invocation) content {
	opts, urls := wgetGrammar.parse(c.args, false)
	kind, named, dir := Fetch, false, ""
	for _, o := range opts {
		switch o.name {
		case "-i", "--input-file", "--config", "--use-askpass":
			c.doubt("what it fetches or runs stands in a file")
		case "--post-data", "--body-data", "--method":
			kind = Send
		case "--post-file", "--body-file":
			kind = Send
			c.add(Effect{Kind: ReadFile, Path: c.sc.place(o.value.text), Command: c.text})
		case "--header", "-U", "--user-agent", "--referer", "--user", "--password":
			if !o.value.fixed() {
				kind = Send
			}
		case "-e", "--execute":
			if name, v, _ := strings.Cut(o.value.text, "="); strings.HasSuffix(strings.TrimSpace(name), "proxy") && strings.TrimSpace(name) != "use_proxy" {
				c.endpoint(Send, word{strings.TrimSpace(v), o.value.many})
			} else if n := strings.TrimSpace(name); n != "robots" && n != "use_proxy" {
				c.doubt("a setting of wget is given in a form that is not read")
			}
		case "-B", "--base", "--dns-servers":
			c.endpoint(kind, o.value)
		case "-O", "--output-document", "-o", "--output-file", "-a", "--append-output", "--save-cookies", "--warc-file", "--rejected-log", "--hsts-file":
			named = named || o.name == "-O" || o.name == "--output-document"
			if o.value.text != "-" {
				c.sc.files[c.write(o.value.text, c.sc, c.text)] = content{kind: stream}
			}
		case "-P", "--directory-prefix":
			dir = o.value.text + "/"
			c.fills(o.value.text)
		}
	}
	for _, u := range urls {
		c.reach(kind, u)
		if !named {
			c.sc.files[c.write(dir+path.Base(u.text), c.sc, c.text)] = content{kind: stream}
		}
	}
	if loose(c.args) {
		c.doubt("some of its words are known only when it runs")
	}
	return content{kind: stream}
}

// browse is for programs whose every operand, and every value of an option, may be a link or a host: httpie, lynx, aria2c.
func browse(kind Kind) program {
	return func(c *invocation) content {
		found := false
		for _, a := range c.args {
			switch t := a.text; {
			case strings.HasPrefix(t, "-"):
				if _, v, ok := strings.Cut(t, "="); ok && (strings.Contains(v, "://") || isShaped(v)) {
					c.endpoint(kind, word{v, a.many})
					found = true
				}
			case strings.Contains(t, "://"), !a.fixed(), isShaped(t), !strings.ContainsAny(t, "= \t") && (strings.Contains(t, ".") || strings.HasPrefix(t, ":")):
				if strings.Trim(t, "0123456789.") == "" && !addrShape.MatchString(t) { // a number
					continue
				}
				if strings.HasPrefix(t, ":") {
					t = "localhost" + t
				}
				c.reach(kind, word{t, a.many})
				found = true
			}
		}
		if !found && len(c.args) > 0 && !strings.HasPrefix(c.args[0].text, "-") {
			c.doubt("where it goes to cannot be read")
		}
		return content{kind: stream}
	}
}
