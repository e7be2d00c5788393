package approval

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/mcp-bouncer/bouncer/internal/destination"
)

// Book is the remembered answers, in approvals.yaml of the Bouncer home. It is read anew when the file has changed, so
// that what is approved or revoked in a terminal holds at once in every running process. A file that is broken refuses
// every destination: half a list of refusals is no list. A nil Book remembers nothing.
type Book struct {
	path    string
	problem func(format string, args ...any)

	mu      sync.Mutex
	stamp   stamp
	entries []Entry
	broken  error
	unkept  []Entry // refusals that could not be written: they hold for the session at least
}

// stamp tells one state of a file from another without reading it.
type stamp struct {
	there    bool
	size     int64
	modified time.Time
	identity os.FileInfo
}

// OpenBook opens the book at path, whether the file is there or not. The error is what is wrong with the file.
func OpenBook(path string, problem func(format string, args ...any)) (*Book, error) {
	b := &Book{path: path, problem: problem}
	if problem == nil {
		b.problem = func(string, ...any) {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh()
	return b, b.broken
}

// fresh reads the file if it is another one than the last that was read.
func (b *Book) fresh() {
	info, err := os.Stat(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		b.entries, b.broken, b.stamp = nil, nil, stamp{}
		return
	}
	if err == nil && b.stamp.there && info.Size() == b.stamp.size && info.ModTime().Equal(b.stamp.modified) && os.SameFile(info, b.stamp.identity) {
		return
	}
	before := b.broken
	entries, info, err := readBook(b.path)
	b.entries, b.broken, b.stamp = entries, err, stamp{}
	if err == nil {
		b.stamp = stamp{true, info.Size(), info.ModTime(), info}
	}
	if err != nil && (before == nil || before.Error() != err.Error()) {
		b.problem("%v; until it is mended every destination is refused", err)
	}
}

// readBook reads the file whole. The state that it returns is that of the file that was read.
func readBook(path string) ([]Entry, os.FileInfo, error) {
	data, info, err := readPrivate(path, maxBook)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	entries, _, err := parseBook(path, data)
	return entries, info, err
}

// readPrivate reads a regular file of the user's own: one that others may write says what others want.
func readPrivate(path string, limit int64) ([]byte, os.FileInfo, error) {
	bare := func(err error) error {
		var p *fs.PathError
		if errors.As(err, &p) {
			return p.Err
		}
		return err
	}
	if info, err := os.Stat(path); err != nil { // a pipe would block the open
		return nil, nil, bare(err)
	} else if !info.Mode().IsRegular() {
		return nil, nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, bare(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, nil, fmt.Errorf("others may write it (mode %04o): chmod 600", info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, bare(err)
	}
	if int64(len(data)) > limit {
		return nil, nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return data, info, nil
}

// View is what a Book said at one moment: a decision sees one state of the file, and looks at it once. The zero View remembers
// nothing.
type View struct {
	name            string
	entries, unkept []Entry
	broken          error
}

// View returns what the file says now.
func (b *Book) View() View {
	if b == nil {
		return View{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh()
	return View{filepath.Base(b.path), b.entries, b.unkept, b.broken}
}

// Approves reports whether an Always covers d. While the book is broken none does.
func (v View) Approves(server, contract, tool string, d destination.Destination) bool {
	if v.broken != nil {
		return false
	}
	_, ok := covering(v.entries, Always, server, contract, tool, d)
	return ok
}

// Refuses reports whether a Never covers d, or the book is broken, and why in words for a reason.
func (v View) Refuses(server, contract, tool string, d destination.Destination) (why string, refused bool) {
	if v.broken != nil {
		return "is refused, since " + v.name + " of the Bouncer home cannot be read", true
	}
	if e, ok := covering(v.entries, Never, server, contract, tool, d); ok {
		return fmt.Sprintf("is refused by a remembered answer (%s, entry %d)", v.name, e.Number), true
	}
	if _, ok := covering(v.unkept, Never, server, contract, tool, d); ok {
		return "is refused by an answer of this session", true
	}
	return "", false
}

func covering(entries []Entry, c Choice, server, contract, tool string, d destination.Destination) (Entry, bool) {
	for _, e := range entries {
		if e.Choice == c && e.covers(server, contract, tool, d) {
			return e, true
		}
	}
	return Entry{}, false
}

// Destinations returns what is always approved for a server, for comparing what looks like it. Domains are not in it.
func (v View) Destinations(server string) (out []destination.Destination) {
	for _, e := range v.entries {
		if e.Choice == Always && e.Server == server && !strings.HasPrefix(e.Destination, "@") {
			out = append(out, destination.Destination{Kind: e.Kind, Raw: e.Destination, Canonical: e.Destination})
		}
	}
	return out
}

// Entries returns what the file says now.
func (b *Book) Entries() ([]Entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh()
	return b.entries, b.broken
}
