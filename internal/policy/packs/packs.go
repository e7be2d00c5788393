// Package packs holds what is known about the tools of popular servers, as data: one YAML file a pack, read by the same
// strict loader as a user's policy. A pack says where a tool sends to and what it takes away. It trusts nobody and
// confines no path: that is the user's to say.
//
// A tool that carries nothing out is listed with {}, so that heuristics do not take it for one that does; content lists
// the arguments that look like destinations or paths and are none.
package packs

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/mcp-bouncer/bouncer/internal/policy"
	"github.com/mcp-bouncer/bouncer/internal/policy/load"
)

//go:embed *.yaml
var files embed.FS

var all = sync.OnceValue(read)

// All returns the packs in order of their names. The rules are shared: do not change them.
func All() []policy.PackRules { return slices.Clone(all()) }

// Source returns the text of a pack, comments and all, for showing it; false when there is none of this name.
func Source(name string) (string, bool) {
	data, err := files.ReadFile(name + ".yaml")
	return string(data), err == nil
}

func read() []policy.PackRules {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		panic(err)
	}
	slices.Sort(names)
	var out []policy.PackRules
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		p, err := load.PackBytes(name, data)
		if err != nil {
			panic(fmt.Sprintf("embedded pack: %v", err))
		}
		out = append(out, p)
	}
	return out
}
