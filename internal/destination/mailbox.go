package destination

import "strings"

// Mailbox returns an e-mail address without its tag: all+1@corp.example comes to all@corp.example. Everything else is returned as it is.
// It widens refusals, never trust: not every server knows tags.
func (d Destination) Mailbox() Destination {
	local, host, ok := strings.Cut(d.Canonical, "@")
	if base, _, tagged := strings.Cut(local, "+"); d.Kind == Email && ok && tagged && base != "" {
		d.Canonical = base + "@" + host
		d.Raw = d.Canonical
	}
	return d
}
