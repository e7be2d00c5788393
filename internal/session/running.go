package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Running lists the sessions below a Bouncer home whose client runs, in order of their keys.
func Running(home string) ([]Identity, error) { return running(home, Processes) }

func running(home string, t Table) (out []Identity, err error) {
	dir := filepath.Join(home, "sessions")
	if err := checkDir(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		for _, c := range clientsOf(filepath.Join(dir, e.Name())) {
			if lives, _ := c.lives(t); lives && c.Key() == e.Name() {
				out = append(out, Identity{c.Key(), c})
				break
			}
		}
	}
	return out, nil
}
