package destination

import "strings"

// sharedHosts are hosts that many strangers share, each under a path of their own: trusting the host trusts all of them (A16). Hosts
// with a name for each tenant are no such: the name is the tenant.
var sharedHosts = map[string]bool{
	"github.com": true, "gist.github.com": true, "raw.githubusercontent.com": true, "gist.githubusercontent.com": true, "gitlab.com": true,
	"bitbucket.org": true, "codeberg.org": true, "storage.googleapis.com": true, "storage.cloud.google.com": true, "s3.amazonaws.com": true,
	"hooks.slack.com": true, "discord.com": true, "discordapp.com": true, "pastebin.com": true, "docs.google.com": true, "drive.google.com": true,
	"script.google.com": true, "sites.google.com": true, "forms.gle": true, "www.dropbox.com": true, "dropbox.com": true, "1drv.ms": true,
	"api.telegram.org": true, "webhook.site": true, "httpbin.org": true, "transfer.sh": true, "file.io": true, "0x0.st": true, "rentry.co": true,
	"medium.com": true, "huggingface.co": true, "npmjs.com": true, "www.npmjs.com": true, "pypi.org": true, "hub.docker.com": true,
	"bit.ly": true, "tinyurl.com": true, "t.me": true, "wa.me": true, "linktr.ee": true, "translate.google.com": true, "web.archive.org": true,
}

// Shared reports a host that many strangers share: github.com, hooks.slack.com, s3.eu-west-1.amazonaws.com.
func Shared(host string) bool {
	if sharedHosts[host] {
		return true
	}
	return strings.HasPrefix(host, "s3.") && strings.HasSuffix(host, ".amazonaws.com") || strings.HasPrefix(host, "s3-") && strings.HasSuffix(host, ".amazonaws.com")
}

// TooWide reports an entry that names a shared host as a whole. It covers nothing: who means one tenant has to name their path.
func (e Entry) TooWide() bool {
	if len(e.parsed) != 1 || e.parsed[0].Kind != URL || !Shared(e.parsed[0].Host()) {
		return false
	}
	path := splitCanonical(e.parsed[0].Canonical).path
	return path == "" || path == "/"
}
