// Package load reads policies and packs from YAML, strictly: whatever it does not understand is an error with file,
// line and column, and all of them are reported at once. A policy is the user's protection, so a file that is half
// understood must never count as one (D09). It reads the file it is given and nothing else; it does not know what a
// rule means.
package load

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mcp-bouncer/bouncer/internal/policy"
)

// maxSize is the largest policy that is read.
const maxSize = 1 << 20

// File reads the policy at path, flat or in the full format. What is wrong with its text is an *Errors; anything else
// (no such file, not a regular file, unreadable) is an error that wraps the cause. There is no policy beside an error.
func File(path string) (*policy.Set, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("load policy %s: %w", path, err)
	}
	return Bytes(path, data)
}

// readFile reads a regular file up to one byte more than maxSize. A pipe or a device could block the start for ever.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, cause(err)
	}
	return data, nil
}

// cause drops the path that os repeats.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Bytes reads a policy from data; name stands for the file in messages and positions. The error is an *Errors. A file
// without content is a policy of nothing.
func Bytes(name string, data []byte) (*policy.Set, error) {
	r := newReader(name, data)
	set := &policy.Set{File: name, Digest: fmt.Sprintf("%x", sha256.Sum256(data))}
	if root := r.parse(data); root != nil {
		if v, full := version(root); full {
			r.full(root, v, set)
		} else {
			set.Tools = r.flat(root)
		}
	}
	if err := r.result(); err != nil {
		return nil, err
	}
	return set, nil
}

// PackBytes reads a pack: pack, packages, reports, and tools with the flat keys and content. A pack is for everybody,
// so it can trust no destination and confine no path. The error is an *Errors.
func PackBytes(name string, data []byte) (policy.PackRules, error) {
	r := newReader(name, data)
	r.pack = true
	var p policy.PackRules
	if root := r.parse(data); root != nil {
		p = r.packFile(root)
	} else if len(r.errs) == 0 {
		r.at(1, 1, "a pack needs the keys pack, packages and tools")
	}
	if err := r.result(); err != nil {
		return policy.PackRules{}, err
	}
	return p, nil
}
