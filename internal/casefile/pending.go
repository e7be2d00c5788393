package casefile

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// pendingDir is the name of a directory of cases that say what must hold and does not yet. They are run apart, and each of
// their wanted steps is expected to fail; the cases beside them stay green.
const pendingDir = "pending"

// isPending reports a directory of pending cases below root. The root itself is never one: who names it means it.
func isPending(root, path string, d fs.DirEntry) bool {
	return d.IsDir() && d.Name() == pendingDir && path != root
}

// left reports the directories of pending cases that Find leaves out below path.
func left(path string) []Report {
	var out []Report
	err := filepath.WalkDir(path, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !isPending(path, dir, d) {
			return err
		}
		files, err := Find(dir)
		if err == nil {
			out = append(out, Report{File: dir, Waiting: len(files)})
		} else if !errors.Is(err, errNoCases) {
			out = append(out, Report{File: dir, Err: err})
		}
		return fs.SkipDir
	})
	if err != nil {
		out = append(out, Report{File: path, Err: bare(err)})
	}
	return out
}

// alone returns c once for each step that wants something: with the history before it, and no other such step. So one
// step that fails hides none of the others.
func (c *Case) alone() []*Case {
	var out []*Case
	var history []step
	for _, s := range c.steps {
		if len(s.want) == 0 {
			history = append(history, s)
			continue
		}
		one := *c
		one.steps = append(history[:len(history):len(history)], s)
		out = append(out, &one)
	}
	return out
}
