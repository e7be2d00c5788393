// Package clientconfig knows the config files of MCP clients: how to find the servers in them, and how to put Bouncer
// in front of one without touching any other byte.
//
// Plan reads a file and works out the edits, Apply makes them. An edit is a splice of the file's own text: nothing here
// may write a parsed file out again, follow what a file says, expand a variable in it, or start anything. A file with two
// readings is refused whole; a file is never half edited.
package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// Sentinel is the member of a wrapped entry that holds the original one.
const Sentinel = "x-bouncer-upstream"

// maxFile is the largest config file that is read: clients keep whole histories in some of them.
const maxFile = 64 << 20

// Upstream is the real server of a wrapped entry.
type Upstream struct {
	Command string
	Args    []string
	Env     []string // NAME=value
	Dir     string   // only where the entry gives an absolute one
}

// ReadUpstream finds the entry called name in the config file at path and returns what its sentinel says to start. The
// error says what is missing, in a sentence.
func ReadUpstream(path, name string) (Upstream, error) {
	entry, err := readEntry(path, name)
	if err != nil {
		return Upstream{}, fmt.Errorf("config %s: %w", path, err)
	}
	original, ok := entry.Get(Sentinel)
	if !ok {
		return Upstream{}, fmt.Errorf("config %s: server %q is not wrapped: it has no %s", path, name, Sentinel)
	}
	up, err := readOriginal(original)
	if err != nil {
		return Upstream{}, fmt.Errorf("config %s: %s of server %q: %w", path, Sentinel, name, err)
	}
	return up, nil
}

func readEntry(path, name string) (jsonrpc.Value, error) {
	info, err := os.Stat(path)
	if err != nil {
		return jsonrpc.Value{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return jsonrpc.Value{}, errors.New("it is not a regular file of a size that a config has")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return jsonrpc.Value{}, err
	}
	doc := &document{path: path, text: bytes.TrimPrefix(data, byteOrderMark)}
	if err := doc.survey(); err != nil { // what is nested too deeply would take the parser down
		return jsonrpc.Value{}, err
	}
	standard, err := hujson.Standardize(append(doc.text, '\n')) // the newline ends a comment in the last line
	if err != nil {
		return jsonrpc.Value{}, err
	}
	root, err := jsonrpc.Decode(standard) // two entries of one name are an error: who knows which one the client started
	if err != nil {
		return jsonrpc.Value{}, err
	}
	servers, ok := root.Get("mcpServers")
	if !ok {
		return jsonrpc.Value{}, errors.New("it has no mcpServers")
	}
	entry, ok := servers.Get(name)
	if !ok {
		var names []string
		for _, m := range servers.Members {
			names = append(names, m.Name)
		}
		if near, ok := policy.Nearest(name, names); ok {
			return jsonrpc.Value{}, fmt.Errorf("it has no server %q (did you mean %q?)", name, near)
		}
		return jsonrpc.Value{}, fmt.Errorf("it has no server %q", name)
	}
	return entry, nil
}

func readOriginal(v jsonrpc.Value) (Upstream, error) {
	command, _ := v.Get("command")
	if command.Kind != jsonrpc.String || command.Text == "" {
		return Upstream{}, errors.New("command is not a non-empty string")
	}
	up := Upstream{Command: command.Text}
	args, _ := v.Get("args")
	if args.Kind != jsonrpc.Array && args.Kind != jsonrpc.Null {
		return Upstream{}, errors.New("args is not a list")
	}
	for _, a := range args.Elems {
		if a.Kind != jsonrpc.String {
			return Upstream{}, errors.New("args holds something that is no string")
		}
		up.Args = append(up.Args, a.Text)
	}
	env, _ := v.Get("env")
	for _, m := range env.Members {
		if m.Value.Kind != jsonrpc.String || strings.ContainsAny(m.Name, "=\x00") || m.Name == "" {
			return Upstream{}, fmt.Errorf("env %q is not a name with a string", m.Name)
		}
		up.Env = append(up.Env, m.Name+"="+m.Value.Text)
	}
	if cwd, _ := v.Get("cwd"); cwd.Kind == jsonrpc.String && isAbs(cwd.Text) {
		up.Dir = cwd.Text
	}
	return up, nil
}

func isAbs(path string) bool {
	return strings.HasPrefix(path, "/") || len(path) > 2 && path[1] == ':' && strings.ContainsRune(`\/`, rune(path[2]))
}

// Environ adds to environ what it lacks of the entry's own env. The client has set these for Bouncer already, with its
// variables expanded, if the entry still carries them; then its values stand.
func (u Upstream) Environ(environ []string) []string {
	out := slices.Clone(environ)
	for _, add := range u.Env {
		name, _, _ := strings.Cut(add, "=")
		if !slices.ContainsFunc(environ, func(have string) bool { return strings.HasPrefix(have, name+"=") }) {
			out = append(out, add)
		}
	}
	return out
}
