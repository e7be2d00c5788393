package clientconfig

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"
)

// hidden stands in a shown diff where a secret stands in the file.
const hidden = "***"

// Visible returns s with everything that a terminal would act on, or not show, spelled out: a project's file is shown
// before anybody has vouched for it.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}

// secretMaps are the members whose strings are secrets as often as not.
var secretMaps = map[string]bool{"env": true, "environment": true, "envs": true, "headers": true}

const secretWord = `(?:token|secret|passw|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|auth|credential|bearer|cookie)`

var (
	secretName   = regexp.MustCompile(`(?i)` + secretWord + `|(?:^|[_-])key$`)
	secretFlag   = regexp.MustCompile(`(?i)^--?[\w-]*(?:` + secretWord + `|(?:^|-)key)[\w-]*$`)
	secretValue  = regexp.MustCompile(`(?i)([\w-]*` + secretWord + `[\w-]*\s*[=:]\s*|bearer\s+)\S.*$`)
	assignment   = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*=).+$`)
	flagged      = regexp.MustCompile(`^(-e|--env=)([A-Za-z_][A-Za-z0-9_]*=).+$`)
	userinfo     = regexp.MustCompile(`(://)[^/@\s]+@`)
	knownSecrets = regexp.MustCompile(`(?:sk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|eyJ)[A-Za-z0-9_.-]{8,}`)
)

// maskEntry returns the text of an entry as it may be shown: no value of env, nothing that looks like a secret among
// the arguments, and the stash as a word.
func maskEntry(text []byte) []byte {
	v, err := hujson.Parse(text)
	object, ok := v.Value.(*hujson.Object)
	if err != nil || !ok {
		return []byte(hidden)
	}
	var edits []splice
	hide := func(v hujson.Value, with string) {
		edits = append(edits, splice{v.StartOffset, v.EndOffset, hujson.String(with)})
	}
	for i := range object.Members {
		m := &object.Members[i]
		name := textOf(m.Name)
		switch {
		case name == Sentinel:
			edits = append(edits, splice{m.Value.StartOffset, m.Value.EndOffset, []byte("{ ...the entry as it was... }")})
		case secretMaps[name] || secretName.MatchString(name):
			hideAll(m.Value, hide)
		default:
			hideSome(m.Value, hide)
		}
	}
	return apply(text, edits)
}

// hideAll hides every string value, and leaves their names.
func hideAll(v hujson.Value, hide func(hujson.Value, string)) {
	switch value := v.Value.(type) {
	case *hujson.Object:
		for i := range value.Members {
			hideAll(value.Members[i].Value, hide)
		}
	case *hujson.Array:
		for _, e := range value.Elements {
			hideAll(e, hide)
		}
	default:
		if _, ok := stringOf(v); ok {
			hide(v, hidden)
		}
	}
}

// hideSome hides the strings that look like secrets, and what follows a flag that announces one.
func hideSome(v hujson.Value, hide func(hujson.Value, string)) {
	switch value := v.Value.(type) {
	case *hujson.Object:
		for i := range value.Members {
			if secretName.MatchString(textOf(value.Members[i].Name)) {
				hideAll(value.Members[i].Value, hide)
			} else {
				hideSome(value.Members[i].Value, hide)
			}
		}
	case *hujson.Array:
		for i, e := range value.Elements {
			if i > 0 && secretFlag.MatchString(textOf(value.Elements[i-1])) {
				hideAll(e, hide)
			} else {
				hideSome(e, hide)
			}
		}
	default:
		if text, ok := stringOf(v); ok {
			if masked := maskText(text); masked != text {
				hide(v, masked)
			}
		}
	}
}

func maskText(s string) string {
	s = assignment.ReplaceAllString(s, "${1}"+hidden)
	s = flagged.ReplaceAllString(s, "${1}${2}"+hidden)
	s = secretValue.ReplaceAllString(s, "${1}"+hidden)
	s = userinfo.ReplaceAllString(s, "${1}"+hidden+"@")
	return knownSecrets.ReplaceAllString(s, hidden)
}
