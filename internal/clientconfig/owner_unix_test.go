//go:build unix

package clientconfig

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// D28: init run with sudo must not take the user's file away from them.
func TestOwnerIsKept(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := filepath.Join(t.TempDir(), "mcp.json")
	writeFile(t, path, simple)
	chmod(t, path, 0o600)
	if err := os.Chown(path, 12345, 54321); err != nil {
		t.Skip(err)
	}
	applied(t, path, t.TempDir(), testOptions())
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 54321 || info.Mode() != 0o600 {
		t.Errorf("owner %d:%d, mode %v", s.Uid, s.Gid, info.Mode())
	}
}
