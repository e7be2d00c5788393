package approval

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const bookHead = `# Answers that you gave for always, one a line. They add to your policy and replace none of its rules:
# always approves a destination for one tool of one server, never refuses it before every trust.
# bouncer approvals list and bouncer approvals revoke N look after this file.
version: 1
approvals:
`

// Remember adds entries to the file, unless it has them. It is not nil, and nothing was written, when the file is broken or
// cannot be replaced. A Never that could not be written holds for as long as this process lives.
func (b *Book) Remember(entries []Entry, now time.Time) error {
	if b == nil {
		return errors.New("there is no file for remembered answers")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.change(func(data []byte, have []Entry) ([]byte, []Entry, error) {
		if len(data) > 0 && data[len(data)-1] != '\n' {
			data = append(data, '\n')
		}
		switch text := "\n" + string(data); {
		case !strings.Contains(text, "\nversion:"):
			data = append(data, bookHead...)
		case !strings.Contains(text, "\napprovals:"):
			data = append(data, "approvals:\n"...)
		}
		for _, e := range entries {
			e.Since = today(now)
			if !slices.ContainsFunc(have, e.same) {
				data = append(append(data, e.Line()...), '\n')
				have = append(have, e)
			}
		}
		return data, have, nil
	})
	if err != nil {
		for _, e := range entries {
			if e.Choice == Never {
				b.unkept = append(b.unkept, e)
			}
		}
		return fmt.Errorf("remember an answer in %s: %w", b.path, err)
	}
	b.fresh()
	return nil
}

// Revoke takes entry number n out of the file, if it is still the one that was shown.
func (b *Book) Revoke(n int, shown Entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.change(func(data []byte, have []Entry) ([]byte, []Entry, error) {
		if n < 1 || n > len(have) || !have[n-1].same(shown) {
			return nil, nil, errors.New("the file has changed meanwhile: list it again")
		}
		_, r, err := parseBook(b.path, data)
		if err != nil {
			return nil, nil, err
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		from, to := r.lines[n-1], r.end
		if n < len(r.lines) {
			to = r.lines[n] - 1
		}
		out := slices.Concat(bytes.Join(lines[:from-1], nil), bytes.Join(lines[min(to, len(lines)):], nil))
		return out, slices.Delete(slices.Clone(have), n-1, n), nil
	})
	if err != nil {
		return fmt.Errorf("revoke entry %d of %s: %w", n, b.path, err)
	}
	b.fresh()
	return nil
}

// change replaces the file by what edit makes of it, if that reads as the entries that edit says. Others wait for the
// lock, so that no answer is lost between reading and writing.
func (b *Book) change(edit func(data []byte, have []Entry) ([]byte, []Entry, error)) error {
	unlock, err := lock(b.path+".lock", lockFor)
	if err != nil {
		return err
	}
	defer unlock()
	data, _, err := readPrivate(b.path, maxBook)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	have, _, err := parseBook(b.path, data)
	if err != nil && len(data) > 0 {
		return fmt.Errorf("it is broken: %w", err)
	}
	if len(data) == 0 {
		have = nil
	}
	out, want, err := edit(bytes.Clone(data), have)
	if err != nil {
		return err
	}
	got, _, err := parseBook(b.path, out)
	if err != nil || !slices.EqualFunc(got, want, func(a, b Entry) bool { return a.same(b) }) {
		return errors.New("it is written in a way that cannot be changed safely: edit it by hand")
	}
	return replaceFile(b.path, out)
}

// replaceFile writes a file of mode 0600 whole or not at all.
func replaceFile(path string, data []byte) error {
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil { // a dotfile manager's link stays a link (D28)
		target = real
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".approval-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if syncErr := f.Sync(); err == nil {
		err = syncErr
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), target)
}
