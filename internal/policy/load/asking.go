package load

import (
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

var askKeys = []string{"client", "own", "keep", "questions"}

const outOfBand = "out-of-band-only"

// asking reads how a person is asked: `ask: out-of-band-only`, or a mapping of limits, in which client may say the same.
func (r *reader) asking(n *yaml.Node) (a policy.Asking) {
	if n.Kind == yaml.ScalarNode {
		a.OutOfBandOnly = r.choice(n, "ask", []string{"client", outOfBand}) == outOfBand
		return a
	}
	for _, f := range r.fields(n, "ask") {
		switch f.key {
		case "client":
			if f.node.Kind == yaml.ScalarNode && f.node.Value == outOfBand {
				a.OutOfBandOnly = true
				continue
			}
			a.Client = r.span(f)
		case "own":
			a.Own = r.span(f)
		case "keep":
			a.Keep = r.span(f)
		case "questions":
			most, err := strconv.Atoi(f.node.Value)
			if f.node.Kind != yaml.ScalarNode || f.node.Tag != "!!int" || err != nil || most < 1 || most > 1000 {
				r.at(f.node.Line, f.node.Column, "questions must be a number from 1 to 1000: how many a person gets under one prompt")
				continue
			}
			a.Questions = most
		default:
			r.unknown(f, askKeys)
		}
	}
	return a
}

// span reads a time from a second to a day.
func (r *reader) span(f field) time.Duration {
	s, ok := r.text(f.node, f.key)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Second || d > 24*time.Hour {
		r.at(f.node.Line, f.node.Column, "%s must be a time from 1s to 24h, such as 90s or 2m, not %s", f.key, show(s))
		return 0
	}
	return d
}
