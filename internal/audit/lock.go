package audit

import (
	"errors"
	"os"
	"time"
)

// errBusy is the answer of tryLock when another process holds the lock.
var errBusy = errors.New("another process holds it")

// lockFor takes the lock file at path within limit, and returns how to give it back. It never waits for ever: a stuck
// process must not hold up the calls of others. The lock goes with the process that holds it.
func lockFor(path string, limit time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for until := time.Now().Add(limit); ; {
		if err = tryLock(f); err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, errBusy) || !time.Now().Before(until) {
			f.Close()
			return nil, err
		}
		time.Sleep(2 * time.Millisecond)
	}
}
