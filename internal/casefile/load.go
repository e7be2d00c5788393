package casefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

var (
	caseKeys   = []string{"case", "title", "profile", "policy", "server", "servers", "client", "files", "package", "tools", "instructions", "steps"}
	serverKeys = []string{"package", "tools", "instructions"}
	clientKeys = []string{"version", "elicitation"}
	toolsKeys  = []string{"file", "pages", "endless"}
	profiles   = []string{string(policy.Strict), string(policy.Standard), string(policy.Paranoid)}
)

// Load reads the case at path. What is wrong with its text is a *load.Errors with everything that is wrong, each with
// file, line and column; anything else (no such file, unreadable) is an error that wraps the cause. There is no case
// beside an error.
func Load(path string) (*Case, error) {
	data, err := readFile(path, maxSize)
	if err != nil {
		return nil, fmt.Errorf("load case %s: %w", path, err)
	}
	return read(path, data)
}

// read reads a case from data; path is for messages, and what the case's own files are relative to.
func read(path string, data []byte) (*Case, error) {
	r := &reader{file: path}
	c := &Case{File: path}
	if root := r.parse(data); root != nil {
		r.caseFile(c, root, bytes.Split(data, []byte("\n")))
	} else if len(r.errs) == 0 {
		r.atPosition(1, 1, "the file is empty")
	}
	if err := r.result(); err != nil {
		return nil, err
	}
	return c, nil
}

// readFile reads a regular file up to one byte more than limit: a pipe or a device could block for ever.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	return data, bare(err)
}

// bare drops the path that os repeats.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (r *reader) caseFile(c *Case, root *yaml.Node, lines [][]byte) {
	keys := r.known(root, "a case", caseKeys)
	for _, name := range []string{"case", "title", "profile", "steps"} {
		if keys[name] == nil {
			r.at(root, "a case needs the key %s", name)
		}
	}
	if n := keys["case"]; n != nil {
		c.ID = r.text(n, "case")
	}
	if n := keys["title"]; n != nil {
		c.Title = r.text(n, "title")
	}
	if n := keys["profile"]; n != nil {
		c.Profile = policy.Profile(r.choice(n, "profile", profiles))
	}
	r.serversOf(c, root, keys)
	c.client = clientSpec{version: "2025-11-25", elicitation: true}
	if n := keys["client"]; n != nil {
		r.clientOf(&c.client, n)
	}
	if n := keys["files"]; n != nil {
		c.files = r.files(n)
	}
	if n := keys["policy"]; n != nil {
		c.policy = r.policy(n, lines)
		r.checkPolicy(c)
	}
	if n := keys["steps"]; n != nil {
		r.steps(c, n)
	}
}

func (r *reader) clientOf(c *clientSpec, n *yaml.Node) {
	keys := r.known(n, "client", clientKeys)
	if v := keys["version"]; v != nil {
		c.version = r.choice(v, "version", []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", modern})
	}
	if v := keys["elicitation"]; v != nil {
		c.elicitation = r.truth(v, "elicitation")
	}
}

// serversOf reads the one server that the case's own keys describe, or the several under servers.
func (r *reader) serversOf(c *Case, root *yaml.Node, keys map[string]*yaml.Node) {
	several := keys["servers"]
	if several == nil {
		if keys["server"] == nil {
			r.at(root, "a case needs the key server, or servers")
			return
		}
		s := server{name: r.text(keys["server"], "server")}
		r.serverKeys(&s, root, keys)
		c.servers = []server{s}
		return
	}
	for _, name := range []string{"server", "package", "tools", "instructions"} {
		if n := keys[name]; n != nil {
			r.at(n, "%s stands beside servers: it belongs to one of them", name)
		}
	}
	for _, f := range r.fields(several, "servers") {
		s := server{name: f.key}
		if strings.TrimSpace(f.key) == "" {
			r.at(f.name, "a server needs a name")
		}
		r.serverKeys(&s, f.node, r.known(f.node, "server "+show(f.key), serverKeys))
		c.servers = append(c.servers, s)
	}
	if len(c.servers) == 0 {
		r.at(several, "servers names no server")
	}
}

func (r *reader) serverKeys(s *server, at *yaml.Node, keys map[string]*yaml.Node) {
	s.reported = "case-server"
	if n := keys["package"]; n != nil {
		s.pkg = r.text(n, "package")
	}
	if n := keys["tools"]; n != nil {
		s.tools = r.toolPages(n, s)
	} else {
		r.at(at, "server %s needs the key tools", show(s.name))
	}
	if n := keys["instructions"]; n != nil {
		s.instructions = r.text(n, "instructions")
	}
}

// maxTools is the largest captured tool list that is read.
const maxTools = 16 << 20

// toolPages reads tools: a list, {pages: [list, ...]}, or {file: PATH} of a captured list. A captured list also says
// what the server calls itself; s is nil where that is not wanted.
func (r *reader) toolPages(n *yaml.Node, s *server) toolPages {
	if n.Kind == yaml.SequenceNode {
		return toolPages{pages: []string{r.toolList(n)}}
	}
	var out toolPages
	keys := r.known(n, "tools", toolsKeys)
	switch file, pages := keys["file"], keys["pages"]; {
	case file != nil && pages == nil && keys["endless"] == nil:
		out.pages = []string{r.capturedTools(file, s)}
	case file == nil && pages != nil && pages.Kind == yaml.SequenceNode && len(pages.Content) > 0:
		for _, page := range pages.Content {
			out.pages = append(out.pages, r.toolList(page))
		}
		out.endless = keys["endless"] != nil && r.truth(keys["endless"], "endless")
	case n.Kind == yaml.MappingNode:
		r.at(n, "tools must be a list of tools, {file: PATH} or {pages: [...]}")
	}
	return out
}

// toolList reads the tools of one page. A tool needs a name and a schema, as in the protocol; whatever else it has is
// passed on.
func (r *reader) toolList(n *yaml.Node) string {
	if n.Kind != yaml.SequenceNode {
		r.at(n, "a page of tools must be a list, not %s", load.KindOf(n))
		return "[]"
	}
	for _, tool := range n.Content {
		for _, key := range []string{"name", "inputSchema"} {
			if tool.Kind != yaml.MappingNode || !hasKey(tool, key) {
				r.at(tool, "a tool must be a mapping with the key %s", key)
				break
			}
		}
	}
	return r.json(n)
}

func hasKey(n *yaml.Node, key string) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

func (r *reader) capturedTools(n *yaml.Node, s *server) string {
	path := filepath.FromSlash(r.text(n, "file"))
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.file), path)
	}
	data, err := readFile(path, maxTools)
	if err == nil && len(data) > maxTools {
		err = errors.New("too large")
	}
	if err != nil {
		r.at(n, "read tools %s: %s", show(path), err)
		return "[]"
	}
	doc, err := jsonrpc.Decode(data)
	if err != nil {
		r.at(n, "read tools %s: %s", show(path), err)
		return "[]"
	}
	tools, _ := doc.Get("tools")
	if tools.Kind != jsonrpc.Array {
		r.at(n, "read tools %s: it has no list under the name tools", show(path))
		return "[]"
	}
	info, _ := doc.Get("serverInfo")
	if name, _ := info.Get("name"); s != nil && name.Text != "" {
		s.reported = name.Text
	}
	if text, _ := doc.Get("instructions"); s != nil && text.Kind == jsonrpc.String {
		s.instructions = text.Text
	}
	return oneLine(tools.Raw)
}

// oneLine takes the line breaks out of a JSON text; they can only stand between its tokens.
func oneLine(raw []byte) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\r' {
			return ' '
		}
		return c
	}, string(raw))
}
