package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Process is one entry of the process table.
type Process struct {
	PID, Parent int
	Name        string   // of its program: the base name of the file, or what the system calls it
	Title       string   // what it calls itself, where the system keeps that apart
	Args        []string // its command line, where it can be read
	Start       uint64   // when it started, in a unit of the system's; a number used again has another start
}

// Table looks processes up. The system's is Processes; tests have their own.
type Table interface {
	Process(pid int) (Process, error)
	// Realm names what numbers and starts count in: this boot of this machine, and its namespace of processes.
	Realm() string
}

// errNoProcess is the answer of a Table for a process that there is not, or that has ended and waits to be reaped.
var errNoProcess = errors.New("no such process")

// Client is the process that a session belongs to.
type Client struct {
	PID   int
	Start uint64
	Realm string
}

// Key is the opaque name of the session of a client.
func (c Client) Key() string { return keyOf("p", c.String()) }

func (c Client) String() string { return fmt.Sprintf("%d %d %s", c.PID, c.Start, c.Realm) }

// KeyOf is the opaque name of a session to which the client gave an id of its own.
func KeyOf(id string) string { return keyOf("i", id) }

func keyOf(kind, text string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return kind + hex.EncodeToString(sum[:12])
}

func parseClient(line string) (Client, bool) {
	pid, rest, _ := strings.Cut(line, " ")
	start, realm, ok := strings.Cut(rest, " ")
	n, errPID := strconv.Atoi(pid)
	s, errStart := strconv.ParseUint(start, 10, 64)
	c := Client{n, s, realm}
	return c, ok && errPID == nil && errStart == nil && n > 0 && c.String() == line
}

// wrappers start something for somebody else. They are looked through: a client starts `sh -c "npx bouncer run"` as well as
// bouncer itself, and each server in another way.
var wrappers = set(`sh bash zsh dash ash fish ksh mksh tcsh csh busybox cmd powershell pwsh
	npx npm npx-cli npm-cli npm-prefix pnpm pnpx yarn yarnpkg bunx corepack uvx uv pipx poetry go mise asdf direnv volta nvm fnm
	env nice nohup timeout setsid stdbuf time xargs sudo doas su tini dumb-init catatonit
	bouncer`)

// hosts run a script, which says what they are: node is npx, or the client.
var hosts = set(`node nodejs bun deno python python3 ruby perl`)

// ends are no client's: whoever is below them was started by hand, or its client has gone.
var ends = set(`init systemd launchd explorer services svchost wininit sshd sshd-session login getty agetty tmux screen
	gnome-terminal-server konsole xterm alacritty kitty wezterm-gui terminal iterm2 windowsterminal conhost openconsole containerd-shim
	containerd-shim-runc-v2 cron crond`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// farthest bounds the walk: a table that changes under it must not lead it in circles.
const farthest = 64

// FindClient finds the client of process self: its nearest ancestor that is no wrapper. Without one, it is the outermost
// wrapper, so that what one shell started is one session; without that, self.
func FindClient(t Table, self int) (Client, error) {
	at, err := t.Process(self)
	if err != nil {
		return Client{}, fmt.Errorf("find the client that started this: process %d: %w", self, err)
	}
	found := at
	for range farthest {
		parent, err := t.Process(at.Parent)
		if at.Parent <= 0 || err != nil || parent.Start > at.Start || parent.PID == at.PID || parent.is(ends) {
			break // nobody above, gone while we looked, or its number was given to a later process
		}
		found, at = parent, parent
		if !parent.wraps() {
			break
		}
	}
	return Client{found.PID, found.Start, t.Realm()}, nil
}

// is reports whether one of the names of a process is listed.
func (p Process) is(list map[string]bool) bool { return list[plain(p.Name)] || list[plain(p.Title)] }

// wraps reports whether p only starts something for somebody else.
func (p Process) wraps() bool {
	if p.is(wrappers) {
		return true
	}
	if !p.is(hosts) && !hosts[strings.TrimRight(plain(p.Name), "0123456789.")] || len(p.Args) == 0 {
		return false
	}
	if word, _, more := strings.Cut(p.Args[0], " "); more && wrappers[plain(word)] {
		return true // npm writes its title over its command line
	}
	script := slices.IndexFunc(p.Args[1:], func(a string) bool { return !strings.HasPrefix(a, "-") })
	return script >= 0 && wrappers[plain(p.Args[1+script])]
}

// plain is the first word of a program's name without its directory and ending, in small letters, and without the dash of a
// login shell.
func plain(name string) string {
	name = strings.TrimPrefix(strings.ToLower(name), "-")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name, _, _ = strings.Cut(name, " ")
	switch ext := filepath.Ext(name); ext {
	case ".exe", ".cmd", ".bat", ".js", ".cjs", ".mjs", ".py", ".app":
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// lives reports whether a client still runs. Of another realm only this is known: what another boot started has ended.
func (c Client) lives(t Table) (lives, known bool) {
	realm := t.Realm()
	if c.Realm != realm {
		boot, _, _ := strings.Cut(realm, "/")
		theirs, _, _ := strings.Cut(c.Realm, "/")
		return false, boot != theirs
	}
	p, err := t.Process(c.PID)
	switch {
	case errors.Is(err, errNoProcess):
		return false, true
	case err != nil:
		return false, false
	}
	return p.Start == c.Start, true
}

// Identity says which session a process belongs to, and who its client is.
type Identity struct {
	Key    string
	Client Client
}

// Here returns the session of this process: its client's.
func Here() (Identity, error) {
	c, err := FindClient(Processes, os.Getpid())
	return Identity{c.Key(), c}, err
}
