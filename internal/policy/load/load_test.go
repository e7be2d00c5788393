package load_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
	"github.com/mcp-bouncer/bouncer/internal/policy/policytest"
)

func mustLoad(t *testing.T, text string) *policy.Set {
	t.Helper()
	s, err := load.Bytes("p.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return s
}

func strs(params []policy.Param) []string {
	var out []string
	for _, p := range params {
		out = append(out, p.String())
	}
	return out
}

func TestFlat(t *testing.T) {
	s := mustLoad(t, `
send_email:
  exfiltrating: true
  sink_params: [to, cc, "attendees[].email"]
  trusted_destinations: [a@b.example, "@corp.example", "https://api.corp.example/v1/"]
write_file:
  write_params: [path]
  allowed_path_prefixes: [./out, ~/notes, /srv]
  arg_patterns: {path: '.*\.md'}
  arg_values: {mode: [append, 1, true]}
  max_calls: 0
quiet: {}
`)
	send := s.Tools["send_email"]
	if !send.Exfiltrating || send.Layer != policy.User || send.At != (policy.Position{File: "p.yaml", Line: 2, Column: 1}) {
		t.Errorf("send_email: %+v", send)
	}
	if d := cmp.Diff([]string{"to", "cc", "attendees[].email"}, strs(send.SinkParams)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a@b.example", "@corp.example", "https://api.corp.example/v1/"}, send.TrustedDestinations); d != "" {
		t.Error(d)
	}
	write := s.Tools["write_file"]
	if d := cmp.Diff([]string{"./out", "~/notes", "/srv"}, write.AllowedPathPrefixes); d != "" {
		t.Error(d)
	}
	if write.MaxCalls == nil || *write.MaxCalls != 0 {
		t.Errorf("max_calls: %v", write.MaxCalls)
	}
	if len(write.ArgValues) != 1 || cmp.Diff([]string{"append", "1", "true"}, write.ArgValues[0].Values) != "" {
		t.Errorf("arg_values: %+v", write.ArgValues)
	}
	if len(write.ArgPatterns) != 1 || write.ArgPatterns[0].Source != `.*\.md` {
		t.Errorf("arg_patterns: %+v", write.ArgPatterns)
	}
	if quiet, ok := s.Tools["quiet"]; !ok || quiet.Exfiltrating || quiet.MaxCalls != nil {
		t.Errorf("quiet: %+v", quiet)
	}
	if s.Profile != "" || len(s.Scopes) != 0 || s.File != "p.yaml" {
		t.Errorf("set: %+v", s)
	}
}

func TestFull(t *testing.T) {
	s := mustLoad(t, `
version: 1
profile: strict
tools:
  a: {max_calls: 1}
servers:
  gmail:
    tools:
      send_email: {exfiltrating: true, sink_params: [to]}
  "@scope/pkg":
    tools:
      b: {}
`)
	if s.Profile != policy.Strict || len(s.Tools) != 1 || len(s.Scopes) != 2 {
		t.Fatalf("%+v", s)
	}
	if s.Scopes[0].Server != "gmail" || s.Scopes[1].Server != "@scope/pkg" || !s.Scopes[0].Tools["send_email"].Exfiltrating {
		t.Errorf("%+v", s.Scopes)
	}
	if at := s.Scopes[0].At; at.Line != 7 || at.Column != 3 {
		t.Errorf("scope at %v", at)
	}
}

func TestNothingIsAPolicyOfNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# a comment\n", "---\n", "null\n", "{}", "\ufeff", "version: 1\n"} {
		if s := mustLoad(t, text); len(s.Tools)+len(s.Scopes) != 0 {
			t.Errorf("%q: %+v", text, s)
		}
	}
}

func TestToolCalledVersion(t *testing.T) {
	for _, text := range []string{"version: {max_calls: 1}\n", "version:\n  max_calls: 1\nother: {}\n"} {
		if s := mustLoad(t, text); s.Tools["version"].MaxCalls == nil {
			t.Errorf("%q: %+v", text, s.Tools)
		}
	}
}

func TestByteOrderMarkAndCRLF(t *testing.T) {
	s := mustLoad(t, "\ufeffa:\r\n  max_calls: 3\r\n")
	if m := s.Tools["a"].MaxCalls; m == nil || *m != 3 {
		t.Errorf("%+v", s.Tools)
	}
	if at := s.Tools["a"].At; at.Line != 1 || at.Column != 1 {
		t.Errorf("at %v", at)
	}
}

// A pattern matches the value as a whole, whatever it is made of.
func TestPatternsMatchWhole(t *testing.T) {
	cases := []struct {
		pattern, yes, no string
	}{
		{`[a-z]+`, "abc", "abc\n"},
		{`a|b`, "b", "bx"},
		{`a|b`, "a", "xa"},
		{`(?i)abc`, "ABC", "ABCD"},
		{`(?m)^a$`, "a", "a\nb"},
		{`\Qa.b`, "a.b", "axb"},
		{`\Qa)|(?:b`, "a)|(?:b", "b"},
		{`^https://ok\.example/.*$`, "https://ok.example/x", "https://ok.example.evil/x"},
		{``, "", "x"},
		{`.*`, "x", "x\ny"},
	}
	for _, c := range cases {
		s := mustLoad(t, "t: {arg_patterns: {a: '"+c.pattern+"'}}")
		re := s.Tools["t"].ArgPatterns[0].Re
		if !re.MatchString(c.yes) || re.MatchString(c.no) {
			t.Errorf("%q: matches %q %v, %q %v", c.pattern, c.yes, re.MatchString(c.yes), c.no, re.MatchString(c.no))
		}
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if s, err := load.File(write("ok.yaml", "a: {}\n")); err != nil || len(s.Tools) != 1 {
		t.Errorf("%v %v", s, err)
	}
	bad := write("bad.yaml", "a: {x: 1}\n")
	var list *load.Errors
	if s, err := load.File(bad); s != nil || !errors.As(err, &list) || list.List[0].At.File != bad {
		t.Errorf("%v %v", s, err)
	}
	if s, err := load.File(filepath.Join(dir, "none.yaml")); s != nil || !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "none.yaml") != 1 {
		t.Errorf("%v %v", s, err)
	}
	if s, err := load.File(dir); s != nil || err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v %v", s, err)
	}
	if s, err := load.File(write("big.yaml", "# "+strings.Repeat("x", 1<<20))); s != nil || err == nil || !strings.Contains(err.Error(), ":1:1: larger than 1048576 bytes") {
		t.Errorf("%v %v", s, err)
	}
	if _, err := load.File(write("full.yaml", "#"+strings.Repeat("x", 1<<20-1))); err != nil {
		t.Errorf("the largest policy: %v", err)
	}
}

func TestStarterPolicyLoads(t *testing.T) {
	s, err := load.File(filepath.Join(policytest.Root(t), "examples", "bouncer.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	send, write := s.Tools["send_email"], s.Tools["write_file"]
	if !send.Exfiltrating || len(send.TrustedDestinations) == 0 || len(write.AllowedPathPrefixes) == 0 || write.MaxCalls == nil {
		t.Errorf("it does not show a sink allowlist, confinement and a budget: %+v", s.Tools)
	}
}

func TestPackBytes(t *testing.T) {
	p, err := load.PackBytes("x.yaml", []byte("pack: x\npackages: [a, '@b/c']\nreports: [r]\ntools:\n  t: {exfiltrating: true, sink_params: [to], content: [from]}\n"))
	if err != nil || p.Name != "x" || len(p.Packages) != 2 || p.Tools["t"].Layer != policy.Pack || p.Tools["t"].Pack != "x" || len(p.Tools["t"].Content) != 1 {
		t.Errorf("%+v %v", p, err)
	}
	bad := map[string]string{
		"":                     "p.yaml:1:1: a pack needs the keys pack, packages and tools",
		"pack: x\ntools: {}\n": "p.yaml:1:1: a pack needs the keys pack, packages and tools",
		"pack: x\npackages: [a]\ntools: {t: {trusted_destinations: [a@b.example]}}\n": `p.yaml:3:13: "trusted_destinations" is the user's to say: a pack cannot`,
		"pack: x\npackages: [a]\ntools: {t: {allowed_path_prefixes: [/]}}\n":          `p.yaml:3:13: "allowed_path_prefixes" is the user's to say: a pack cannot`,
		"pack: x\npackages: [a]\nreport: [b]\ntools: {t: {}}\n":                       `p.yaml:3:1: unknown key "report" (did you mean "reports"?)`,
	}
	for text, want := range bad {
		if _, err := load.PackBytes("p.yaml", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}
