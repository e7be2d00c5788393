package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// database holds the rare facts of a session. It is opened at its first use: most processes never need it, and opening
// costs more than the rest of a start.
type database struct {
	place *place
	path  string

	mu     sync.Mutex
	conn   *sqlite3.Conn
	have   int64 // id of the last fact that since gave out
	hurry  bool  // the last wait for a lock was in vain
	closed bool
}

func newDatabase(p *place, dir string) *database {
	return &database{place: p, path: filepath.Join(dir, "facts.db")}
}

// schema 1. A session does not outlive the machine's boot, so that nothing is synced to the disk.
const (
	version = 1
	pragmas = `PRAGMA synchronous=off; PRAGMA trusted_schema=off; PRAGMA cell_size_check=on;`
	schema  = `PRAGMA journal_mode=wal;
		BEGIN IMMEDIATE;
		CREATE TABLE facts (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, body BLOB NOT NULL);
		CREATE TABLE slots (server TEXT, tool TEXT, n INTEGER NOT NULL, PRIMARY KEY (server, tool)) WITHOUT ROWID;
		CREATE TABLE fetched (request INTEGER, domain TEXT, url TEXT, n INTEGER NOT NULL, PRIMARY KEY (request, domain, url)) WITHOUT ROWID;
		PRAGMA user_version=1;
		COMMIT;`
)

// impatience is how long is waited for a lock that the last wait was in vain for.
const impatience = 20 * time.Millisecond

// use calls do with the open database. A lock is waited for, but not for ever.
func (b *database) use(do func(c *sqlite3.Conn) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errors.New("the session was left")
	}
	err := b.open()
	if err == nil {
		limit := patience
		if b.hurry {
			limit = impatience
		}
		if err = b.conn.BusyTimeout(limit); err == nil {
			err = do(b.conn)
		}
		b.hurry = errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.LOCKED)
		if err != nil && !b.conn.GetAutocommit() {
			err = errors.Join(err, b.conn.Exec("ROLLBACK"))
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", b.path, err)
	}
	return nil
}

func (b *database) open() error {
	if b.conn != nil {
		return nil
	}
	for _, name := range []string{b.path, b.path + "-wal", b.path + "-shm"} {
		if info, err := os.Lstat(name); err == nil {
			if err := private(name, info, false); err != nil {
				return err
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := createPrivate(b.path)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	c, err := sqlite3.OpenFlags(b.path, sqlite3.OPEN_READWRITE)
	if err != nil {
		return err
	}
	if err := b.prepare(c); err != nil {
		return errors.Join(err, c.Close())
	}
	b.conn = c
	return nil
}

func (b *database) prepare(c *sqlite3.Conn) error {
	if err := errors.Join(c.BusyTimeout(patience), c.Exec(pragmas)); err != nil {
		return err
	}
	have, err := number(c, "PRAGMA user_version")
	if err != nil || have == version {
		return err
	}
	unlock, err := b.place.lock() // one makes the tables, and a database changes its mode best alone
	if err != nil {
		return err
	}
	defer unlock()
	switch have, err = number(c, "PRAGMA user_version"); {
	case err != nil || have == version:
		return err
	case have != 0:
		return fmt.Errorf("another version of bouncer made it (%d)", have)
	}
	return c.Exec(schema)
}

// number runs a statement that answers with one number.
func number(c *sqlite3.Conn, sql string, args ...any) (n int64, err error) {
	s, _, err := c.Prepare(sql)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := bind(s, args); err != nil {
		return 0, err
	}
	found := s.Step()
	if found {
		n = s.ColumnInt64(0)
		for s.Step() { // to its end: then it is committed
		}
	}
	if err := s.Err(); err != nil {
		return 0, err
	}
	if !found {
		return 0, errNoRow
	}
	return n, nil
}

var errNoRow = errors.New("there is no such row")

func bind(s *sqlite3.Stmt, args []any) error {
	for i, a := range args {
		var err error
		switch a := a.(type) {
		case string:
			err = s.BindBlob(i+1, []byte(a)) // any bytes: names are no text to the database
		case []byte:
			err = s.BindBlob(i+1, a)
		case int64:
			err = s.BindInt64(i+1, a)
		default:
			err = fmt.Errorf("a parameter of type %T", a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func run(c *sqlite3.Conn, sql string, args ...any) error {
	_, err := number(c, sql, args...)
	if errors.Is(err, errNoRow) {
		return nil
	}
	return err
}

// add appends facts, all or none.
func (b *database) add(facts []rareFact) error {
	return b.use(func(c *sqlite3.Conn) error {
		if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		for _, f := range facts {
			if err := run(c, "INSERT INTO facts (kind, body) VALUES (?, ?)", f.kind, f.body); err != nil {
				return err
			}
		}
		return c.Exec("COMMIT")
	})
}

// since gives out the facts that it did not give out before, in their order.
func (b *database) since(take func(int64, rareFact) error) error {
	return b.use(func(c *sqlite3.Conn) (err error) {
		s, _, err := c.Prepare("SELECT id, kind, body FROM facts WHERE id > ? ORDER BY id")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		if err := s.BindInt64(1, b.have); err != nil {
			return err
		}
		for s.Step() {
			id := s.ColumnInt64(0)
			if err := take(id, rareFact{string(s.ColumnRawBlob(1)), s.ColumnBlob(2, nil)}); err != nil {
				return err
			}
			b.have = id
		}
		return s.Err()
	})
}

// reserve takes the next slot of a tool.
func (b *database) reserve(server, tool string) (n int, err error) {
	err = b.use(func(c *sqlite3.Conn) error {
		v, err := number(c, "INSERT INTO slots VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1 RETURNING n", server, tool)
		n = int(v)
		return err
	})
	return n, err
}

// fetch numbers the URLs of a domain under one request.
func (b *database) fetch(request int64, domain, url string) (n int, err error) {
	const known = "SELECT n FROM fetched WHERE request = ? AND domain = ? AND url = ?"
	err = b.use(func(c *sqlite3.Conn) error {
		v, err := number(c, known, request, domain, url)
		if n = int(v); !errors.Is(err, errNoRow) {
			return err
		}
		if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		v, err = number(c, known, request, domain, url) // another process may have been quicker
		if errors.Is(err, errNoRow) {
			v, err = b.newURL(c, request, domain, url)
		}
		if err != nil {
			return err
		}
		n = int(v)
		return c.Exec("COMMIT")
	})
	return n, err
}

func (b *database) newURL(c *sqlite3.Conn, request int64, domain, url string) (int64, error) {
	n, err := number(c, "SELECT count(*) + 1 FROM fetched WHERE request = ? AND domain = ?", request, domain)
	if err != nil {
		return 0, err
	}
	if n == 1 {
		domains, err := number(c, "SELECT count(DISTINCT domain) FROM fetched WHERE request = ?", request)
		if err != nil || domains >= maxFetched {
			return maxFetched, err
		}
	}
	if n >= maxFetched {
		return maxFetched, nil
	}
	return n, run(c, "INSERT INTO fetched VALUES (?, ?, ?, ?)", request, domain, url, n)
}

func (b *database) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.conn == nil {
		return nil
	}
	err := b.conn.Close()
	b.conn = nil
	return err
}
