package approval

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Dir is a Store of files: ID.json is a question, ID.answer its answer. Both appear whole or not at all, an answer at most
// once, and taking it is one rename, which one process wins.
type Dir struct {
	path string
	now  func() time.Time
}

// Bounds on a directory that an agent can fill by asking.
const (
	maxPending     = 100
	maxPendingFile = 256 << 10
	maxPendingArgs = 64 << 10
	staleAfter     = time.Hour // what nobody took, and what a killed process left
	attendedFor    = 10 * time.Second
)

// NewDir returns the store in the directory at path, which is made when it is first needed.
func NewDir(path string, now func() time.Time) *Dir {
	if now == nil {
		now = time.Now
	}
	return &Dir{path, now}
}

// validID holds for what audit.NewID makes, so that no ID leads out of the directory.
func validID(id string) bool {
	return len(id) >= 4 && len(id) <= 32 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

func (d *Dir) file(id, ext string) string { return filepath.Join(d.path, id+ext) }

// Put implements Store.
func (d *Dir) Put(p Pending) (string, error) {
	if !validID(p.ID) || p.Key == "" {
		return "", errors.New("keep a question: it has no proper name")
	}
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return "", fmt.Errorf("keep a question: %w", err)
	}
	unlock, err := lock(d.file("pending", ".lock"), lockFor)
	if err != nil {
		return "", fmt.Errorf("keep a question: %w", err)
	}
	defer unlock()
	d.sweep()
	all, err := d.List()
	if err != nil {
		return "", err
	}
	for _, have := range all {
		if have.Key == p.Key {
			p.ID = have.ID
		}
	}
	if len(all) >= maxPending && !slices.ContainsFunc(all, func(have Pending) bool { return have.Key == p.Key }) {
		return "", ErrFull
	}
	if p.Size = len(p.Args); p.Size > maxPendingArgs {
		p.Args = p.Args[:maxPendingArgs]
	}
	data, err := json.Marshal(encode(p))
	if err == nil && len(data) > maxPendingFile {
		err = errors.New("it is too large to be shown")
	}
	if err == nil {
		err = replaceFile(d.file(p.ID, ".json"), data)
	}
	if err != nil {
		return "", fmt.Errorf("keep a question: %w", err)
	}
	return p.ID, nil
}

// List implements Store. A file that cannot be read is no question; nothing is allowed by leaving it out.
func (d *Dir) List() ([]Pending, error) {
	files, err := os.ReadDir(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list questions: %w", err)
	}
	var out []Pending
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok {
			if p, err := d.Get(id); err == nil {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b Pending) int {
		if c := a.Asked.Compare(b.Asked); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out, nil
}

// Get implements Store. A question that has its answer does not wait any more.
func (d *Dir) Get(id string) (Pending, error) {
	p, err := d.read(id)
	if err != nil {
		return Pending{}, err
	}
	if _, err := os.Lstat(d.file(id, ".answer")); err == nil {
		return Pending{}, ErrAnswered
	}
	return p, nil
}

func (d *Dir) read(id string) (Pending, error) {
	if !validID(id) {
		return Pending{}, ErrGone
	}
	data, _, err := readPrivate(d.file(id, ".json"), maxPendingFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Pending{}, ErrGone
	}
	if err != nil {
		return Pending{}, fmt.Errorf("read question %s: %w", id, err)
	}
	p, err := decode(data)
	if err != nil || p.ID != id {
		return Pending{}, fmt.Errorf("question %s is not readable as one", id)
	}
	if !d.now().Before(p.Expires) {
		return Pending{}, ErrGone
	}
	return p, nil
}

// Give implements Store.
func (d *Dir) Give(g Given) error {
	p, err := d.Get(g.ID)
	if err != nil {
		return err
	}
	if g.Key != p.Key {
		return errors.New("the question has changed since it was shown: look at it again")
	}
	g.At = d.now()
	data, err := json.Marshal(givenFile{Version: 1, ID: g.ID, Key: g.Key, Choice: g.Choice.String(), Scope: string(g.Scope), By: g.By, Kept: g.Kept, At: g.At})
	if err != nil {
		return fmt.Errorf("answer question %s: %w", g.ID, err)
	}
	temp := filepath.Join(d.path, ".answer-"+randomHex())
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return fmt.Errorf("answer question %s: %w", g.ID, err)
	}
	defer os.Remove(temp)
	// A link, unlike a rename, fails where a file of the name is: two answers never become one.
	if err := os.Link(temp, d.file(g.ID, ".answer")); errors.Is(err, fs.ErrExist) {
		return ErrAnswered
	} else if err != nil {
		return fmt.Errorf("answer question %s: %w", g.ID, err)
	}
	return nil
}

// Take implements Store.
func (d *Dir) Take(key string) (Given, bool, error) {
	answers, err := filepath.Glob(filepath.Join(d.path, "*.answer"))
	if err != nil || key == "" {
		return Given{}, false, err
	}
	for _, path := range answers {
		id := strings.TrimSuffix(filepath.Base(path), ".answer")
		p, err := d.read(id)
		if err != nil || p.Key != key {
			continue
		}
		taken := filepath.Join(d.path, ".taken-"+randomHex())
		if err := os.Rename(path, taken); err != nil { // another call was first
			continue
		}
		data, _, err := readPrivate(taken, maxPendingFile)
		os.Remove(taken)
		os.Remove(d.file(id, ".json"))
		if err != nil {
			return Given{}, false, fmt.Errorf("read the answer to question %s: %w", id, err)
		}
		g, err := decodeGiven(data)
		if err != nil || g.ID != id || g.Key != key {
			return Given{}, false, fmt.Errorf("the answer to question %s is not readable as one", id)
		}
		return g, true, nil
	}
	return Given{}, false, nil
}

// Attend says that a page is open. It is called every few seconds while one is.
func (d *Dir) Attend() error {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return err
	}
	path := d.file("attended", "")
	if err := os.Chtimes(path, time.Time{}, d.now()); err == nil {
		return nil
	}
	return os.WriteFile(path, nil, 0o600)
}

// Attended implements Store.
func (d *Dir) Attended() bool {
	info, err := os.Stat(d.file("attended", ""))
	return err == nil && d.now().Sub(info.ModTime()).Abs() < attendedFor
}

// sweep takes away what has expired, and what a killed process left half done.
func (d *Dir) sweep() {
	files, err := os.ReadDir(d.path)
	if err != nil {
		return
	}
	for _, f := range files {
		id, isQuestion := strings.CutSuffix(f.Name(), ".json")
		info, err := f.Info()
		switch {
		case err != nil:
		case isQuestion:
			if _, err := d.read(id); errors.Is(err, ErrGone) {
				os.Remove(d.file(id, ".answer"))
				os.Remove(d.file(id, ".json"))
			}
		case strings.HasPrefix(f.Name(), ".") && d.now().Sub(info.ModTime()) > staleAfter:
			os.Remove(filepath.Join(d.path, f.Name()))
		}
	}
}

func randomHex() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
