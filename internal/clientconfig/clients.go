package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Env is the machine that config files are looked for on.
type Env struct {
	GOOS   string
	Home   string
	Dir    string // the working directory
	Getenv func(string) string
}

// RealEnv is this machine.
func RealEnv() (Env, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Env{}, fmt.Errorf("find the home directory: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return Env{}, fmt.Errorf("find the working directory: %w", err)
	}
	return Env{GOOS: runtime.GOOS, Home: home, Dir: dir, Getenv: os.Getenv}, nil
}

// Target is a config file and the client it belongs to.
type Target struct {
	Path, Client, Title string
}

// Clients returns the names that Targets and Snippet know.
func Clients() []string {
	var out []string
	for _, c := range clients {
		out = append(out, c.name)
	}
	return out
}

// Targets returns where the files of the named client, or of all clients for "", are on env, whether they are there or
// not; a * in a path stands for every name. It returns nil for a name it does not know, and for a client without files.
func Targets(env Env, name string) []Target {
	var out []Target
	for _, c := range clients {
		if name != "" && name != c.name {
			continue
		}
		for _, p := range c.paths {
			if system, rest, ok := strings.Cut(p, ":"); ok {
				if p = rest; system != env.system() {
					continue
				}
			}
			out = append(out, Target{env.fill(p), c.name, c.title})
		}
	}
	return out
}

// Existing returns those targets that are there. One whose link leads nowhere is: it is refused later, by name, rather
// than passed over. A file that two targets name counts once.
func Existing(targets []Target) []Target {
	var out []Target
	seen := map[string]bool{}
	for _, pattern := range targets {
		for _, path := range expand(pattern.Path) {
			t := pattern
			t.Path = path
			real, err := filepath.EvalSymlinks(t.Path)
			if err != nil {
				real = t.Path
			}
			if !seen[real] {
				seen[real] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// mostMatches is how many files one path with a * stands for: a directory of a repository can hold any number.
const mostMatches = 1000

// expand returns the files that path names, in order.
func expand(path string) []string {
	at := strings.IndexByte(path, '*')
	if at < 0 {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return []string{path}
	}
	dir := filepath.Dir(path[:at] + "x")
	pattern, rest := path[len(dir)+1:], ""
	if i := strings.IndexRune(pattern, filepath.Separator); i >= 0 {
		pattern, rest = pattern[:i], pattern[i:]
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok && len(out) < mostMatches {
			out = append(out, expand(filepath.Join(dir, e.Name())+rest)...)
		}
	}
	return out
}

// system is the name that paths of the table have in front.
func (e Env) system() string {
	if e.GOOS == "darwin" || e.GOOS == "windows" {
		return e.GOOS
	}
	return "linux"
}

// fill puts this machine's directories into a path of the table: {home}, {dir}, {config} (where graphical programs keep
// their settings), {xdg} (~/.config, on every system), {local}, and those of clients that have a variable for theirs.
func (e Env) fill(path string) string {
	or := func(name, otherwise string) string {
		if dir := e.Getenv(name); dir != "" {
			return dir
		}
		return otherwise
	}
	xdg := filepath.Join(e.Home, ".config")
	if dir := e.Getenv("XDG_CONFIG_HOME"); e.system() == "linux" && filepath.IsAbs(dir) {
		xdg = dir
	}
	config, local := xdg, xdg
	switch e.GOOS {
	case "darwin":
		config = filepath.Join(e.Home, "Library", "Application Support")
	case "windows":
		config = or("APPDATA", filepath.Join(e.Home, "AppData", "Roaming"))
		local = or("LOCALAPPDATA", filepath.Join(e.Home, "AppData", "Local"))
	}
	path = strings.NewReplacer("{home}", e.Home, "{dir}", e.Dir, "{config}", config, "{xdg}", xdg, "{local}", local,
		"{claude}", or("CLAUDE_CONFIG_DIR", e.Home), "{codex}", or("CODEX_HOME", filepath.Join(e.Home, ".codex")),
		"{copilot}", or("COPILOT_HOME", filepath.Join(e.Home, ".copilot")),
	).Replace(path)
	return filepath.Clean(path)
}

// generic are file names that several clients use, so that they say nothing about whose a file is.
var generic = []string{
	"mcp.json", "settings.json", "settings.jsonc", "config.json", "config.yaml", "config.toml", "default.json",
	"mcp_settings.json", "mcp_config.json", "*.json", "*.yaml", "*.yml",
}

// clientOf returns what is known about the client called name, else about the one whose file lies like the one at file.
func clientOf(name, file string) client {
	for _, c := range clients {
		if c.name == name {
			return c
		}
	}
	if name != "" {
		return client{}
	}
	parts := strings.Split(filepath.ToSlash(file), "/")
	for _, c := range clients {
		for _, p := range c.paths {
			tail := strings.Split(p[strings.LastIndexByte(p, '}')+2:], "/")
			base := tail[len(tail)-1]
			if endsLike(parts, tail) && (len(tail) > 1 || !slices.Contains(generic, base)) ||
				parts[len(parts)-1] == base && !slices.Contains(generic, base) {
				return c
			}
		}
	}
	return client{}
}

// endsLike reports whether the last parts of a path match those of a pattern.
func endsLike(parts, tail []string) bool {
	if len(parts) < len(tail) {
		return false
	}
	parts = parts[len(parts)-len(tail):]
	for i := range tail {
		if ok, _ := path.Match(tail[i], parts[i]); !ok {
			return false
		}
	}
	return true
}
