package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// client is one MCP client: where its config files are, and what is to be known about them. A new client whose files
// have mcpServers is one more entry of clients.
type client struct {
	name   string
	title  string
	paths  []string // {home}, {config}, {claude} and {dir} are filled in
	strict bool     // a comment makes it ignore, or wipe, the file (C20)
	advice string   // what to do about a running client
}

var clients = []client{
	{
		name: "claude-code", title: "Claude Code", strict: true,
		paths:  []string{"{claude}/.claude.json", "{dir}/.mcp.json"},
		advice: "Claude Code rewrites ~/.claude.json while it runs: end its sessions before, and start new ones after",
	},
	{
		name: "claude-desktop", title: "Claude Desktop", strict: true,
		paths:  []string{"{config}/Claude/claude_desktop_config.json"},
		advice: "Claude Desktop can write this file anew from its own memory: quit it before, and start it after",
	},
	{name: "cursor", title: "Cursor", paths: []string{"{home}/.cursor/mcp.json", "{dir}/.cursor/mcp.json"}},
	{name: "windsurf", title: "Windsurf", paths: []string{"{home}/.codeium/windsurf/mcp_config.json", "{home}/.codeium/mcp_config.json"}},
	{name: "lm-studio", title: "LM Studio", paths: []string{"{home}/.lmstudio/mcp.json", "{home}/.cache/lm-studio/mcp.json"}},
}

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

// Clients returns the names that Targets knows.
func Clients() []string {
	var out []string
	for _, c := range clients {
		out = append(out, c.name)
	}
	return out
}

// Targets returns where the files of the named client, or of all clients for "", are on env, whether they are there or
// not. It returns nil for a name it does not know.
func Targets(env Env, name string) []Target {
	var out []Target
	for _, c := range clients {
		if name != "" && name != c.name {
			continue
		}
		for _, p := range c.paths {
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
	for _, t := range targets {
		if _, err := os.Lstat(t.Path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		real, err := filepath.EvalSymlinks(t.Path)
		if err != nil {
			real = t.Path
		}
		if !seen[real] {
			seen[real] = true
			out = append(out, t)
		}
	}
	return out
}

func (e Env) fill(path string) string {
	config, claude := filepath.Join(e.Home, ".config"), e.Home
	switch e.GOOS {
	case "darwin":
		config = filepath.Join(e.Home, "Library", "Application Support")
	case "windows":
		config = filepath.Join(e.Home, "AppData", "Roaming")
		if dir := e.Getenv("APPDATA"); dir != "" {
			config = dir
		}
	default:
		if dir := e.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			config = dir
		}
	}
	if dir := e.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		claude = dir
	}
	path = strings.NewReplacer("{home}", e.Home, "{config}", config, "{claude}", claude, "{dir}", e.Dir).Replace(path)
	return filepath.Clean(path)
}

// clientOf returns what is known about the client called name, else about the one whose file is called like path.
func clientOf(name, path string) client {
	for _, c := range clients {
		if c.name == name {
			return c
		}
	}
	if name != "" {
		return client{}
	}
	base := filepath.Base(path)
	for _, c := range clients {
		for _, p := range c.paths {
			if b := p[strings.LastIndexByte(p, '/')+1:]; b == base && b != "mcp.json" {
				return c
			}
		}
	}
	return client{}
}
