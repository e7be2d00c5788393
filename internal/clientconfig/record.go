package clientconfig

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Record is what was wrapped in one config file, as it is kept in the Bouncer home. An agent, a client or an upgrade that
// takes Bouncer out of a config leaves nothing there to see it by; the record is how status does (A76, D26).
type Record struct {
	Version int        `json:"version"`
	Path    string     `json:"path"` // as it was asked for, links and all
	Client  string     `json:"client,omitempty"`
	Servers []Recorded `json:"servers"`

	file string // where the record stands
}

// Recorded is one server that was wrapped.
type Recorded struct {
	Block     string `json:"block"`
	Project   string `json:"project,omitempty"`
	InProject bool   `json:"in_project,omitempty"`
	Name      string `json:"name"`
	Binary    string `json:"binary"` // what stood in front of it
}

const (
	recordVersion = 1
	maxRecord     = 4 << 20
)

func (r Recorded) place() place { return place{r.InProject, r.Block, r.Project, r.Name} }

// Records returns what is recorded in the Bouncer home, in the order of the paths. A record that cannot be read is in the
// error, and the others are returned all the same.
func Records(home string) ([]Record, error) {
	dir := filepath.Join(home, "wrapped")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was wrapped: %w", err)
	}
	var out []Record
	var broken []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		r, err := readRecord(filepath.Join(dir, e.Name()))
		if err != nil {
			broken = append(broken, fmt.Errorf("read what was wrapped: %w", err))
			continue
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Record) int { return strings.Compare(a.Path, b.Path) })
	return out, errors.Join(broken...)
}

func readRecord(file string) (Record, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return Record{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return Record{}, fmt.Errorf("%s is not a regular file of a size that a record has", file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return Record{}, err
	}
	r := Record{file: file}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Record{}, fmt.Errorf("%s: %w", file, err)
	}
	if d.More() || r.Version != recordVersion || !filepath.IsAbs(r.Path) {
		return Record{}, fmt.Errorf("%s is not a record of version %d", file, recordVersion)
	}
	return r, nil
}

// recorded returns what is recorded of this file, by its path or by where its links lead, and the files that say so.
func (c *Change) recorded(home string) (servers []Recorded, files []string, err error) {
	all, err := Records(home)
	own := recordPath(home, c.snapshot.real)
	for _, r := range all {
		if r.Path != c.Path && r.file != own {
			continue
		}
		files = append(files, r.file)
		for _, s := range r.Servers {
			if !slices.ContainsFunc(servers, func(have Recorded) bool { return have.place() == s.place() }) {
				servers = append(servers, s)
			}
		}
	}
	return servers, files, err
}

func recordPath(home, real string) string {
	return filepath.Join(home, "wrapped", filepath.Base(BackupPath(home, real))+".json")
}

// announce records what is about to be wrapped. It comes before the write: a kill between the two has status report a
// server that is not wrapped, and never miss one.
func (c *Change) announce(home string, before []Recorded) error {
	after := slices.Clone(before)
	for i := range c.Entries {
		if e := &c.Entries[i]; e.edited() {
			after = withServer(after, e.recorded(c.options.Bouncer))
		}
	}
	return c.writeRecord(home, after)
}

func (e *Entry) recorded(binary string) Recorded {
	return Recorded{Block: e.block, Project: e.Project, InProject: e.inProj, Name: e.Name, Binary: binary}
}

func withServer(all []Recorded, s Recorded) []Recorded {
	all = slices.DeleteFunc(all, func(have Recorded) bool { return have.place() == s.place() })
	return append(all, s)
}

// Settle brings the record of the file in line with what init has found and done, and returns the names of servers that
// were wrapped before and stand in the file no more.
func (c *Change) Settle(home string) (gone []string, err error) {
	before, files, err := c.recorded(home)
	if err != nil {
		return nil, err
	}
	var after []Recorded
	for _, s := range before {
		i := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.place() == s.place() })
		switch {
		case i < 0 && len(c.options.Servers) > 0 && !slices.Contains(c.options.Servers, s.Name):
			after = append(after, s) // not looked at
		case i < 0:
			gone = append(gone, s.Name)
		case c.keeps(&c.Entries[i], s):
			after = append(after, s)
		}
	}
	for i := range c.Entries {
		if e := &c.Entries[i]; e.State == Wrapped || e.State == Already && e.Binary == c.options.Bouncer {
			after = withServer(after, e.recorded(c.options.Bouncer))
		}
	}
	if slices.Equal(before, after) && len(files) <= 1 {
		return gone, nil
	}
	if err := c.writeRecord(home, after); err != nil {
		return gone, err
	}
	return gone, c.dropOthers(home, files)
}

// keeps reports whether an entry that was wrapped is to be looked after still.
func (c *Change) keeps(e *Entry, s Recorded) bool {
	if c.options.Undo {
		return e.State == Skipped
	}
	return e.State == Already && e.Binary == s.Binary || e.State == Skipped
}

// dropOthers removes the records of the same file under other names: its link leads elsewhere now.
func (c *Change) dropOthers(home string, files []string) error {
	var failed []error
	for _, file := range files {
		if file != recordPath(home, c.snapshot.real) {
			failed = append(failed, os.Remove(file))
		}
	}
	return errors.Join(failed...)
}

func (c *Change) writeRecord(home string, servers []Recorded) error {
	name := recordPath(home, c.snapshot.real)
	if len(servers) == 0 {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("record what was wrapped: %w", err)
		}
		return nil
	}
	text, err := json.MarshalIndent(Record{Version: recordVersion, Path: c.Path, Client: c.options.Client, Servers: servers}, "", "  ")
	if err != nil {
		return fmt.Errorf("record what was wrapped: %w", err)
	}
	if err := putFile(name, append(text, '\n')); err != nil {
		return fmt.Errorf("record what was wrapped: %w", err)
	}
	return nil
}

// Forget removes the record of a config file that is not there any more, and reports whether there was one.
func Forget(home, path string) (bool, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return false, err
	}
	all, err := Records(home)
	if err != nil {
		return false, err
	}
	found := false
	for _, r := range all {
		if r.Path == abs {
			if err := os.Remove(r.file); err != nil {
				return found, fmt.Errorf("forget what was wrapped: %w", err)
			}
			found = true
		}
	}
	return found, nil
}

// putFile puts a file of that name into the Bouncer home, whole or not at all.
func putFile(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, tempPrefix+"*"+tempSuffix) // 0600: configs hold secrets
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}

// BackupPath returns where the backup of the file at real, a path without links, is kept in the Bouncer home.
func BackupPath(home, real string) string {
	sum := sha256.Sum256([]byte(real))
	return filepath.Join(home, "backups", fmt.Sprintf("%x-%s", sum[:6], filepath.Base(real)))
}
