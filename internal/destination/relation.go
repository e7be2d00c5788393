package destination

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// maxCompared is how long a name may be to be compared letter by letter.
const maxCompared = 300

// shortName is the fewest letters of a name in which one other letter is a look-alike and not another name.
const shortName = 4

// Resembles reports that d could be taken for one of the trusted destinations and is none of them: a character that looks like
// another, one letter more, less or other, another ending, a name added before or behind. Which one, and how, is for a person.
// Another mailbox at the same domain and a name below a trusted one are no look-alikes.
func Resembles(d Destination, trusted []Destination) (which Destination, how string, ok bool) {
	for _, t := range trusted {
		if d.Kind == t.Kind && d.Canonical == t.Canonical {
			return Destination{}, "", false
		}
	}
	for _, t := range trusted {
		if how := likeness(d, t); how != "" {
			return t, how, true
		}
	}
	return Destination{}, "", false
}

func likeness(d, t Destination) string {
	if len(d.Canonical) > maxCompared || len(t.Canonical) > maxCompared {
		return ""
	}
	host, own := d.Host(), t.Host()
	switch {
	case host != "" && own != "" && host == own:
		if d.Kind == Email && t.Kind == Email && publicMail[host] {
			return nameLikeness(mailbox(d), mailbox(t))
		}
		return ""
	case host != "" && own != "":
		return hostLikeness(host, own)
	case d.Kind == Email || t.Kind == Email || d.Kind == URL || t.Kind == URL:
		return ""
	}
	mine, theirs := strings.Split(d.Canonical, "/"), strings.Split(t.Canonical, "/")
	if len(mine) > 1 && len(mine) == len(theirs) { // owner/repo: whose place it is decides
		return nameLikeness(mine[0], theirs[0])
	}
	return nameLikeness(d.Canonical, t.Canonical)
}

func mailbox(d Destination) string { return d.Canonical[:strings.LastIndexByte(d.Canonical, '@')] }

// publicMail are hosts where everybody can have an address.
var publicMail = map[string]bool{"gmail.com": true, "googlemail.com": true, "outlook.com": true, "hotmail.com": true, "live.com": true,
	"yahoo.com": true, "icloud.com": true, "me.com": true, "aol.com": true, "gmx.de": true, "gmx.net": true, "gmx.com": true, "web.de": true,
	"proton.me": true, "protonmail.com": true, "mail.com": true, "mail.ru": true, "yandex.ru": true, "yandex.com": true, "qq.com": true,
	"163.com": true, "126.com": true, "zoho.com": true, "fastmail.com": true, "hey.com": true, "tutanota.com": true, "t-online.de": true}

// PublicMail reports a host where everybody can have an address: trusting its domain trusts everybody.
func PublicMail(host string) bool { return publicMail[host] }

func nameLikeness(name, own string) string {
	switch {
	case strings.EqualFold(name, own): // capitals make another id to some servers, and hide nothing
		return ""
	case Skeleton(name) == Skeleton(own):
		return "it looks the same"
	case len(own) >= shortName && oneEdit(name, own):
		return "one character differs"
	}
	return ""
}

// hostLikeness compares a host with a trusted one.
func hostLikeness(host, own string) string {
	site, ownSite := registrable(host), registrable(own)
	if site == ownSite || site == "" || ownSite == "" {
		return ""
	}
	name, ending, _ := strings.Cut(site, ".")
	ownName, ownEnding, _ := strings.Cut(ownSite, ".")
	switch {
	case Skeleton(site) == Skeleton(ownSite):
		return "it looks the same"
	case name == ownName:
		return "another ending than ." + ownEnding
	case ending == ownEnding && len(ownName) >= shortName && oneEdit(name, ownName):
		return "one character differs"
	case strings.HasPrefix(host, own+".") || strings.Contains(host, "."+own+".") || strings.HasPrefix(host, ownSite+".") || strings.Contains(host, "."+ownSite+"."):
		return "it begins like the trusted host and ends on another"
	case len(ownName) >= shortName && holdsWord(name, ownName):
		return "the trusted name with something added"
	}
	return ""
}

// holdsWord reports name as one of the words in a hyphenated name: secure-corp, corp-example-com.
func holdsWord(name, own string) bool {
	return strings.HasPrefix(name, own+"-") || strings.HasSuffix(name, "-"+own) || strings.Contains(name, "-"+own+"-")
}

// registrable is the part of a host that one owner holds; "" for an address and for a bare suffix.
func registrable(host string) string {
	if strings.HasPrefix(host, "[") || numeric(host[strings.LastIndexByte(host, '.')+1:]) {
		return ""
	}
	site, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return ""
	}
	return site
}

// oneEdit reports that one letter is put in, taken out, replaced, or changed places with its neighbour.
func oneEdit(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a)-len(b) > 1 || a == b {
		return false
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	if len(a) > len(b) {
		return a[i+1:] == b[i:]
	}
	return a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// Destinations returns what an entry of an allowlist stands for, to compare look-alikes with: "@corp.example" stands for its host.
func (e Entry) Destinations() []Destination {
	if host := e.Host(); host != "" {
		return []Destination{{Kind: URL, Raw: e.raw, Canonical: "https://" + host + "/"}}
	}
	return e.parsed
}
