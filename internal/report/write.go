package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrExists says that the file to write is there already.
var ErrExists = errors.New("it is there already")

// Write puts what render writes into the file at path, for its owner alone (0600): the whole of it, or nothing. A file
// that is there is ErrExists, unless force is set. What is no regular file, and the files in keep, are never replaced.
func Write(path string, force bool, keep []string, render func(io.Writer) error) error {
	if err := mayReplace(path, force, keep); err != nil {
		return fmt.Errorf("write report %s: %w", path, err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".bouncer-report-*.tmp") // 0600
	if err != nil {
		return fmt.Errorf("write report %s: %w", path, err)
	}
	defer os.Remove(temp.Name())
	err = render(temp)
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = place(temp.Name(), path, force)
	}
	if err != nil {
		return fmt.Errorf("write report %s: %w", path, err)
	}
	return nil
}

// mayReplace looks before the report is made; place looks again, in one step with the change.
func mayReplace(path string, force bool, keep []string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !force:
		return ErrExists
	case !info.Mode().IsRegular(): // a link would be replaced by a file, and what it leads to left as it was
		return errors.New("what is there is not a regular file")
	}
	for _, file := range keep {
		if other, err := os.Stat(file); err == nil && os.SameFile(info, other) {
			return errors.New("it is a file that the report is about")
		}
	}
	return nil
}

// place gives the finished file its name.
func place(temp, path string, force bool) error {
	if force {
		return os.Rename(temp, path)
	}
	err := os.Link(temp, path) // unlike a rename it fails where a file came up meanwhile
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	}
	return copyNew(temp, path) // a file system without hard links
}

func copyNew(temp, path string) error {
	data, err := os.ReadFile(temp)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}
