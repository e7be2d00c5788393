package clientconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// errChanged: another program wrote the file between the look at it and the write.
var errChanged = errors.New("another program changed it meanwhile")

// tries is how often an edit is worked out anew because another program changed the file.
const tries = 5

// Apply makes the edits. The file is replaced as a whole, where its links lead; before its first edit it is copied to
// the backups in the Bouncer home. When another program changes the file meanwhile, the edits are worked out anew, and
// made if they are still the ones that were agreed to. On an error the file is as it was. What was wrapped is recorded;
// Settle does the rest of that.
func (c *Change) Apply(home string) error {
	agreed := c.agreed()
	if len(agreed) == 0 {
		return nil
	}
	for range tries {
		err := c.once(home)
		if !errors.Is(err, errChanged) {
			return err
		}
		again, err := Plan(c.Path, c.options)
		if err != nil {
			return err
		}
		if err := again.keepOnly(agreed); err != nil {
			return err
		}
		if c.Entries, c.snapshot, c.doc, c.partly = again.Entries, again.snapshot, again.doc, again.partly; c.Edits() == 0 {
			return nil
		}
	}
	return fmt.Errorf("config %s: %w, %d times; end the client and try again", c.Path, errChanged, tries)
}

func (c *Change) once(home string) error {
	if c.options.Undo {
		return c.snapshot.replace(c.result(), c.look, c.hook)
	}
	before, _, err := c.recorded(home)
	if err != nil {
		return err
	}
	if err := c.backup(home); err != nil {
		return err
	}
	if err := c.announce(home, before); err != nil {
		return err
	}
	if err := c.snapshot.replace(c.result(), c.look, c.hook); err != nil {
		return errors.Join(err, c.writeRecord(home, before))
	}
	return nil
}

// place is which entry an edit is for.
type place struct {
	inProj               bool
	block, project, name string
}

func (e *Entry) place() place { return place{e.inProj, e.block, e.Project, e.Name} }

type edit struct{ was, is string }

func (c *Change) agreed() map[place]edit {
	out := map[place]edit{}
	for i := range c.Entries {
		if e := &c.Entries[i]; e.edited() {
			out[e.place()] = edit{string(e.was), string(e.is)}
		}
	}
	return out
}

// keepOnly drops the edits that nobody has seen, and fails where one that was agreed to would be another one now.
func (c *Change) keepOnly(agreed map[place]edit) error {
	left := len(agreed)
	for i := range c.Entries {
		e := &c.Entries[i]
		want, ok := agreed[e.place()]
		switch {
		case !ok && e.edited():
			e.is, e.State, e.Reason = e.was, Skipped, "it came up after the diff was shown"
		case !ok:
		case want.is == string(e.was): // another init has done the same
			left--
		case want != edit{string(e.was), string(e.is)}:
			return fmt.Errorf("config %s: server %q: %w; look at the diff again", c.Path, e.Name, errRace)
		default:
			left--
		}
	}
	if left > 0 {
		return fmt.Errorf("config %s: a server is gone: %w; look at the diff again", c.Path, errRace)
	}
	return nil
}

var errRace = errors.New("another program changed what was to be edited")

// Temporary files are named so that a later run knows them and whose they were.
const (
	tempPrefix = ".bouncer-init-"
	tempSuffix = ".tmp"
)

// replace puts data in the place of the snapshot's file, or fails and leaves it. look is called before the last look
// at the file and hook after it; both may be nil.
func (s *snapshot) replace(data []byte, look, hook func()) (err error) {
	if err := s.writable(); err != nil {
		return err
	}
	dir := filepath.Dir(s.real)
	removeStale(dir)
	temp, err := os.CreateTemp(dir, tempPrefix+strconv.Itoa(os.Getpid())+"-*"+tempSuffix)
	if err != nil {
		return &Refused{Path: s.path, Why: "its directory cannot be written: " + err.Error()}
	}
	defer func() {
		if err != nil {
			temp.Close()
			os.Remove(temp.Name())
		}
	}()
	if err := fill(temp, data, s.info); err != nil {
		return fmt.Errorf("config %s: %w", s.path, err)
	}
	if look != nil {
		look()
	}
	if !s.unchanged() {
		return errChanged
	}
	if hook != nil {
		hook()
	}
	if err := os.Rename(temp.Name(), s.real); err != nil {
		return fmt.Errorf("config %s: %w", s.path, err)
	}
	syncDir(dir)
	return nil
}

// fill writes data and gives the file the owner and mode of info, owner first: changing it clears mode bits.
func fill(temp *os.File, data []byte, info os.FileInfo) error {
	if _, err := temp.Write(data); err != nil {
		return err
	}
	if err := keepOwner(temp, info); err != nil {
		return fmt.Errorf("keep its owner: %w", err)
	}
	if err := temp.Chmod(info.Mode()); err != nil {
		return fmt.Errorf("keep its mode: %w", err)
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	return temp.Close()
}

// syncDir makes the rename last. Not every system can do that, and the file is whole either way.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// removeStale removes the temporary files of runs that were killed.
func removeStale(dir string) {
	names, _ := filepath.Glob(filepath.Join(quoteGlob(dir), tempPrefix+"*"+tempSuffix))
	for _, name := range names {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), tempPrefix), "-")
		n, err := strconv.Atoi(pid)
		info, statErr := os.Lstat(name)
		if err != nil || statErr != nil || !info.Mode().IsRegular() {
			continue
		}
		if !running(n) || time.Since(info.ModTime()) > 24*time.Hour {
			os.Remove(name)
		}
	}
}

func quoteGlob(dir string) string {
	if os.PathSeparator == '\\' {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func running(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if err := p.Signal(syscall.Signal(0)); err != nil {
		return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
	}
	return true
}

// backup keeps the file as it was before Bouncer first touched it, one a file, in the Bouncer home and not beside the
// file: a client or a repository would pick that up. A file that is wrapped in part already has its backup.
func (c *Change) backup(home string) error {
	name := BackupPath(home, c.snapshot.real)
	if _, err := os.Lstat(name); err == nil && c.partly {
		return nil
	}
	if err := putFile(name, c.snapshot.data); err != nil {
		return fmt.Errorf("back up %s: %w", c.Path, err)
	}
	return nil
}
