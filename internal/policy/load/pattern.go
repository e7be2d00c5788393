package load

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// longestPattern bounds the time and memory that a pattern may cost: compiling grows with its length.
const longestPattern = 10_000

func (r *reader) patterns(n *yaml.Node) []policy.ArgPattern {
	var out []policy.ArgPattern
	for _, f := range r.fields(n, "arg_patterns") {
		p, ok := r.param(f.key, f.name)
		source, isText := r.text(f.node, "the pattern of "+show(f.key))
		if !isText {
			continue
		}
		if len(source) > longestPattern {
			r.at(f.node.Line, f.node.Column, "the pattern of %s is longer than %d bytes", show(f.key), longestPattern)
			continue
		}
		re, err := whole(source)
		if err != nil {
			r.at(f.node.Line, f.node.Column, "pattern %s: %s", show(source), err)
			continue
		}
		if ok {
			out = append(out, policy.ArgPattern{Param: p, Source: source, Re: re})
		}
	}
	return out
}

// whole compiles source so that it matches a value as a whole. source is compiled alone first: `a)|(?:b` would be two
// halves around the anchors. An open \Q swallows the closing anchor; then the parsed form is anchored instead.
func whole(source string) (*regexp.Regexp, error) {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, explain(source, err)
	}
	if re, err := regexp.Compile(`\A(?:` + source + `)\z`); err == nil {
		return re, nil
	}
	re, err := regexp.Compile(`\A(?:` + parsed.String() + `)\z`)
	if err != nil {
		return nil, explain(source, err)
	}
	return re, nil
}

// pythonOnly are constructs that other engines have and RE2 has not, with what to do instead.
var pythonOnly = []struct {
	re         *regexp.Regexp
	name, hint string
}{
	{regexp.MustCompile(`\(\?[=!]`), "lookahead", "list the allowed values in arg_values, or write what the value must be"},
	{regexp.MustCompile(`\(\?<[=!]`), "lookbehind", "match the text before it as part of the value: patterns match the whole value"},
	{regexp.MustCompile(`\(\?P=`), "backreference", "write the alternatives out"},
	{regexp.MustCompile(`\(\?\(`), "conditional", "write both cases with |"},
	{regexp.MustCompile(`\(\?>`), "atomic group", "use (?:...): RE2 never backtracks"},
	{regexp.MustCompile(`\(\?#`), "comment", "use a YAML comment"},
	{regexp.MustCompile(`\\Z`), `\Z`, "drop it: patterns match the whole value"},
	{regexp.MustCompile(`\\[1-9]`), "backreference", "write the alternatives out"},
	{regexp.MustCompile(`[*+?}]\+`), "possessive quantifier", "drop the second +: RE2 never backtracks"},
}

// explain says in the file's own terms why a pattern was refused.
func explain(source string, err error) error {
	bare := strings.ReplaceAll(source, `\\`, "  ") // an escaped backslash starts nothing
	for _, c := range pythonOnly {
		if c.re.MatchString(bare) {
			return fmt.Errorf("RE2 has no %s: %s", c.name, c.hint)
		}
	}
	var e *syntax.Error
	if errors.As(err, &e) {
		return fmt.Errorf("%s at %s", e.Code, show(e.Expr))
	}
	return err
}
