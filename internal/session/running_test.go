package session

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRunning(t *testing.T) {
	home := t.TempDir()
	table := chain(prog("one"), prog("two"), prog("three"))
	if all, err := running(home, table); err != nil || len(all) != 0 {
		t.Errorf("in an empty home: %v, %v", all, err)
	}
	client := func(pid int) Identity {
		c := Client{PID: pid, Start: table.ps[pid].Start, Realm: table.realm}
		return Identity{c.Key(), c}
	}
	one, two := client(1), client(2)
	gone := Client{PID: 3, Start: 7, Realm: table.realm} // its number was given to another process
	for dir, c := range map[string]Client{one.Key: one.Client, two.Key: two.Client, gone.Key(): gone, "p000000000000000000000000": client(3).Client} {
		path := filepath.Join(home, "sessions", dir)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, clientsFile), []byte("\n"+c.String()+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := running(home, table)
	if err != nil || len(all) != 2 || all[0].Key > all[1].Key || all[0] != one && all[0] != two || all[0] == all[1] {
		t.Errorf("got %v, %v", all, err)
	}
}
