package gate

import (
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// headerNames are arguments that servers put into a header line of a message.
var headerNames = []string{"to", "cc", "bcc", "from", "sender", "replyto", "subject", "recipient", "recipients", "filename", "inreplyto", "references"}

// headerMaps are arguments whose members become header lines, their names too.
var headerMaps = []string{"headers", "extraheaders", "customheaders", "additionalheaders", "httpheaders", "emailheaders"}

// refNames are arguments that servers put onto a command line as the name of something.
var refNames = []string{"target", "revision", "ref", "branch", "branchname", "basebranch", "startpoint", "commit", "sha", "tag", "remote", "starttimestamp", "endtimestamp",
	"file", "files", "path", "paths", "filepath", "filepaths", "pathspec"}

// smuggled finds values that mean something else to the program behind the server: a line break in a header starts the next header,
// Bcc say (A38); a name that begins with a hyphen is an option (A79).
func smuggled(c Call, r Rules) []Finding {
	git := strings.Contains(strings.ToLower(c.Tool), "git")
	var out []Finding
	for _, leaf := range c.Leaves {
		if leaf.Value.Kind != jsonrpc.String && !leaf.IsName {
			continue
		}
		name := squeezed(leaf)
		switch {
		case r.Exfiltrating && slices.Contains(headerMaps, name) && breaksLine(leaf.Value.Text):
			out = append(out, deny(Constraint, leaf.Path(), "%s holds a line break, which ends a header and begins another", leaf.Path()))
		case leaf.IsName:
		case r.Exfiltrating && slices.Contains(headerNames, name) && breaksLine(leaf.Value.Text):
			out = append(out, deny(Constraint, leaf.Path(), "%s holds a line break, which ends a header and begins another", leaf.Path()))
		case r.Exfiltrating && namesURL(name) && oddScheme(leaf.Value.Text) != "" && !covers(r.trusted, whole(leaf.Value.Text)):
			out = append(out, deny(Constraint, leaf.Path(), "%s=%s is no web address but %s", leaf.Path(), repr(leaf.Value.Text), oddScheme(leaf.Value.Text)))
		case git && slices.Contains(refNames, name) && isOption(leaf.Value.Text):
			out = append(out, deny(Constraint, leaf.Path(), "%s=%s is an option where a name belongs", leaf.Path(), repr(leaf.Value.Text)))
		}
	}
	return out
}

// squeezed is an argument's name without case and signs: reply_to, replyTo and Reply-To are one.
func squeezed(s policy.Selected) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(s.Argument()))
}

// namesURL reports an argument that takes the address of a page, a hook or a remote.
func namesURL(name string) bool {
	return strings.HasSuffix(name, "url") || strings.HasSuffix(name, "uri") || slices.Contains([]string{"href", "link", "endpoint", "webhook", "remote", "repository"}, name)
}

// oddSchemes open what is not on the web: files of this machine, text that is code, other programs, protocols that a reader of web
// pages speaks by accident (A35), helpers that git starts (A25).
var oddSchemes = []string{"file", "data", "javascript", "vbscript", "blob", "filesystem", "dict", "gopher", "ldap", "ldaps", "tftp", "jar", "netdoc",
	"view-source", "php", "phar", "expect", "mhtml", "about", "chrome", "ms-settings", "ms-msdt", "search-ms"}

// oddScheme says what a text names in place of a web address; "" is nothing of the kind. Signs that readers of URLs drop are dropped.
func oddScheme(text string) string {
	text = strings.ToLower(strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text))
	if strings.HasPrefix(text, `\\`) {
		return "a share of another machine"
	}
	text = strings.TrimPrefix(text, "url:")
	scheme, rest, ok := strings.Cut(text, ":")
	if plain := strings.TrimFunc(scheme, func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("+-.", r)
	}); !ok || plain != "" || scheme == "" {
		return ""
	}
	if strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "::") { // ext::sh -c ...
		return "a helper program, " + scheme
	}
	if slices.Contains(oddSchemes, scheme) {
		return "of the scheme " + scheme
	}
	return ""
}

func breaksLine(text string) bool {
	if strings.ContainsAny(strings.TrimRight(text, "\r\n"), "\r\n\v\f\x00\u0085\u2028\u2029") {
		return true
	}
	low := strings.ToLower(text)
	return strings.Contains(low, "%0d") || strings.Contains(low, "%0a")
}

func isOption(text string) bool {
	text = strings.TrimLeft(text, " \t\u00a0")
	return strings.HasPrefix(text, "-") || strings.HasPrefix(text, "\u2212") || strings.HasPrefix(text, "\uff0d") || strings.HasPrefix(text, "\u2010")
}
