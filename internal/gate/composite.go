package gate

import (
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// composites reads the destinations that stand in several arguments at once: owner and repo. It returns the arguments
// that it took. Where a part is missing or is a list, nobody can say what belongs together, and each is judged alone.
func composites(l ladder) (out []Judged, parts map[policy.Spot]bool) {
	for _, sink := range l.r.Sinks {
		if len(sink.Args) < 2 {
			continue
		}
		var found []policy.Selected
		for _, param := range sink.Args {
			if args := param.Select(l.c.Args); len(args) == 1 && !args[0].IsName {
				found = append(found, args[0])
			}
		}
		if len(found) < len(sink.Args) {
			continue
		}
		var paths []string
		if parts == nil {
			parts = map[policy.Spot]bool{}
		}
		for _, arg := range found {
			parts[arg.Spot()] = true
			paths = append(paths, arg.Path())
		}
		text, whose, why := joined(sink.Kind, found)
		for _, d := range destination.Parse(text) {
			if why != "" && d.Ambiguous == "" {
				d.Ambiguous = why
			}
			j := l.judge(strings.Join(paths, "/"), d, sink.Kind)
			if place, seen := l.seen(destination.Parse(whose)[0]); j.Origin == Unproven && seen { // whose place it is decides
				j.Origin, j.Seen = Untrusted, &place
			}
			out = append(out, j)
		}
	}
	return out, parts
}

// joined spells the destination that the parts make together, and says which part owns the place: the owner of a
// repository, the host of a URL, the domain of an address. Putting parts together is itself a way to smuggle (A43): host
// corp.example with path @evil.example/ is evil.example to a server that does not put a slash between. why says that the
// parts do not fit.
func joined(kind policy.SinkKind, parts []policy.Selected) (text, whose, why string) {
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Value.Text)
	}
	switch kind {
	case policy.KindEmail:
		whose = texts[len(texts)-1]
		if strings.ContainsAny(strings.Join(texts, ""), "@,; <>") {
			why = "the parts of the address hold more than an address"
		}
		return strings.Join(texts, "@"), whose, why
	case policy.KindURL:
		return joinedURL(parts)
	}
	return strings.Join(texts, "/"), texts[0], ""
}

func joinedURL(parts []policy.Selected) (text, host, why string) {
	scheme, rest := "https", ""
	for _, p := range parts {
		value := p.Value.Text
		switch name := strings.ToLower(p.Argument()); {
		case strings.Contains(name, "scheme") || strings.Contains(name, "protocol"):
			scheme = strings.TrimSuffix(strings.TrimSuffix(value, "//"), ":")
		case host == "":
			host = value
			if strings.ContainsAny(value, "/\\@?#") {
				why = "the host holds more than a host"
			}
		case strings.Contains(name, "port") && rest == "":
			rest = ":" + value
		case !strings.HasPrefix(value, "/"):
			rest, why = rest+"/"+value, "a path that does not begin with a slash can change the host before it"
		default:
			rest += value
		}
	}
	text = scheme + "://" + host + rest
	if why == "" && destination.Parse(text)[0].Host() != destination.Parse(scheme + "://" + host)[0].Host() {
		why = "the parts together are on another host"
	}
	return text, host, why
}
