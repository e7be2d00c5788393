package load_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

// Every error that a policy can have, as a person sees it.
var badPolicies = []struct{ text, want string }{
	// Keys.
	{"t:\n  sink_parms: [to]\n", `p.yaml:2:3: unknown key "sink_parms" (did you mean "sink_params"?)`},
	{"t: {Exfiltrating: true}", `p.yaml:1:5: unknown key "Exfiltrating" (did you mean "exfiltrating"?)`},
	{"t: {maxCalls: 1}", `p.yaml:1:5: unknown key "maxCalls" (did you mean "max_calls"?)`},
	{"t: {zzz: 1}", `p.yaml:1:5: unknown key "zzz"`},
	{"t: {deny: true}", "p.yaml:1:5: \"deny\" belongs to the full format: add `version: 1` at the top, and put the tools under `tools:`"},
	{"t: {content: [to]}", "p.yaml:1:5: \"content\" belongs to the full format: add `version: 1` at the top, and put the tools under `tools:`"},
	{"t: {extends: pack}", "p.yaml:1:5: \"extends\" belongs to the full format: add `version: 1` at the top, and put the tools under `tools:`"},
	{"a: {}\nb: {}\na: {}\n", `p.yaml:3:1: duplicate key "a", first on line 1`},
	{"t:\n  max_calls: 1\n  max_calls: 2\n", `p.yaml:3:3: duplicate key "max_calls", first on line 2`},
	{"t: {arg_values: {a: [x], a: [y]}}", `p.yaml:1:26: duplicate key "a", first on line 1`},
	{"7: {}", `p.yaml:1:1: the key "7" is a number: put it in quotes`},
	{"true: {}", `p.yaml:1:1: the key "true" is true or false: put it in quotes`},
	{"? [a]\n: {}\n", `p.yaml:1:3: a key must be text, not a list`},
	// Names.
	{`"": {}`, `p.yaml:1:1: empty tool name`},
	{`" send": {}`, `p.yaml:1:1: the tool name " send" has spaces around it`},
	{`"a\u0007b": {}`, `p.yaml:1:1: the tool name "a\ab" has control characters`},
	// Shapes.
	{"- a\n", `p.yaml:1:1: the top level must be a mapping of tool names, not a list`},
	{"hello", `p.yaml:1:1: the top level must be a mapping of tool names, not text`},
	{"t:\n", `p.yaml:1:1: tool "t" has no rule: write {} to gate nothing, or remove it`},
	{"t: deny", `p.yaml:1:4: the rule of tool "t" must be a mapping, not text`},
	{"t: [a]", `p.yaml:1:4: the rule of tool "t" must be a mapping, not a list`},
	// Values.
	{"t: {exfiltrating: yes}", `p.yaml:1:19: exfiltrating must be true or false, not "yes"`},
	{"t: {exfiltrating: \"true\"}", `p.yaml:1:19: exfiltrating must be true or false, not "true"`},
	{"t: {exfiltrating: 1}", `p.yaml:1:19: exfiltrating must be true or false, not "1"`},
	{"t: {exfiltrating: }", `p.yaml:1:19: exfiltrating must be true or false, not nothing`},
	{"t: {sink_params: to}", `p.yaml:1:18: sink_params must be a list: write [to]`},
	{"t: {sink_params: {to: 1}}", `p.yaml:1:18: sink_params must be a list, not a mapping`},
	{"t: {sink_params: }", `p.yaml:1:18: sink_params must be a list, not nothing`},
	{"t: {sink_params: [1]}", `p.yaml:1:19: each item of sink_params must be text, not a number: put "1" in quotes`},
	{"t: {sink_params: [[a]]}", `p.yaml:1:19: each item of sink_params must be text, not a list`},
	{"t: {sink_params: [a..b]}", `p.yaml:1:19: "a..b" is not an argument path: write name, name.inner or list[].inner`},
	{"t: {write_params: ['a[0]']}", `p.yaml:1:20: "a[0]" is not an argument path: write name, name.inner or list[].inner`},
	{"t: {sink_params: ['']}", `p.yaml:1:19: "" is not an argument path: write name, name.inner or list[].inner`},
	{"t: {sink_params: ['to ']}", `p.yaml:1:19: "to " is not an argument path: write name, name.inner or list[].inner`},
	{"t: {arg_values: {a.: [x]}}", `p.yaml:1:18: "a." is not an argument path: write name, name.inner or list[].inner`},
	{"t: {arg_values: {a: x}}", `p.yaml:1:21: arg_values of "a" must be a list: write [x]`},
	{"t: {arg_values: {a: []}}", `p.yaml:1:21: arg_values of "a" is empty: name a value, or remove it`},
	{"t: {arg_values: {a: [null]}}", `p.yaml:1:22: arg_values of "a" must be plain values, not nothing`},
	{"t: {arg_values: [a]}", `p.yaml:1:17: arg_values must be a mapping, not a list`},
	{"t: {max_calls: -1}", `p.yaml:1:16: max_calls must not be negative, and is "-1"`},
	{"t: {max_calls: 1.5}", `p.yaml:1:16: max_calls must be a whole number from 0, not "1.5"`},
	{"t: {max_calls: 010}", `p.yaml:1:16: max_calls must be a whole number from 0, not "010"`},
	{"t: {max_calls: two}", `p.yaml:1:16: max_calls must be a whole number from 0, not "two"`},
	{"t: {max_calls: 99999999999999999999}", `p.yaml:1:16: max_calls must be a whole number from 0, not "99999999999999999999"`},
	{"t: {max_calls: }", `p.yaml:1:16: max_calls must be a whole number from 0, not nothing`},
	{"t: {allowed_path_prefixes: []}", `p.yaml:1:28: allowed_path_prefixes is empty: name a prefix, or remove the key to confine nothing`},
	{"t: {allowed_path_prefixes: ['']}", `p.yaml:1:29: allowed_path_prefixes has an empty item`},
	// Destinations that would match nothing, or everything.
	{"t: {trusted_destinations: ['*@corp.example']}", `p.yaml:1:28: trusted_destinations: "*@corp.example" has a wildcard, and none are known: write a whole value, @domain or a URL prefix`},
	{"t: {trusted_destinations: ['@']}", `p.yaml:1:28: trusted_destinations: "@" names no domain: write @corp.example`},
	{"t: {trusted_destinations: ['https://']}", `p.yaml:1:28: trusted_destinations: "https://" names no host, so it would trust every one`},
	{"t: {trusted_destinations: [http]}", `p.yaml:1:28: trusted_destinations: "http" names no host, so it would trust every one`},
	{"t: {trusted_destinations: ['a@b.example ']}", `p.yaml:1:28: trusted_destinations: "a@b.example " has spaces around it`},
	{"t: {trusted_destinations: [' ']}", `p.yaml:1:28: trusted_destinations has an empty item`},
	// Patterns.
	{"t: {arg_patterns: {a: '['}}", `p.yaml:1:23: pattern "[": missing closing ] at "["`},
	{"t: {arg_patterns: {a: 'a)|(?:b'}}", `p.yaml:1:23: pattern "a)|(?:b": unexpected ) at "a)|(?:b"`},
	{"t: {arg_patterns: {a: '(?=x)x'}}", `p.yaml:1:23: pattern "(?=x)x": RE2 has no lookahead: list the allowed values in arg_values, or write what the value must be`},
	{"t: {arg_patterns: {a: '(?!-).*'}}", `p.yaml:1:23: pattern "(?!-).*": RE2 has no lookahead: list the allowed values in arg_values, or write what the value must be`},
	{"t: {arg_patterns: {a: '(?<=a)b'}}", `p.yaml:1:23: pattern "(?<=a)b": RE2 has no lookbehind: match the text before it as part of the value: patterns match the whole value`},
	{"t: {arg_patterns: {a: '(?<!a)b'}}", `p.yaml:1:23: pattern "(?<!a)b": RE2 has no lookbehind: match the text before it as part of the value: patterns match the whole value`},
	{`t: {arg_patterns: {a: '(a)\1'}}`, `p.yaml:1:23: pattern "(a)\\1": RE2 has no backreference: write the alternatives out`},
	{"t: {arg_patterns: {a: '(?P<x>a)(?P=x)'}}", `p.yaml:1:23: pattern "(?P<x>a)(?P=x)": RE2 has no backreference: write the alternatives out`},
	{"t: {arg_patterns: {a: 'a*+'}}", `p.yaml:1:23: pattern "a*+": RE2 has no possessive quantifier: drop the second +: RE2 never backtracks`},
	{"t: {arg_patterns: {a: '(?>a)'}}", `p.yaml:1:23: pattern "(?>a)": RE2 has no atomic group: use (?:...): RE2 never backtracks`},
	{"t: {arg_patterns: {a: '(a)?(?(1)b|c)'}}", `p.yaml:1:23: pattern "(a)?(?(1)b|c)": RE2 has no conditional: write both cases with |`},
	{`t: {arg_patterns: {a: 'a\Z'}}`, `p.yaml:1:23: pattern "a\\Z": RE2 has no \Z: drop it: patterns match the whole value`},
	{"t: {arg_patterns: {a: " + strings.Repeat("x", 10_001) + "}}", `p.yaml:1:23: the pattern of "a" is longer than 10000 bytes`},
	{"t: {arg_patterns: {a: 7}}", `p.yaml:1:23: the pattern of "a" must be text, not a number: put "7" in quotes`},
	{"t: {arg_patterns: {a: [x]}}", `p.yaml:1:23: the pattern of "a" must be text, not a list`},
	// YAML that says one thing here and means another there.
	{"a: &x {}\nb: *x\n", "p.yaml:1:4: anchors are not allowed: write the value out where it is needed\np.yaml:2:4: aliases are not allowed: write the value out"},
	{"a: {<<: {max_calls: 1}}", `p.yaml:1:5: merge keys are not allowed: write the keys out`},
	{"a: !!map {}", `p.yaml:1:4: tags are not allowed: drop "!!map"`},
	{"a: !policy {}", `p.yaml:1:4: tags are not allowed: drop "!policy"`},
	{"a: {}\n---\nb: {}\n", `p.yaml:2:1: a policy is one YAML document; a second one starts here`},
	// No YAML, or no text.
	{"a: {\n", `p.yaml:2:1: not YAML: did not find expected node content`},
	{"a:\n\tmax_calls: 1\n", `p.yaml:2:1: not YAML: found character that cannot start any token`},
	{"a: b: c", `p.yaml:1:5: not YAML: mapping values are not allowed in this context`},
	{"\xff\xfea\x00", `p.yaml:1:1: the file is UTF-16: save it as UTF-8`},
	{"\xfe\xff\x00a", `p.yaml:1:1: the file is UTF-16: save it as UTF-8`},
	{"a\x00:\x00", `p.yaml:1:1: the file is UTF-16: save it as UTF-8`},
	{"a: {}\nb\xe9: {}\n", `p.yaml:2:2: not UTF-8`},
	// The full format.
	{"version: 2\n", `p.yaml:1:10: version 2 is not supported by this version of bouncer: write 1`},
	{"version: \"1\"\n", `p.yaml:1:10: version must be the number 1, not "1"`},
	{"version: 1.0\n", `p.yaml:1:10: version must be the number 1, not "1.0"`},
	{"version: 0x1\n", `p.yaml:1:10: version must be the number 1, not "0x1"`},
	{"version: 1\nsend: {}\n", `p.yaml:2:1: unknown key "send"`},
	{"version: 1\ntool: {}\n", `p.yaml:2:1: unknown key "tool" (did you mean "tools"?)`},
	{"version: 1\ngroups: {}\n", `p.yaml:2:1: unknown key "groups"`},
	{"version: 1\nprofile: lax\n", `p.yaml:2:10: profile must be strict, standard or paranoid, not "lax"`},
	{"version: 1\nprofile: Strict\n", `p.yaml:2:10: profile must be strict, standard or paranoid, not "Strict" (did you mean "strict"?)`},
	{"version: 1\nprofile:\n", `p.yaml:2:9: profile must be text, not nothing`},
	{"version: 1\nservers: {g: {send: {}}}\n", `p.yaml:2:15: unknown key "send"`},
	{"version: 1\nservers: {g: {results: {}}}\n", `p.yaml:2:15: unknown key "results"`},
	{"version: 1\nservers: {'': {tools: {}}}\n", `p.yaml:2:11: empty server name`},
	{"version: 1\nservers: {g: }\n", `p.yaml:2:14: server "g" must be a mapping, not nothing`},
	{"version: 1\nversion: 1\n", `p.yaml:2:1: duplicate key "version", first on line 1`},
	{"version: 1\ntools: {t: {intent: []}}\n", `p.yaml:2:21: intent is empty: name something, or remove the key`},
	{"version: 1\ntools: {t: {sinks: [{kind: email}]}}\n", `p.yaml:2:21: a sink needs the key args`},
	{"version: 1\ntools: {t: {sinks: [{args: [to], kind: emial}]}}\n", `p.yaml:2:40: kind must be one of email, url, account, repo, channel, user, phone, name, path, id, text, not "emial" (did you mean "email"?)`},
	{"version: 1\ntools: {t: {sinks: [{args: [a, b], kind: phone}]}}\n", `p.yaml:2:21: a sink of kind phone stands in one argument: write one sink each`},
	{"version: 1\ntools: {t: {sinks: [{args: [to]}], content: [to]}}\n", `p.yaml:2:9: the rule of tool "t" calls "to" a sink and content: it can be one of them`},
	{"version: 1\ntools: {t: {results: [{path: a}]}}\n", `p.yaml:2:23: a result needs the keys path and label`},
	{"version: 1\ntools: {t: {results: [{path: a..b, label: directory}]}}\n", `p.yaml:2:30: "a..b" is not a path in an answer: write name, name.inner, list[].inner, *.inner, or . for the answer itself`},
	{"version: 1\ntools: {t: {on_tainted: maybe}}\n", `p.yaml:2:25: on_tainted must be one of allow, ask, deny, not "maybe"`},
	{"version: 1\ntools: {t: {consequence: {}}}\n", `p.yaml:2:26: consequence says nothing: write true, or named or own arguments`},
	{"version: 1\ntools: {t: {extends: user}}\n", `p.yaml:2:22: extends must be pack, not "user"`},
	{"version: 1\ntools: {t: {trusted_destinations: [$partner]}}\ndestinations: {partners: [\"@p.example\"]}\n", `p.yaml:2:36: there is no group "partner" in destinations (did you mean "partners"?)`},
	// The full format without its version.
	{"tools:\n  send: {exfiltrating: true}\n", "p.yaml:1:1: \"tools\" belongs to the full format: add `version: 1` at the top"},
	{"servers:\n  gmail: {tools: {}}\n", "p.yaml:1:1: \"servers\" belongs to the full format: add `version: 1` at the top"},
	{"profile: strict\n", "p.yaml:1:1: \"profile\" belongs to the full format: add `version: 1` at the top"},
	// All at once, in file order.
	{"a: {max_calls: -1, x: 1}\nb:\n  sink_params: [7]\n  exfiltrating: no\n", strings.Join([]string{
		`p.yaml:1:16: max_calls must not be negative, and is "-1"`,
		`p.yaml:1:20: unknown key "x"`,
		`p.yaml:3:17: each item of sink_params must be text, not a number: put "7" in quotes`,
		`p.yaml:4:17: exfiltrating must be true or false, not "no"`,
	}, "\n")},
}

func TestErrors(t *testing.T) {
	for _, c := range badPolicies {
		s, err := load.Bytes("p.yaml", []byte(c.text))
		var list *load.Errors
		if err == nil || s != nil || !errors.As(err, &list) {
			t.Errorf("%q: got %v, %v; want %s", c.text, s, err, c.want)
			continue
		}
		if d := cmp.Diff(c.want, err.Error()); d != "" {
			t.Errorf("%q: (-want +got)\n%s", c.text, d)
		}
	}
}

// Hostile names neither write to the terminal nor fill it.
func TestErrorsAreShortAndVisible(t *testing.T) {
	long := strings.Repeat("k", 500_000)
	for _, text := range []string{
		"t: {" + long + ": 1}",
		"t: {\"\\u001b[31m\\u202e\": 1}",
		"t: {arg_values: {" + long + ": [" + strings.Repeat("[],", 1000) + "]}}",
	} {
		_, err := load.Bytes("p.yaml", []byte(text))
		if err == nil {
			t.Fatal("no error")
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if len(line) > 300 || strings.ContainsAny(line, "\x1b\u202e") {
				t.Fatalf("%.400q", line)
			}
		}
	}
}

// FuzzBytes: no text panics or hangs; an error comes alone, and stands inside the file.
func FuzzBytes(f *testing.F) {
	for _, c := range badPolicies {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(strings.Repeat("[", 5000)))
	f.Add([]byte("send_email:\n  exfiltrating: true\n  sink_params: [to]\n  arg_patterns: {a: '.*'}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range []func() (bool, error){
			func() (bool, error) { s, err := load.Bytes("f", data); return s != nil, err },
			func() (bool, error) { p, err := load.PackBytes("f", data); return len(p.Tools) > 0, err },
		} {
			some, err := read()
			if err == nil {
				continue
			}
			var list *load.Errors
			if some || !errors.As(err, &list) || len(list.List) == 0 {
				t.Fatalf("a policy beside an error, or no list: %v", err)
			}
			lines := strings.Split(string(data), "\n")
			for _, e := range list.List {
				if e.At.Line < 1 || e.At.Line > len(lines) || e.At.Column < 1 || e.At.Column > len([]rune(lines[e.At.Line-1]))+1 {
					t.Fatalf("%v is not in the file", e)
				}
				if strings.Contains(e.What, "\n") {
					t.Fatalf("more than a line: %q", e.What)
				}
			}
		}
	})
}
