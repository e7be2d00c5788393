package judge

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/destination"
	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// plain are the methods whose parameters carry nothing out: they name no destination, and their cursors, levels and task
// ids are the protocol's own.
var plain = []string{"initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list",
	"logging/setLevel", "tasks/get", "tasks/list", "tasks/cancel", "tasks/result", "server/discover"}

// fetching are the methods that read a URI: the URI is what leaves.
var fetching = []string{"resources/read", "resources/subscribe", "resources/unsubscribe"}

// Method judges a request other than tools/call. It is false when there is nothing to judge: the request names no
// destination. What is judged is every e-mail address, URL and account number in it, as a call's sinks would be. A URI that
// this server listed itself is its own and goes back to it; one that was composed may carry something out.
func (j *Judge) Method(method string, params []byte, client string) (o *Outcome, judged bool) {
	if slices.Contains(plain, method) || len(params) == 0 {
		return nil, false
	}
	v, err := decodeArgs(params)
	if err != nil {
		return j.Refuse(method, "its parameters cannot be read in one way: "+err.Error(), client), true
	}
	args := j.named(v, slices.Contains(fetching, method))
	if args == nil {
		return j.guarded(method, params, v, client)
	}
	return j.decide(Request{Tool: method, Args: args, Client: client, method: true}, false), true
}

// guarded denies a request that names Bouncer's own files, in a URL or as a path: a server that reads files reads resources too
// (A67). It is false where there is nothing to deny.
func (j *Judge) guarded(method string, params []byte, v jsonrpc.Value, client string) (*Outcome, bool) {
	if !slices.Contains(fetching, method) {
		return nil, false
	}
	call := gate.Call{Server: j.cfg.Server.Name, Tool: method, Args: v, Leaves: policy.Leaves(v), Pin: gate.Pin{State: gate.PinHeld}}
	rules := gate.NewRules(policy.Rule{Tool: method}, j.cfg.Profile)
	j.cfg.Paths.resolve(&call, rules)
	o := &Outcome{ID: audit.NewID(), request: Request{Tool: method, Args: params, Client: client, method: true}, call: call, rules: rules}
	if o.Decision = gate.Decide(call, rules, j.facts(o.request)); o.Decision.Verdict == gate.Allow {
		return nil, false
	}
	o.Decision.Verdict = gate.Deny
	j.log(o)
	return o, true
}

// named returns the destinations in a request's parameters as arguments, each under the path where it stands; nil when
// there are none. _meta is the client's own to fill, and no server acts on it.
func (j *Judge) named(params jsonrpc.Value, uri bool) []byte {
	var order []string
	found := map[string][]string{}
	add := func(path, text string) {
		if _, known := found[path]; !known {
			order = append(order, path)
		}
		found[path] = append(found[path], text)
	}
	for _, leaf := range policy.Leaves(params) {
		if leaf.IsName || leaf.Value.Kind != jsonrpc.String || leaf.Argument() == "_meta" {
			continue
		}
		text := leaf.Value.Text
		if uri && j.lists(text) {
			continue
		}
		ds := destination.Parse(text)
		if len(ds) > 1 || reaches(ds[0], uri) {
			add(leaf.Path(), text)
			continue
		}
		for _, part := range parts(text, uri) {
			for _, m := range destination.Mentions(part) {
				if reaches(m.Destination, uri) {
					add(leaf.Path(), m.Raw)
				}
			}
		}
	}
	if order == nil {
		return nil
	}
	out := []byte{'{'}
	for i, path := range order {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, jsonrpc.Quote(path)...), ':', '[')
		for n, text := range found[path] {
			if n > 0 {
				out = append(out, ',')
			}
			out = append(out, jsonrpc.Quote(text)...)
		}
		out = append(out, ']')
	}
	return append(out, '}')
}

// parts returns the texts to look for destinations in. In a URI of the server's own scheme these are the values of its path and
// query, decoded: db://q?send=spy%40evil.example.
func parts(text string, uri bool) []string {
	if !uri {
		return []string{text}
	}
	out := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("?&=#;", r) })
	for i, part := range out {
		if plain, err := url.PathUnescape(part); err == nil {
			out[i] = plain
		}
	}
	return out
}

// reaches reports a destination that is somewhere else than with the server: an address, a network URL, an account. A
// resource's URI in a scheme of the server's own (note://7) stays with it.
func reaches(d destination.Destination, uri bool) bool {
	switch d.Kind {
	case destination.Email, destination.URL, destination.Account:
		return true
	}
	scheme, _, _ := strings.Cut(strings.ToLower(d.Raw), ":")
	return d.Host() != "" && (!uri || slices.Contains(network, scheme))
}

// network are schemes beside http that reach another machine.
var network = []string{"ftp", "ftps", "sftp", "scp", "ssh", "git", "ws", "wss", "smb", "nfs", "ldap", "ldaps", "gopher", "telnet", "dns", "s3", "gs",
	"imap", "smtp", "redis", "mongodb", "postgres", "postgresql", "mysql", "tcp", "udp", "view-source", "jar"}

// lists reports that this server wrote the URI itself, as a resource of its own: as it stands, and not in somebody's text.
func (j *Judge) lists(uri string) bool {
	d := destination.Destination{Kind: destination.Opaque, Raw: uri, Canonical: uri}
	seen, ok := j.cfg.Session.Verbatim(d)
	return ok && seen.Source.Server == j.cfg.Server.Name && seen.Source.Tool == "resources/list" && strings.HasPrefix(seen.Field, "resources[") &&
		strings.HasSuffix(seen.Field, "].uri")
}

// methodRules are what a request other than a call is judged by: every destination in it is a sink. The user's policy may
// name some under the method's own name.
func (j *Judge) methodRules(method string) gate.Rules {
	rule := j.cfg.Policy.Rule(j.Server(), policy.Tool{Name: method, InputSchema: jsonrpc.Value{Kind: jsonrpc.Object}})
	own := policy.Rule{Tool: method, Layer: policy.Heuristic, Why: "a request that names a destination", Exfiltrating: true,
		Fetch: slices.Contains(fetching, method), Intent: rule.Intent}
	if rule.Layer == policy.User {
		own.Layer, own.At, own.Why = rule.Layer, rule.At, rule.Why
		own.TrustedDestinations, own.Deny, own.MaxCalls = rule.TrustedDestinations, rule.Deny, rule.MaxCalls
		own.OnTainted, own.OnUnproven, own.RequireApproval = rule.OnTainted, rule.OnUnproven, rule.RequireApproval
	}
	return gate.NewRules(own, j.cfg.Profile)
}
