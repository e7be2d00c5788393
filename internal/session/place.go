package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// errBusy is the answer of tryLock when another process holds the lock.
var errBusy = errors.New("another process holds it")

// patience bounds every wait for another process. A stuck one must not hold up the calls of others.
const patience = 2 * time.Second

// place is the directory of all sessions.
type place struct {
	dir   string
	table Table
}

// newPlace makes the directory of all sessions in a Bouncer home.
func newPlace(home string, t Table) (*place, error) {
	if err := checkDir(home); err != nil {
		return nil, err
	}
	p := &place{filepath.Join(home, "sessions"), t}
	return p, makeDir(p.dir)
}

func makeDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return checkDir(dir)
}

func checkDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	return private(dir, info, true)
}

// lock takes the lock under which sessions are joined, left and removed.
func (p *place) lock() (unlock func(), err error) {
	path := filepath.Join(p.dir, "lock")
	if info, err := os.Lstat(path); err == nil {
		if err := private(path, info, false); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for until := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		if err = tryLock(f); err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, errBusy) || !time.Now().Before(until) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}

const clientsFile = "clients" // a line for every client that a session is for

// join makes the directory of a session, if it is not there, and a segment in it.
func (p *place) join(who Identity) (dir string, s *segment, number int, err error) {
	unlock, err := p.lock()
	if err != nil {
		return "", nil, 0, err
	}
	defer unlock()
	dir = filepath.Join(p.dir, who.Key)
	if err := makeDir(dir); err != nil {
		return "", nil, 0, err
	}
	if err := p.enter(dir, who.Client); err != nil {
		return "", nil, 0, err
	}
	b, err := openBoard(dir)
	if err != nil {
		return "", nil, 0, err
	}
	f, number, err := create(dir)
	if err != nil {
		return "", nil, 0, err
	}
	s = &segment{spare: f, spareNumber: number, board: b}
	if err := s.begin(nil); err != nil {
		return "", nil, 0, errors.Join(err, f.Close())
	}
	b.announce(number)
	return dir, s, number, nil
}

// another makes one more segment in the directory of a session.
func (p *place) another(dir string, b *board) (f *os.File, number int, err error) {
	unlock, err := p.lock()
	if err != nil {
		return nil, 0, err
	}
	defer unlock()
	if f, number, err = create(dir); err == nil {
		b.announce(number)
	}
	return f, number, err
}

// enter notes that a session is a client's. A line that a killed process left unfinished is ended first.
func (p *place) enter(dir string, c Client) error {
	path := filepath.Join(dir, clientsFile)
	if info, err := os.Lstat(path); err == nil {
		if err := private(path, info, false); err != nil {
			return err
		}
	}
	have, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if slices.Contains(strings.Split(string(have), "\n"), c.String()) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n" + c.String() + "\n")
	return errors.Join(err, f.Close())
}

// sweep removes the sessions whose client is gone and that nobody is in: after a crash nobody else would.
func (p *place) sweep(but string) error {
	unlock, err := p.lock()
	if err != nil {
		return err
	}
	defer unlock()
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == but || !e.IsDir():
		case strings.HasPrefix(name, leaving):
			err = errors.Join(err, os.RemoveAll(filepath.Join(p.dir, name)))
		case p.over(filepath.Join(p.dir, name)):
			err = errors.Join(err, p.remove(name))
		}
	}
	return err
}

// Sweep removes what sessions that are over left in a Bouncer home. Where there are none it makes nothing.
func Sweep(home string) error {
	p := &place{filepath.Join(home, "sessions"), Processes}
	if err := checkDir(p.dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return p.sweep("")
}

const leaving = ".gone-"

// remove removes a session's directory. It gets another name first, so that half of a session is never joined.
func (p *place) remove(name string) error {
	gone := filepath.Join(p.dir, leaving+name)
	if err := os.RemoveAll(gone); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(p.dir, name), gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// foreignAge is how long a session is kept whose client cannot be looked up: it runs in another container.
const foreignAge = 24 * time.Hour

// over reports that nobody is in a session and that its clients are gone.
func (p *place) over(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	latest := time.Time{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(latest) {
			latest = info.ModTime()
		}
		if strings.HasSuffix(e.Name(), ".seg") && occupied(filepath.Join(dir, e.Name())) {
			return false
		}
	}
	for _, c := range clientsOf(dir) {
		lives, known := c.lives(p.table)
		if lives || !known && time.Since(latest) < foreignAge {
			return false
		}
	}
	return true
}

func clientsOf(dir string) (out []Client) {
	lines, _ := os.ReadFile(filepath.Join(dir, clientsFile))
	for line := range strings.SplitSeq(string(lines), "\n") {
		if c, ok := parseClient(line); ok {
			out = append(out, c)
		}
	}
	return out
}

// clientLives reports whether a client of the session is known to run.
func (p *place) clientLives(dir string) bool {
	return slices.ContainsFunc(clientsOf(dir), func(c Client) bool {
		lives, _ := c.lives(p.table)
		return lives
	})
}

// occupied reports whether the process that writes a segment still runs, or that nobody can say so.
func occupied(path string) bool {
	f, err := openPrivate(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !isForeign(path)
	}
	defer f.Close()
	return tryLock(f) != nil
}

// isForeign reports a segment that is none of ours: nothing in it was read, and it goes with its session.
func isForeign(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && private(path, info, false) != nil
}

// leave ends a process's part in a session: the last one removes it, if its client is gone.
func (p *place) leave(dir string, s *segment) error {
	unlock, err := p.lock()
	if err != nil {
		return errors.Join(err, s.close())
	}
	defer unlock()
	if err := s.close(); err != nil {
		return err
	}
	if p.over(dir) {
		return p.remove(filepath.Base(dir))
	}
	return nil
}
