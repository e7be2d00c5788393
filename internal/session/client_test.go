package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

// fakeTable is a process table of a test.
type fakeTable struct {
	realm string
	mu    sync.Mutex // a session that is open looks at the table now and then
	ps    map[int]Process
	fail  error
}

func (f *fakeTable) Realm() string { return f.realm }

func (f *fakeTable) Process(pid int) (Process, error) {
	if f.fail != nil {
		return Process{}, f.fail
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.ps[pid]
	if !ok {
		return Process{}, errNoProcess
	}
	return p, nil
}

// chain makes a table of processes, each the parent of the next. Their numbers begin with 1, and each started after its
// parent.
func chain(ps ...Process) *fakeTable {
	t := &fakeTable{realm: "boot/ns", ps: map[int]Process{}}
	for i, p := range ps {
		p.PID, p.Parent, p.Start = i+1, i, uint64(100+i)
		t.ps[p.PID] = p
	}
	return t
}

func prog(name string, args ...string) Process {
	return Process{Name: name, Title: name, Args: append([]string{name}, args...)}
}

func titled(name, title string) Process {
	return Process{Name: name, Title: title, Args: []string{title}}
}

// TestFindClient: the last process is bouncer; want is the number of its client.
func TestFindClient(t *testing.T) {
	self := prog("bouncer", "run")
	init := prog("systemd")
	for _, c := range []struct {
		name  string
		chain []Process
		want  int
	}{
		{"directly", []Process{init, prog("claude"), self}, 2},
		{"a node program", []Process{init, prog("node", "/usr/lib/claude/cli.js"), self}, 2},
		{"a node program with flags", []Process{init, prog("node", "--no-warnings", "/usr/lib/claude/cli.js", "npx"), self}, 2},
		{"through a shell", []Process{init, prog("claude"), prog("sh", "-c", "bouncer run"), self}, 2},
		{"through a login shell", []Process{init, prog("Claude"), prog("-zsh"), self}, 2},
		{"through npx, a shell and a wrapper script of ours", []Process{init, prog("cursor"), titled("node", "npm exec @corp/bouncer"), prog("sh", "-c", "bouncer"),
			prog("node", "/x/node_modules/.bin/bouncer", "run"), self}, 2},
		{"through npx-cli", []Process{init, prog("codex"), prog("node", "/usr/lib/node_modules/npm/bin/npx-cli.js", "bouncer"), self}, 2},
		{"through uvx", []Process{init, prog("goose"), prog("uv", "tool", "uvx", "bouncer"), prog("python3.12", "/x/bin/bouncer"), self}, 2},
		{"through another bouncer", []Process{init, prog("go-test.test"), prog("bouncer", "demo"), self}, 2},
		{"nearest of two clients", []Process{init, prog("code"), prog("sh"), prog("claude"), prog("sh"), self}, 4},
		{"windows", []Process{prog("explorer.exe"), prog("Claude.exe"), prog("cmd.exe", "/c", "npx"), prog("node.exe", `C:\npm\npx-cli.js`), prog("bouncer.exe")}, 2},
		{"windows, a command line that cannot be read", []Process{prog("explorer.exe"), {Name: "node.exe", Title: "node.exe"}, prog("bouncer.exe")}, 2},
		{"by hand in a terminal", []Process{init, prog("gnome-terminal-server"), prog("bash"), prog("sh"), self}, 3},
		{"over ssh", []Process{init, titled("sshd", "sshd: user@pts/0"), titled("bash", "-bash"), self}, 3},
		{"its client has gone", []Process{init, self}, 2},
		{"the client is the first process of a container", []Process{prog("node", "/app/agent.js"), self}, 1},
		{"a shell is the first process of a container", []Process{prog("sh"), prog("tini"), self}, 1},
		{"nobody above", []Process{self}, 1},
	} {
		table := chain(c.chain...)
		got, err := FindClient(table, len(c.chain))
		want := Client{c.want, uint64(99 + c.want), "boot/ns"}
		if err != nil || got != want {
			t.Errorf("%s: the client is %v, %v; want %v", c.name, got, err, want)
		}
	}
}

// TestFindClientOddTables: a table that changes while it is read leads nowhere wrong, and never in circles.
func TestFindClientOddTables(t *testing.T) {
	reused := chain(prog("systemd"), prog("claude"), prog("sh"), prog("bouncer"))
	claude := reused.ps[2]
	claude.Start = 1000 // its number was given again, to a process that started later
	reused.ps[2] = claude
	circle := chain(prog("sh"), prog("bash"), prog("bouncer"))
	for pid, p := range circle.ps {
		p.Start = 5
		if p.Parent == 0 {
			p.Parent = 2
		}
		circle.ps[pid] = p
	}
	gone := chain(prog("systemd"), prog("claude"), prog("sh"), prog("bouncer"))
	delete(gone.ps, 2)
	for name, c := range map[string]struct {
		table      *fakeTable
		self, want int
	}{"reused": {reused, 4, 3}, "gone": {gone, 4, 3}} {
		if got, err := FindClient(c.table, c.self); err != nil || got.PID != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := FindClient(circle, 3); err != nil {
		t.Error(err)
	}
	if _, err := FindClient(&fakeTable{fail: errors.New("no table")}, 3); err == nil {
		t.Error("without a table there is a client")
	}
}

// TestKeys: another number, start, boot or namespace is another client, and no id that a client gives is the key of a process.
func TestKeys(t *testing.T) {
	base := Client{10, 20, "boot/ns"}
	seen := map[string]string{}
	for name, key := range map[string]string{
		"base": base.Key(), "pid": Client{11, 20, "boot/ns"}.Key(), "start": Client{10, 21, "boot/ns"}.Key(),
		"boot": Client{10, 20, "boot2/ns"}.Key(), "ns": Client{10, 20, "boot/ns2"}.Key(), "id": KeyOf(base.String()), "other id": KeyOf("../../x"),
	} {
		if before, twice := seen[key]; twice || filepath.Base(key) != key || len(key) < 20 {
			t.Errorf("the key of %s is %q, as that of %q", name, key, before)
		}
		seen[key] = name
	}
	if base.Key() != (Client{10, 20, "boot/ns"}).Key() {
		t.Error("one client has two keys")
	}
	for _, line := range []string{"", "1", "1 2", "x 2 r", "1 y r", "-1 2 r", "01 2 r"} {
		if c, ok := parseClient(line); ok {
			t.Errorf("%q is client %v", line, c)
		}
	}
	if c, ok := parseClient(base.String()); !ok || c != base {
		t.Errorf("%v is read back as %v", base, c)
	}
}

// TestSystemTable: the system's own table knows this process and its parent, and no process that there is not.
func TestSystemTable(t *testing.T) {
	me, err := Processes.Process(os.Getpid())
	if err != nil || me.PID != os.Getpid() || me.Parent != os.Getppid() || me.Name == "" {
		t.Errorf("this process is %+v, %v", me, err)
	}
	if again, err := Processes.Process(os.Getpid()); err != nil || again.Start != me.Start {
		t.Errorf("its start is %d and then %d, %v", me.Start, again.Start, err)
	}
	if _, err := Processes.Process(1 << 30); !errors.Is(err, errNoProcess) {
		t.Errorf("a process that there is not: %v", err)
	}
	c, err := FindClient(Processes, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if lives, known := c.lives(Processes); !lives || !known {
		t.Errorf("the client %v lives: %v, known: %v", c, lives, known)
	}
}

// agent is a client of a test's table.
func agent(t *fakeTable, pid int) Identity {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ps[pid] = Process{PID: pid, Name: "claude", Start: uint64(pid)}
	c := Client{pid, uint64(pid), t.realm}
	return Identity{c.Key(), c}
}

func sessionsIn(t *testing.T, home string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(home, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func mustOpen(t *testing.T, home string, who Identity, table Table) *Local {
	t.Helper()
	l, err := open(home, who, table)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustClose(t *testing.T, l *Local) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestLastOneOut: a session outlives the restart of a server, and ends with its client: the last process takes it away.
func TestLastOneOut(t *testing.T) {
	home, table := t.TempDir(), chain()
	who := agent(table, 10)
	a, b := mustOpen(t, home, who, table), mustOpen(t, home, who, table)
	if err := a.Observe(fromFiles, []byte(`"x@x.example"`)); err != nil {
		t.Fatal(err)
	}
	a.Say("Send it to bob@x.example")
	mustClose(t, a)
	mustClose(t, b)
	c := mustOpen(t, home, who, table)
	if seen, ok := now(c).Seen(dest("x@x.example"), provenance.Tokens); !ok || seen.Source != fromFiles {
		t.Errorf("a restart loses what was seen: %+v", seen)
	}
	if now(c).Request() == nil {
		t.Error("a restart loses what the user said")
	}
	d := mustOpen(t, home, who, table)
	table.mu.Lock()
	delete(table.ps, 10)
	table.mu.Unlock()
	mustClose(t, d)
	if got := sessionsIn(t, home); len(got) != 1 {
		t.Errorf("the client is gone, a process is not: %v", got)
	}
	mustClose(t, c)
	if got := sessionsIn(t, home); len(got) != 0 {
		t.Errorf("nobody is left: %v", got)
	}
}

// TestSweep: a start takes away what crashed sessions left, and nothing else.
func TestSweep(t *testing.T) {
	home, table := t.TempDir(), chain()
	leave := func(who Identity) string { // as a process that was killed does
		l := mustOpen(t, home, who, table)
		close(l.stop)
		<-l.stopped
		l.own.file.Close()
		l.db.close()
		return l.dir
	}
	dead, alive, busy, elsewhere, boot, reused := agent(table, 10), agent(table, 11), agent(table, 12), agent(table, 13), agent(table, 14), agent(table, 15)
	elsewhere.Client.Realm = "boot/other"
	elsewhere.Key = elsewhere.Client.Key()
	boot.Client.Realm = "before/ns"
	boot.Key = boot.Client.Key()
	named := Identity{KeyOf("the client's own id"), alive.Client}
	deadDir := leave(dead)
	for _, who := range []Identity{alive, elsewhere, boot, reused, named} {
		leave(who)
	}
	stays := mustOpen(t, home, busy, table)
	table.mu.Lock()
	delete(table.ps, 10)
	delete(table.ps, 12)
	p := table.ps[15]
	p.Start++ // its number was given to another process
	table.ps[15] = p
	table.mu.Unlock()
	half := filepath.Join(home, "sessions", leaving+"x")
	torn := filepath.Join(home, "sessions", "ptorn") // killed before the client was noted
	for _, dir := range []string{half, torn} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mine := mustOpen(t, home, agent(table, 20), table)
	mustClose(t, mine) // its sweep is over then
	want := map[string]bool{alive.Key: true, busy.Key: true, elsewhere.Key: true, named.Key: true, mine.who(): true}
	got := map[string]bool{}
	for _, name := range sessionsIn(t, home) {
		got[name] = true
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("left are %v, want %v", got, want)
	}
	if _, err := os.Stat(deadDir); err == nil {
		t.Error("the dead session is there")
	}
	mustClose(t, stays)
	// A session of another container is kept for a day, since nobody here can say whether its client runs.
	dir := filepath.Join(home, "sessions", elsewhere.Key)
	entries, _ := os.ReadDir(dir)
	old := time.Now().Add(-2 * foreignAge)
	for _, e := range entries {
		if err := os.Chtimes(filepath.Join(dir, e.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := mine.place.sweep(""); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a session of another container is kept for ever")
	}
}

// TestSayHere: what the flag of one server says is no word of the user's to another.
func TestSayHere(t *testing.T) {
	home := t.TempDir()
	a, b := join(t, home, theClient), join(t, home, theClient)
	b.Say("Summarise the page")
	a.SayHere("Send it to eve@x.example")
	mail := []string{"send"}
	if !now(a).Request().Asks(mail) || now(b).Request().Asks(mail) {
		t.Error("the words are not where they should be")
	}
	if c := join(t, home, theClient); now(c).Request().Asks(mail) || now(c).Request() == nil {
		t.Error("another process has them")
	}
	b.Say("Send it to bob@x.example")
	if _, ok := now(a).Request().Vouches(dest("bob@x.example"), mail); !ok {
		t.Error("what the user says later does not count")
	}
}

// TestSideBySide: two clients never mix.
func TestSideBySide(t *testing.T) {
	home, table := t.TempDir(), chain()
	a, b := mustOpen(t, home, agent(table, 10), table), mustOpen(t, home, agent(table, 11), table)
	defer mustClose(t, a)
	defer mustClose(t, b)
	if err := a.Observe(fromFiles, []byte(`"x@x.example"`)); err != nil {
		t.Fatal(err)
	}
	a.Vouch("mail", "send", dest("y@x.example"))
	a.Say("Send it to bob@x.example")
	a.Label(labelled(provenance.Directory, "mail", "z@x.example"))
	if _, ok := now(b).Seen(dest("x@x.example"), provenance.Tokens); ok || now(b).Vouched("mail", "send", dest("y@x.example")) || now(b).Request() != nil ||
		labelOf(now(b), "mail", "z@x.example") != "" || !now(b).Clean() {
		t.Error("one client's facts are another's")
	}
	if a.Reserve("mail", "send") != 1 || b.Reserve("mail", "send") != 1 {
		t.Error("two clients share a budget")
	}
}
