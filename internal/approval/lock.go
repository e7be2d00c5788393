package approval

import (
	"errors"
	"os"
	"time"
)

// lockFor is how long a change to the remembered answers waits for another one.
const lockFor = 5 * time.Second

var errBusy = errors.New("another process is changing it")

// lock takes the lock file at path within limit. The lock goes with the process that holds it.
func lock(path string, limit time.Duration) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for until := time.Now().Add(limit); ; time.Sleep(2 * time.Millisecond) {
		if err = tryLock(f); err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, errBusy) || !time.Now().Before(until) {
			f.Close()
			return nil, err
		}
	}
}
