package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"
)

// board is a page that all processes of a session have in their memory: how many segments there are, and how far each is written.
// Whoever decides looks at it, which costs no call of the system, and reads what is new. It saves looking and is not believed
// for long: many times a second the files themselves are looked at (Local.look), and a board that lags behind them is damage.
// A nil board knows nothing; then every decision looks at the files. The page stays where it is until the process ends: a late look
// must not find a hole.
type board struct{ page []byte }

const (
	boardFile  = "board"
	boardMagic = uint64(0x31647261_6f627762) // another version has another one
	boardSlots = 8190
	boardSize  = (2 + boardSlots) * 8
)

func (b *board) word(i int) *uint64 { return (*uint64)(unsafe.Pointer(&b.page[8*i])) }

// has reports whether the board knows segment n.
func (b *board) has(n int) bool { return b != nil && n >= 1 && n <= boardSlots }

// segments returns how many segments were begun; false when that is not known.
func (b *board) segments() (int, bool) {
	if b == nil {
		return 0, false
	}
	n := atomic.LoadUint64(b.word(1))
	return int(n), n < boardSlots
}

// announce says that there is a segment n. The caller holds the lock of the sessions.
func (b *board) announce(n int) {
	if b == nil {
		return
	}
	if last := b.word(1); atomic.LoadUint64(last) < uint64(n) {
		atomic.StoreUint64(last, uint64(n))
	}
}

// post says how many bytes of segment n are whole. What they say may be relayed afterwards, and not before.
func (b *board) post(n int, size int64) {
	if b.has(n) {
		atomic.StoreUint64(b.word(1+n), uint64(size))
	}
}

// written returns what was posted of segment n; false when that is not known.
func (b *board) written(n int) (int64, bool) {
	if !b.has(n) {
		return 0, false
	}
	return int64(atomic.LoadUint64(b.word(1 + n))), true
}

// openBoard opens the board of a session, and makes it if it is not there. The caller holds the lock of the sessions.
func openBoard(dir string) (*board, error) {
	path := filepath.Join(dir, boardFile)
	f, err := createPrivate(path)
	fresh := err == nil
	if errors.Is(err, fs.ErrExist) {
		f, err = openBoth(path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fresh {
		if err := f.Truncate(boardSize); err != nil {
			return nil, errors.Join(err, os.Remove(path))
		}
	}
	if info, err := f.Stat(); err != nil || info.Size() != boardSize {
		return nil, fmt.Errorf("%s is damaged", path)
	}
	page, err := mapFile(f, boardSize)
	if err != nil || page == nil {
		return nil, err
	}
	b := &board{page}
	if fresh {
		atomic.StoreUint64(b.word(0), boardMagic)
	}
	if atomic.LoadUint64(b.word(0)) != boardMagic {
		return nil, errors.Join(fmt.Errorf("%s is damaged, or of another version of bouncer", path), unmap(page))
	}
	return b, nil
}
