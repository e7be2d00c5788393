package judge

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/mcp-bouncer/bouncer/internal/gate"
	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// Paths reads arguments as file paths, the way a server could: relative to its working directory, with ~ as the user's
// home, with links followed.
type Paths struct {
	Dir      string   // the server's working directory; "" is Bouncer's own
	UserHome string   // what ~ means; "" is the user's home directory
	Guarded  []string // directories that no tool may touch
}

// longestPath bounds what is looked at as a path: no file system takes a longer one.
const longestPath = 4096

// resolve fills in the call's paths, prefixes and guarded directories.
func (p *Paths) resolve(c *gate.Call, r gate.Rules) {
	c.Paths, c.Within, c.Home = map[policy.Spot]gate.Path{}, nil, nil
	for _, leaf := range c.Leaves {
		if leaf.Value.Kind == jsonrpc.String && p.looksLikePath(leaf.Value.Text, leaf.IsName) {
			c.Paths[leaf.Spot()] = p.read(leaf.Value.Text)
		}
	}
	for _, param := range r.WriteParams {
		for _, arg := range param.Select(c.Args) {
			if arg.IsName && param.Top() == "" {
				continue
			}
			c.Paths[arg.Spot()] = p.read(arg.Value.Text)
		}
	}
	if len(c.Paths) == 0 { // nothing to compare with: most calls need no look at the file system
		return
	}
	for _, dir := range p.Guarded {
		c.Home = append(c.Home, p.read(dir).Readings...)
	}
	for _, prefix := range r.AllowedPathPrefixes {
		c.Within = append(c.Within, p.read(prefix).Readings...)
	}
}

// looksLikePath is wide, because guard rests on it and a server that gets any text may clean it and open what is left: a
// text with a separator is a path, line breaks, schemes and all, unless it is still too long when it is cleaned. A bare
// name is one if it is the name of something.
func (p *Paths) looksLikePath(s string, isName bool) bool {
	switch {
	case s == "" || strings.ContainsRune(s, 0) && !strings.Contains(s, ".bouncer"):
		return false
	case len(s) > longestPath:
		return len(filepath.Clean(s)) <= longestPath
	case strings.ContainsAny(s, `/\`) || s[0] == '~' || s[0] == '.' || strings.Contains(s, "%"):
		return true
	case len(s) > 255 || isName:
		return false
	}
	dir := p.Dir
	if dir == "" {
		dir = "."
	}
	_, err := os.Lstat(filepath.Join(dir, s))
	return err == nil
}

// read gives every reading of raw that a server may have. More than one is normal for odd spellings; a contract holds
// only if it holds for all of them.
func (p *Paths) read(raw string) gate.Path {
	switch {
	case raw == "":
		return gate.Path{Problem: "it is empty"}
	case len(filepath.Clean(raw)) > longestPath:
		return gate.Path{Problem: "it is longer than any file system takes"}
	case strings.ContainsRune(raw, 0):
		return gate.Path{Problem: "it holds a NUL"}
	}
	var out gate.Path
	for _, spelling := range spellings(raw) {
		abs, problem := p.absolute(spelling)
		if problem != "" {
			out.Problem = problem
		}
		if abs == "" {
			continue
		}
		clean := filepath.Clean(abs)
		for _, way := range []string{clean, abs} { // a/link/../x: cleaned first, or walked as the kernel does
			resolved, err := follow(way)
			if err != nil { // what is known of it still counts against it
				out.Problem, resolved = err.Error(), clean
			}
			out.Readings = addReading(out.Readings, gate.Reading{Lexical: fold(clean), Resolved: fold(resolved)})
		}
	}
	return out
}

func addReading(readings []gate.Reading, r gate.Reading) []gate.Reading {
	for _, have := range readings {
		if have == r {
			return readings
		}
	}
	return append(readings, r)
}

// spellings returns raw and what else it may mean: percent signs decoded once (A40), backslashes as separators.
func spellings(raw string) []string {
	out := []string{raw}
	if strings.Contains(raw, "%") {
		if decoded, err := url.PathUnescape(raw); err == nil && decoded != raw {
			out = append(out, decoded)
		}
	}
	for _, s := range out {
		if filepath.Separator == '/' && strings.Contains(s, `\`) {
			out = append(out, strings.ReplaceAll(s, `\`, "/"))
		}
	}
	return out
}

// absolute expands file://, ~ and relative paths; it does not clean. Beside a problem, the path is the best guess at what
// a careless server would open, "" when there is none.
func (p *Paths) absolute(s string) (path, problem string) {
	if len(s) >= 5 && strings.EqualFold(s[:5], "file:") {
		u, err := url.Parse(s)
		switch {
		case err != nil:
			return "", "it is a file: URL that cannot be read"
		case u.Opaque != "":
			s, problem = filepath.FromSlash(u.Opaque), "it is a file: URL without a root"
		case u.Host != "" && !strings.EqualFold(u.Host, "localhost"):
			s, problem = filepath.FromSlash(u.Path), "it is a file: URL of another machine"
		default:
			s = filepath.FromSlash(u.Path)
		}
	}
	if s == "~" || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `~\`) {
		home := p.UserHome
		if home == "" {
			var err error
			if home, err = os.UserHomeDir(); err != nil {
				return "", "it starts with ~ and there is no home directory"
			}
		}
		return home + string(filepath.Separator) + s[1:], problem
	}
	if strings.HasPrefix(s, "~") {
		return "", "it names another user's home directory"
	}
	if filepath.IsAbs(s) {
		return s, problem
	}
	dir := p.Dir
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return "", "it is relative and the working directory is gone"
		}
	}
	return dir + string(filepath.Separator) + s, problem
}

// maxLinks is how many links are followed before a path counts as a loop, as in the kernel.
const maxLinks = 40

// follow resolves links component by component, as the kernel does, as far as the path exists; what does not exist yet
// is appended as it stands. A dangling link is followed too: a write through it lands at its target (A73).
func follow(path string) (string, error) {
	volume := filepath.VolumeName(path)
	if strings.HasPrefix(volume, `\\`) { // looking at it would itself talk to that machine
		return "", errors.New("it names another machine")
	}
	root := volume + string(filepath.Separator)
	at := root
	rest := split(path[len(volume):])
	missing := 0 // how many of the last parts do not exist; below them there is nothing to look up
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at, missing = filepath.Dir(at), max(0, missing-1)
			continue
		}
		next := filepath.Join(at, part)
		if missing > 0 {
			at, missing = next, missing+1
			continue
		}
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
			at, missing = next, 1 // nothing there, or below a plain file
		case err != nil:
			return "", errors.New("it cannot be resolved: " + cause(err))
		case info.Mode()&fs.ModeSymlink == 0:
			at = next
		default:
			if links++; links > maxLinks {
				return "", errors.New("it runs through too many links")
			}
			target, err := os.Readlink(next)
			if err != nil {
				return "", errors.New("it runs through a link that cannot be read")
			}
			if filepath.IsAbs(target) {
				at = filepath.VolumeName(target) + string(filepath.Separator)
				target = target[len(filepath.VolumeName(target)):]
			}
			rest = append(split(target), rest...)
		}
	}
	return at, nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

func cause(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// fold makes the spelling of a path the one that the file system compares: case does not count on macOS and Windows,
// and Windows drops dots and spaces at the end of a name.
func fold(path string) string {
	switch runtime.GOOS {
	case "darwin":
		return strings.ToLower(path)
	case "windows":
		parts := strings.Split(strings.ToLower(path), `\`)
		for i, part := range parts {
			parts[i] = strings.TrimRight(part, ". ")
		}
		return strings.Join(parts, `\`)
	}
	return path
}
