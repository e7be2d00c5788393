package destination

import whatwg "github.com/nlnwa/whatwg-url/url"

// browserDisagreement asks the reader that browsers and Node servers share.
func browserDisagreement(whole string, p parts) string {
	u, err := whatwg.Parse(whole)
	if err != nil {
		return "browsers refuse the URL"
	}
	host, _ := CanonicalHost(u.Hostname())
	port, _ := canonicalPort(u.Port(), u.Scheme())
	if u.Scheme() != p.scheme || host != p.host || port != p.port || u.Username() != "" || u.Password() != "" {
		return "URL readers disagree about the host"
	}
	return ""
}
