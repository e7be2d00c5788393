package destination

import "strings"

// addresses looks for e-mail addresses in s[at:end], and for hosts between them.
func (f *finder) addresses(at, end int) {
	s := f.text.s
	for i := at; i < end; i++ {
		if s[i] != '@' {
			continue
		}
		from := i
		for from > at && localByte(s[from-1]) {
			from--
		}
		for from < i && strings.IndexByte("'/*~=|!?&.-#$^{}", s[from]) >= 0 {
			from++
		}
		to := i + 1
		for to < end && hostByte(s[to]) {
			to++
		}
		for to > i+1 && strings.IndexByte(".-_", s[to-1]) >= 0 {
			to--
		}
		to = properEnd(s, i+1, to)
		if from == i || !mailHost(s[i+1:to]) {
			continue
		}
		f.hosts(at, from)
		// "cc/bob@x.example" may be one address and may be two words.
		if cut := strings.LastIndexAny(s[from:i], "/|=!"); cut >= 0 && cut < i-from-1 {
			f.add(from+cut+1, to)
		}
		f.add(from, to)
		at, i = to, to-1
	}
	f.hosts(at, end)
}

// localByte reports what may stand before the @.
func localByte(c byte) bool {
	return letter(c) || digit(c) || c >= 0x80 || strings.IndexByte(".!#$%&'*+-/=?^_{}~", c) >= 0
}

func hostByte(c byte) bool {
	return letter(c) || digit(c) || c == '-' || c == '.' || c == '_' || c >= 0x80
}

// mailHost reports a name with a dot in it whose end is no number (package@1.2.3), or an IPv4 address.
func mailHost(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	if dot < 0 {
		return strings.Contains(host, "。") // an ideographic full stop is a dot to most resolvers
	}
	last := host[dot+1:]
	if numeric(last) {
		return strings.Count(host, ".") == 3 && strings.Trim(host, "0123456789.") == ""
	}
	return len(last) >= 2 && !digit(last[0])
}

// properEnd cuts a sentence off that follows without a blank, "corp.example.They", where the rest is a public name. The
// whole is cut only if its last word is no place for names: "corp.Com" stays.
func properEnd(s string, at, to int) int {
	host := s[at:to]
	dot := strings.LastIndexByte(host, '.')
	if dot < 0 || dot+2 >= len(host) || host[dot+1] < 'A' || host[dot+1] > 'Z' || host[dot+2] < 'a' || host[dot+2] > 'z' {
		return to
	}
	if public(host) || !public(host[:dot]) {
		return to
	}
	return at + dot
}

func public(host string) bool {
	canonical, _ := CanonicalHost(host)
	return publicName(canonical)
}

// hosts looks for links without a scheme in s[at:end].
func (f *finder) hosts(at, end int) {
	s := f.text.s
	if local(s[at:end]) {
		return
	}
	for i := at; i < end; i++ {
		if !hostByte(s[i]) {
			continue
		}
		to := i
		dots := false
		for ; to < end && hostByte(s[to]); to++ {
			dots = dots || s[to] == '.' || s[to] >= 0x80
		}
		if !dots {
			i = to
			continue
		}
		i = f.host(i, to, end)
	}
}

// local reports a path on this machine, in which names look like hosts.
func local(token string) bool {
	token = strings.TrimLeft(token, "('[{")
	return strings.HasPrefix(token, "/") && !strings.HasPrefix(token, "//") || strings.HasPrefix(token, "~/") ||
		strings.HasPrefix(token, "./") || strings.HasPrefix(token, "../") || drive(token)
}

// host judges the run of host characters s[at:to], and returns where to go on.
func (f *finder) host(at, to, end int) int {
	s := f.text.s
	for at < to && strings.IndexByte(".-_", s[at]) >= 0 {
		at++
	}
	last := to
	for last > at && strings.IndexByte(".-_", s[last-1]) >= 0 {
		last--
	}
	switch last = properEnd(s, at, last); {
	case last == to, to == end:
	case s[last:to] == "." && s[to] == '/': // the dot at the end of a whole name: "evil.example./x"
		last = to
	default:
		end = to // what stands behind the punctuation is no path of the name
	}
	if link := f.link(at, last, end); link > 0 {
		f.add(at, link)
		return max(link, to) - 1
	}
	// Letters of other scripts may be the text around a name.
	for i := at; i < last; i++ {
		from := i
		for i < last && s[i] < 0x80 {
			i++
		}
		if i == from || from == at && i == last {
			continue
		}
		stop := end
		if i < last {
			stop = i
		}
		if link := f.link(from, i, stop); link > 0 {
			f.add(from, link)
			to = max(to, link)
		}
	}
	return to - 1
}

// link returns where the link that starts with the host s[at:to] ends, or 0 if it is none.
func (f *finder) link(at, to, end int) int {
	s := f.text.s
	host := strings.Trim(s[at:to], "。")
	if host == "" || len(host) > 253 {
		return 0
	}
	stop := to
	if to < end && strings.IndexByte("/?#:\\", s[to]) >= 0 {
		if stop = linkEnd(s, to, end, at > 0 && s[at-1] == '\''); s[to] == ':' && (to+1 == end || !digit(s[to+1])) {
			stop = to
		}
	}
	tail := s[to:stop]
	canonical, _ := CanonicalHost(host)
	final := canonical[strings.LastIndexByte(canonical, '.')+1:]
	switch {
	case numeric(final):
		if strings.Count(host, ".") != 3 || strings.Trim(host, "0123456789.") != "" || tail == "" {
			return 0
		}
	case strings.HasPrefix(canonical, "www.") && strings.Count(canonical, ".") > 1:
	case !publicName(canonical), fileEndings[final] && tail == "":
		return 0
	}
	return stop
}
