package hook

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mcp-bouncer/bouncer/internal/provenance"
	"github.com/mcp-bouncer/bouncer/internal/session"
)

// A prompt that names files like this gets their texts from the client, and no tool reads them.
var attached = regexp.MustCompile(`(?:^|\s)@("[^"\n]+"|[^\s"]+)`)

const (
	maxAttached  = 50       // files of a prompt
	longAttached = 10 << 20 // bytes of each
)

// attach records what stands in the files that a prompt names: the user's words do not vouch for what is in them.
func attach(s session.Store, e event) error {
	for i, m := range attached.FindAllStringSubmatch(e.prompt, -1) {
		if i == maxAttached {
			break
		}
		name := strings.Trim(m[1], `"`)
		text := readAttached(e.dir, name)
		if text == "" {
			text = readAttached(e.dir, strings.TrimRight(name, ".,;:!?)"))
		}
		if text == "" {
			continue // the client has nothing to show either
		}
		payload, err := json.Marshal(text)
		if err == nil {
			err = s.Observe(provenance.Source{Server: Server, Tool: "@" + filepath.Base(name), Call: e.session, Kind: "result"}, payload)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func readAttached(dir, name string) string {
	path := strings.SplitN(name, "#", 2)[0] // #L5-10
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // before it is opened: a FIFO would wait for ever
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, longAttached))
	return string(text)
}
