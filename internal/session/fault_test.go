package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/mcp-bouncer/bouncer/internal/provenance"
)

var fromFiles = provenance.Source{Server: "files", Tool: "read", Call: "c1", Kind: "result"}

// wantFault fails the test unless the store says why it cannot be used.
func wantFault(t *testing.T, s Store, mark uint64, why string) {
	t.Helper()
	if err := s.Err(mark); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("the fault is %v, want one with %q", err, why)
	}
}

func wantSound(t *testing.T, s Store, mark uint64) {
	t.Helper()
	if err := s.Err(mark); err != nil {
		t.Error(err)
	}
}

func appendTo(t *testing.T, path string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.Write(b)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// recordOf is the whole record of an observation.
func recordOf(payload string) []byte {
	body := append(observation(nil, fromFiles, nil), payload...)
	head := seal(body)
	return append(head[:], body...)
}

// looking never goes by the board alone.
func looking(l *Local) *Local {
	l.reading.Lock()
	defer l.reading.Unlock()
	l.trust = 0
	return l
}

// believing goes by the board alone.
func believing(l *Local) *Local {
	l.reading.Lock()
	defer l.reading.Unlock()
	l.trust, l.looked = time.Hour, time.Now()
	return l
}

// TestBoard: what was posted is read at once, by the board alone; what was not is read at the next look; what was posted and is not
// there is damage, and so is a board that is none.
func TestBoard(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no board here")
	}
	home := t.TempDir()
	a, b := join(t, home, theClient), believing(join(t, home, theClient))
	c := join(t, home, theClient) // announced after b has looked
	for i, l := range []*Local{a, c} {
		address := fmt.Sprintf("p%d@x.example", i)
		if err := l.Observe(fromFiles, []byte(`"`+address+`"`)); err != nil {
			t.Fatal(err)
		}
		mark := b.Mark()
		if _, ok := b.Seen(dest(address), provenance.Tokens); !ok {
			t.Errorf("%s was posted and is not read", address)
		}
		wantSound(t, b, mark)
	}
	appendTo(t, segmentPath(a), recordOf(`"late@x.example"`))
	b.Mark()
	if _, ok := looking(b).Seen(dest("late@x.example"), provenance.Tokens); ok {
		t.Error("what was not posted is read without a look: this test shows nothing")
	}
	mark := b.Mark()
	if _, ok := b.Seen(dest("late@x.example"), provenance.Tokens); !ok {
		t.Error("a look does not find what was not posted")
	}
	wantSound(t, b, mark)
	a.own.board.post(a.own.number, 1<<30)
	mark = believing(b).Mark()
	wantFault(t, b, mark, "is damaged: it ends before")

	for _, damage := range []func(path string) error{
		func(path string) error { return os.Truncate(path, 100) },
		func(path string) error { return os.WriteFile(path, make([]byte, boardSize), 0o600) },
		func(path string) error { return os.Chmod(path, 0o622) },
		func(path string) error { return errors.Join(os.Remove(path), os.Symlink("/dev/zero", path)) },
	} {
		home := t.TempDir()
		first := join(t, home, theClient)
		copied := filepath.Join(home, "sessions", "copied")
		if err := os.Rename(first.dir, copied); err != nil { // damage to a mapped page would kill this process
			t.Fatal(err)
		}
		if err := errors.Join(os.Mkdir(first.dir, 0o700), os.WriteFile(filepath.Join(first.dir, boardFile), nil, 0o600), damage(filepath.Join(first.dir, boardFile))); err != nil {
			t.Fatal(err)
		}
		if l, err := Open(home, theClient); err == nil {
			l.Close()
			t.Error("a damaged board was opened")
		}
	}
}

// TestTornRecord: a record that a dying process left unfinished is one that nobody saw. When it becomes whole it counts.
func TestTornRecord(t *testing.T) {
	whole := recordOf(`"mail torn@x.example"`)
	long := recordOf(`"` + strings.Repeat("x", 3*readAhead) + ` torn@x.example"`)
	for name, rec := range map[string][]byte{"short": whole, "long": long} {
		for _, cut := range []int{1, recordHead - 1, recordHead, recordHead + 1, len(rec) - 1} {
			home := t.TempDir()
			a, b := join(t, home, theClient), looking(join(t, home, theClient))
			if err := a.Observe(fromFiles, []byte(`"before@x.example"`)); err != nil {
				t.Fatal(err)
			}
			appendTo(t, segmentPath(a), rec[:cut])
			mark := b.Mark()
			if _, ok := now(b).Seen(dest("before@x.example"), provenance.Tokens); !ok {
				t.Errorf("%s cut at %d: what stands before it is not read", name, cut)
			}
			if _, ok := now(b).Seen(dest("torn@x.example"), provenance.Tokens); ok {
				t.Errorf("%s cut at %d: a torn record is read", name, cut)
			}
			wantSound(t, b, mark)
			appendTo(t, segmentPath(a), rec[cut:])
			if seen, ok := now(b).Seen(dest("torn@x.example"), provenance.Tokens); !ok || seen.Source != fromFiles {
				t.Errorf("%s cut at %d: it became whole and is not read: %+v", name, cut, seen)
			}
			wantSound(t, b, mark)
		}
	}
}

// TestDamage: what cannot be read back leaves no decision to be made, for ever.
func TestDamage(t *testing.T) {
	flipped := recordOf(`"mail x@x.example"`)
	flipped[len(flipped)-3] ^= 1
	unknown := []byte{99, 1, 2}
	head := seal(unknown)
	for name, junk := range map[string][]byte{
		"a flipped bit":        flipped,
		"an unknown record":    append(head[:], unknown...),
		"zeros":                make([]byte, 4096),
		"an impossible length": {255, 255, 255, 255, 0, 0, 0, 0, 1},
	} {
		home := t.TempDir()
		a, b := join(t, home, theClient), looking(join(t, home, theClient))
		appendTo(t, segmentPath(a), junk)
		mark := b.Mark()
		now(b).Seen(dest("x@x.example"), provenance.Tokens)
		t.Log(name)
		wantFault(t, b, mark, "damaged")
		wantFault(t, b, b.Mark(), "damaged") // it lasts
	}
	home := t.TempDir()
	a := looking(join(t, home, theClient))
	other := nextSegment(a)
	if err := os.WriteFile(other, []byte("bouncer session 2\nmore"), 0o600); err != nil {
		t.Fatal(err)
	}
	mark := a.Mark()
	wantFault(t, a, mark, "not one of this version")
}

// TestForeignFacts: what another user wrote, or could have written, is not read.
func TestForeignFacts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes and owners here")
	}
	good := append([]byte(magic), recordOf(`"x@x.example"`)...)
	for _, c := range []struct {
		why  string
		make func(path string) error
	}{
		{"can be written by others", func(path string) error {
			return errors.Join(os.WriteFile(path, good, 0o600), os.Chmod(path, 0o620))
		}},
		{"can be written by others", func(path string) error {
			return errors.Join(os.WriteFile(path, good, 0o600), os.Chmod(path, 0o602))
		}},
		{"is a link", func(path string) error {
			return errors.Join(os.WriteFile(path+".real", good, 0o600), os.Symlink(path+".real", path))
		}},
		{"no plain file", func(path string) error { return os.Mkdir(path, 0o700) }},
		{"another user", func(path string) error {
			if os.Geteuid() != 0 {
				return errors.Join(os.WriteFile(path, good, 0o600), os.Chmod(path, 0o622)) // the owner cannot be given away
			}
			return errors.Join(os.WriteFile(path, good, 0o600), os.Chown(path, 12345, 12345))
		}},
	} {
		l := looking(join(t, t.TempDir(), theClient))
		made := filepath.Join(l.dir, "made")
		if err := errors.Join(c.make(made), os.Rename(made, nextSegment(l))); err != nil {
			t.Fatal(err)
		}
		mark := l.Mark()
		if _, seen := now(l).Seen(dest("x@x.example"), provenance.Tokens); seen {
			t.Errorf("%s: it is read", c.why)
		}
		if c.why == "another user" && os.Geteuid() != 0 {
			continue
		}
		wantFault(t, l, mark, c.why)
	}
	for _, name := range []string{"", "sessions", "sessions/lock", "sessions/KEY", "sessions/KEY/clients"} {
		home := t.TempDir()
		first, err := Open(home, theClient)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, strings.ReplaceAll(name, "KEY", theClient.Key))
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
		if l, err := Open(home, theClient); err == nil {
			t.Errorf("%q can be written by others, and the session is joined", name)
			l.Close()
		}
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
	l := join(t, t.TempDir(), theClient)
	if err := os.WriteFile(l.db.path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(l.db.path, 0o666); err != nil {
		t.Fatal(err)
	}
	mark := l.Mark()
	l.Say("Send it to bob@x.example")
	wantFault(t, l, mark, "can be written by others")
}

// TestMoved: a session whose directory was taken away is none, since who joins next knows nothing of it. When it is back, all
// is well again.
func TestMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved here")
	}
	home := t.TempDir()
	l := looking(join(t, home, theClient))
	sessions := filepath.Join(home, "sessions")
	if err := os.Rename(sessions, sessions+".away"); err != nil {
		t.Fatal(err)
	}
	mark := l.Mark()
	wantFault(t, l, mark, "was moved or removed")
	if err := os.WriteFile(sessions, nil, 0o600); err != nil { // something else in its place
		t.Fatal(err)
	}
	mark = l.Mark()
	wantFault(t, l, mark, sessions)
	if err := errors.Join(os.Remove(sessions), os.Rename(sessions+".away", sessions)); err != nil {
		t.Fatal(err)
	}
	mark = l.Mark()
	wantSound(t, l, mark)
	if err := os.RemoveAll(l.dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		mark = l.Mark()
		wantFault(t, l, mark, "was moved or removed")
	}
}

// TestUnwritten: what cannot be written is said, and nothing is decided until something can be written again. Behind what may
// be a torn record nothing is written: it goes on in another file.
func TestUnwritten(t *testing.T) {
	home := t.TempDir()
	a, b := join(t, home, theClient), join(t, home, theClient)
	full, err := os.Open(segmentPath(a)) // it takes no write
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	whole := segmentPath(a)
	unlock, err := a.place.lock() // and no other file can be made
	if err != nil {
		t.Fatal(err)
	}
	a.own.file.Close()
	a.own.file = full
	mark := a.Mark()
	if err := a.Observe(fromFiles, []byte(`"lost@x.example"`)); err == nil {
		t.Error("it could not be written, and nobody is told")
	}
	wantFault(t, a, mark, whole)
	wantFault(t, a, a.Mark(), "lock") // it lasts
	mark = b.Mark()
	wantSound(t, b, mark)
	unlock()
	appendTo(t, whole, recordOf(`"` + strings.Repeat("x", 1000) + `"`)[:500])
	for _, text := range []string{"later@x.example", strings.Repeat("x", 2*largeBody) + " long@x.example"} {
		if err := a.Observe(fromFiles, []byte(`"`+text+`"`)); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		raw  string
		want bool
	}{{"lost@x.example", false}, {"later@x.example", true}, {"long@x.example", true}} {
		if _, ok := now(b).Seen(dest(c.raw), provenance.Tokens); ok != c.want {
			t.Errorf("another process sees %s: %v", c.raw, ok)
		}
	}
	mark = a.Mark()
	wantSound(t, a, mark)
	mark = b.Mark()
	wantSound(t, b, mark)
}

// TestLockedDatabase: a lock is waited for, but not for ever; what was decided in between is no decision; and when the lock is
// gone, all is well again.
func TestLockedDatabase(t *testing.T) {
	home := t.TempDir()
	a := join(t, home, theClient)
	a.Say("Send it to bob@x.example") // makes the database
	c, err := sqlite3.OpenFlags(a.db.path, sqlite3.OPEN_READWRITE)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec("BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	mark := a.Mark()
	done := make(chan int)
	go func() { done <- a.Reserve("mail", "send") }()
	select {
	case n := <-done:
		if n < 1_000_000 {
			t.Errorf("slot %d was given while the database was locked", n)
		}
	case <-time.After(time.Minute):
		t.Fatal("the wait has no end")
	}
	wantFault(t, a, mark, "locked")
	if n := a.Fetch("x.example", "u"); n != maxFetched {
		t.Errorf("URL number %d while the database was locked", n)
	}
	a.Vouch("mail", "send", dest("new@x.example"))
	if now(a).Vouched("mail", "send", dest("new@x.example")) {
		t.Error("a vouch counts that was not written")
	}
	if err := c.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	mark = a.Mark()
	if n := a.Reserve("mail", "send"); n != 1 {
		t.Errorf("slot %d after the lock is gone", n)
	}
	wantSound(t, a, mark)
}

// TestCorruptDatabase: what cannot be read fails every decision that needs it, also in a process that comes later.
func TestCorruptDatabase(t *testing.T) {
	home := t.TempDir()
	a, b := join(t, home, theClient), join(t, home, theClient)
	if err := os.WriteFile(a.db.path, []byte(strings.Repeat("this is no database. ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	mark := a.Mark()
	a.Say("Send it to bob@x.example")
	wantFault(t, a, mark, "not a database")
	// Another process's bell says that there is something to read.
	if err := b.own.write(func(b []byte) []byte { return append(b, recBell) }, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		mark = a.Mark()
		now(a).Request()
		wantFault(t, a, mark, "not a database")
	}
	late := join(t, home, theClient)
	mark = late.Mark()
	wantFault(t, late, mark, "not a database")
	if a.Label(labelled(provenance.Directory, "mail", "a@x.example")); labelOf(now(a), "mail", "a@x.example") != "" {
		t.Error("a directory entry counts though nobody knows what agents put there")
	}
}

// TestOtherVersionsDatabase: half of the facts is no ground for a decision.
func TestOtherVersionsDatabase(t *testing.T) {
	l := join(t, t.TempDir(), theClient)
	if err := os.WriteFile(l.db.path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite3.OpenFlags(l.db.path, sqlite3.OPEN_READWRITE)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Exec("PRAGMA user_version=7"), c.Close()); err != nil {
		t.Fatal(err)
	}
	mark := l.Mark()
	l.Reserve("mail", "send")
	wantFault(t, l, mark, "another version")
}
