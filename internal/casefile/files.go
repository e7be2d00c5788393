package casefile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

// dirVariable stands for the case's scratch directory, wherever a case writes a text. It is the server's working
// directory and the user's home, so ${DIR}/.bouncer is Bouncer's own home.
const dirVariable = "${DIR}"

// scratchFile is one entry of the scratch tree.
type scratchFile struct {
	path string // slash-separated, inside the tree
	dir  bool
	link string // where a symbolic link points; "" when it is none
	text string
}

// files reads the scratch tree: `name/: dir`, `name: -> target`, `name: content`.
func (r *reader) files(n *yaml.Node) []scratchFile {
	var out []scratchFile
	for _, f := range r.fields(n, "files") {
		name, slash := strings.CutSuffix(f.key, "/")
		if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name || strings.Contains(name, `\`) || name == "." {
			r.at(f.name, "%s is not a path inside the scratch directory", show(f.key))
			continue
		}
		if f.node.Kind != yaml.ScalarNode {
			r.at(f.node, "%s must be dir, \"-> target\" or the file's content, not %s", show(f.key), load.KindOf(f.node))
			continue
		}
		file := scratchFile{path: name}
		target, link := strings.CutPrefix(f.node.Value, "-> ")
		switch {
		case slash && f.node.Value == "dir":
			file.dir = true
		case slash:
			r.at(f.node, "%s ends in a slash, so it must be dir", show(f.key))
		case link && strings.TrimSpace(target) == "":
			r.at(f.node, "the link %s points nowhere", show(f.key))
		case link:
			file.link = strings.TrimSpace(target)
		default:
			file.text = f.node.Value
		}
		out = append(out, file)
	}
	return out
}

// plant makes the scratch tree in dir. Everything goes through os.Root: a case may make a link to /etc, but nothing is
// written through it.
func plant(dir string, files []scratchFile) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		if err := plantOne(root, dir, f); err != nil {
			return fmt.Errorf("make %s: %w", f.path, err)
		}
	}
	return nil
}

func plantOne(root *os.Root, dir string, f scratchFile) error {
	name := filepath.FromSlash(f.path)
	if f.dir {
		return root.MkdirAll(name, 0o700)
	}
	if parent := filepath.Dir(name); parent != "." {
		if err := root.MkdirAll(parent, 0o700); err != nil {
			return err
		}
	}
	if f.link != "" {
		return root.Symlink(strings.ReplaceAll(f.link, dirVariable, dir), name)
	}
	return root.WriteFile(name, []byte(strings.ReplaceAll(f.text, dirVariable, dir)), 0o600)
}

// inJSON puts the scratch directory into a JSON text, where the variable stands inside strings.
func inJSON(s, dir string) string {
	quoted := jsonrpc.Quote(dir)
	return strings.ReplaceAll(s, dirVariable, string(quoted[1:len(quoted)-1]))
}

// policySource is the case's policy as text, and where that text stands.
type policySource struct {
	file  string
	text  string
	line  int // of the case file where text starts, minus one; 0 for a file of its own
	shift int // columns that a block's indentation takes
}

// policy reads policy: a text in the policy format, or {file: PATH} of one.
func (r *reader) policy(n *yaml.Node, lines [][]byte) policySource {
	if n.Kind == yaml.MappingNode {
		keys := r.known(n, "policy", []string{"file"})
		file := keys["file"]
		if file == nil {
			r.at(n, "policy must be text (policy: |) or {file: PATH}")
			return policySource{}
		}
		name := filepath.FromSlash(r.text(file, "file"))
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(r.file), name)
		}
		data, err := readFile(name, maxSize)
		if err != nil {
			r.at(file, "read policy %s: %s", show(name), err)
		}
		return policySource{file: name, text: string(data)}
	}
	src := policySource{file: r.file, text: r.text(n, "policy"), line: n.Line - 1}
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		src.line = n.Line
		src.shift = indent(lines, n.Line, src.text)
	}
	return src
}

// indent is how many columns a block's lines lost: those of its first line that says something.
func indent(lines [][]byte, from int, text string) int {
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) != "" && from+i < len(lines) {
			return max(0, leading(string(lines[from+i]))-leading(line))
		}
	}
	return 0
}

func leading(s string) int { return len(s) - len(string(bytes.TrimLeft([]byte(s), " "))) }

// set reads the policy with the scratch directory in it. Errors name the place in the case file.
func (p policySource) set(dir string) (*policy.Set, error) {
	text := strings.ReplaceAll(p.text, dirVariable, dir)
	set, err := load.Bytes(p.file, []byte(text))
	var bad *load.Errors
	if !errors.As(err, &bad) {
		return set, err
	}
	moved := &load.Errors{}
	for _, e := range bad.List {
		e.At.Line += p.line
		e.At.Column += p.shift
		moved.List = append(moved.List, e)
	}
	return nil, moved
}

// checkPolicy reads the policy once while the case is loaded, so that a broken one is an error of the file.
func (r *reader) checkPolicy(c *Case) {
	set, err := c.policy.set("/scratch")
	var bad *load.Errors
	switch {
	case errors.As(err, &bad):
		r.errs = append(r.errs, bad.List...)
	case err != nil:
		r.atPosition(1, 1, err.Error())
	case set.Profile != "" && set.Profile != c.Profile:
		r.atPosition(1, 1, fmt.Sprintf("the policy says profile %s and the case says %s: say one", set.Profile, c.Profile))
	}
}
