package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// content looks inside the text that an exfiltrating call carries: a link, address or account number in it works on its
// reader like a destination of its own (a phishing link to a friend), so it must be the user's, allowlisted or a
// directory's; and a labelled secret leaves only when the user names it.
func content(c Call, r Rules, f Facts, sinks []Judged) []Finding {
	if !r.Exfiltrating {
		return nil
	}
	l := ladder{c, r, f, Content}
	var out []Finding
	looked := 0
	for _, arg := range texts(c, r, sinks) {
		if found, ok := f.Secret(arg.Value.Text); ok && !c.User.Names(found.Destination.Raw) {
			out = append(out, secret(l, arg, found.Destination)...)
		}
		for _, m := range destination.Mentions(arg.Value.Text) {
			if looked++; looked > maxDestinations {
				return append(out, deny(Content, arg.Path(), "the text of the call names more than %d destinations", maxDestinations))
			}
			out = append(out, mention(l, arg, m.Destination, sinks)...)
		}
	}
	return out
}

func secret(l ladder, arg policy.Selected, d destination.Destination) []Finding {
	j := Judged{Contract: Content, Param: arg.Path(), Destination: d, Origin: Attributed}
	if !l.never(&j) && l.f.Approved(Content, l.c.Tool, d) {
		return nil
	}
	if j.Why != "" {
		return []Finding{{Contract: Content, Verdict: Deny, Param: j.Param, Judged: &j, Reason: fmt.Sprintf("%s holds a secret that %s", j.Param, j.Why)}}
	}
	return later(l.c, l.r, Finding{Contract: Content, Param: j.Param, Judged: &j,
		Reason: fmt.Sprintf("%s holds a value that the policy labels secret", j.Param)})
}

func mention(l ladder, arg policy.Selected, d destination.Destination, sinks []Judged) []Finding {
	if l.c.User.Names(d.Raw) || slices.ContainsFunc(sinks, func(s Judged) bool { return s.Destination.Canonical == d.Canonical && s.Origin.Trusted() }) {
		return nil
	}
	if loopback(d.Host()) {
		return nil // an address of the reader's own machine leads nowhere
	}
	j := l.judge(arg.Path(), d, "")
	reason := fmt.Sprintf("%s holds %s, which ", j.Param, repr(d.Raw))
	switch {
	case j.Origin.Trusted():
		return nil
	case j.Origin == Refused:
		return []Finding{{Contract: Content, Verdict: Deny, Param: j.Param, Judged: &j, Reason: reason + j.Why}}
	case j.Origin == Untrusted:
		return []Finding{{Contract: Content, Verdict: Deny, Param: j.Param, Judged: &j, Reason: reason + "came from untrusted data"}}
	}
	return later(l.c, l.r, Finding{Contract: Content, Param: j.Param, Judged: &j, Reason: reason + "nobody vouched for"})
}

// texts returns every text of the call that is no destination itself, nor would be one if the user's policy did not say
// otherwise.
func texts(c Call, r Rules, sinks []Judged) []policy.Selected {
	judged := map[string]bool{}
	for _, s := range sinks {
		judged[s.Param] = true
		judged[strings.SplitN(s.Param, ".json", 2)[0]] = true // JSON in a string was judged from the inside
	}
	return slices.DeleteFunc(slices.Clone(c.Leaves), func(s policy.Selected) bool {
		return s.IsName || s.Value.Kind != jsonrpc.String || judged[s.Path()] ||
			slices.ContainsFunc(r.Waived, func(p policy.Param) bool { return p.Top() == s.Argument() }) || partOfSink(r, s)
	})
}

// partOfSink reports an argument that is one part of a destination, or whose links are judged already.
func partOfSink(r Rules, s policy.Selected) bool {
	return slices.ContainsFunc(r.Sinks, func(sink policy.Sink) bool {
		return (len(sink.Args) > 1 || sink.Kind == policy.KindText) && slices.ContainsFunc(sink.Args, func(p policy.Param) bool { return p.Top() == s.Argument() })
	})
}

func loopback(host string) bool {
	return host == "localhost" || host == "[::1]" || strings.HasPrefix(host, "127.") && strings.Count(host, ".") == 3
}
