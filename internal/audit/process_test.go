package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func startWriter(t *testing.T, path string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(append(os.Environ(), "AUDIT_TEST_WRITER="+path), env...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// TestKilled: a writer that is killed in the middle leaves a log in which nothing is wrong.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	kills := 20
	if os.Getenv("BOUNCER_SOAK") != "" {
		kills = 200
	}
	for i := range kills {
		before := size(path)
		cmd := startWriter(t, path, "AUDIT_TEST_FOREVER=1", "AUDIT_TEST_SIZE=200000")
		for size(path) == before { // until it writes: then it is in the middle of it
			time.Sleep(time.Millisecond)
			if cmd.ProcessState != nil {
				t.Fatal("the writer ended by itself")
			}
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		mustBeClean(t, path)
	}
	log, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Append(Entry{Tool: "after"}); err != nil {
		t.Fatal(err)
	}
	log.Close()
	if r := mustBeClean(t, path); r.Writers < 10 {
		t.Errorf("%d writers left a line, of %d and one", r.Writers, kills)
	}
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// TestRotationRace: four processes that all rotate one log lose no line and fork no chain.
func TestRotationRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var writers []*exec.Cmd
	for range 4 {
		writers = append(writers, startWriter(t, path, "AUDIT_TEST_SIZE=30000"))
	}
	for _, cmd := range writers {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	r := mustBeClean(t, path)
	if r.Entries != 4*500 || r.Writers != 4 || len(r.Files) < 10 {
		t.Errorf("%d entries of %d writers in %d files", r.Entries, r.Writers, len(r.Files))
	}
	if got, err := Tail(path, 2000); err != nil || len(got) != 2000 {
		t.Errorf("Tail over rotated files: %d lines, %v", len(got), err)
	}
}

// TestVanishedAndReadOnly: the log comes back by itself when its directory does.
func TestVanishedAndReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	path := filepath.Join(dir, "audit.jsonl")
	log, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // nothing can be made there
		t.Fatal(err)
	}
	if err := log.Append(Entry{Tool: "lost"}); err == nil {
		t.Error("Append without a directory is no error")
	} else if errors.Is(err, syscall.EPERM) {
		t.Errorf("unexpected %v", err)
	}
	os.Remove(dir)
	if err := log.Append(Entry{Tool: "back"}); err != nil {
		t.Errorf("Append when the place is free again: %v", err)
	}
	log.Close()
	mustBeClean(t, path) // what could not be written took no number

	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, Options{Idle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Append(Entry{Tool: "x"}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Close of a log that is gone = %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a checkpoint made the directory anew")
	}
}

// TestCheckpoints: every so many lines, and after a pause.
func TestCheckpoints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := Open(path, Options{Every: 10, Idle: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Append(Entry{Tool: "a"}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if r, err := Verify(path); err == nil && r.Checkpoints == 1 && len(r.Notes) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no checkpoint after a pause")
		}
	}
	log.Close()
	data, _ := os.ReadFile(path)
	if !strings.Contains(string(data), `\nstate closed\n`) {
		t.Error("no checkpoint at the end")
	}
}

// TestFollow: what is added is passed on once and in order, across rotations.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := Open(path, Options{MaxSize: 4000, Keep: 1000, Every: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	write := func(i int) {
		t.Helper()
		if err := log.Append(Entry{Tool: fmt.Sprint(i), Server: "s", Time: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	write(0)
	write(1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := errors.New("done")
	seen := 1
	written := 2
	err = Follow(ctx, path, 1, Filter{Server: "s"}, func(line []byte) error {
		r, _ := ReadRecord(line)
		if r.Tool != fmt.Sprint(seen) {
			t.Errorf("saw %s, want %d", r.Tool, seen)
		}
		if seen++; seen == 30 {
			return done
		}
		if seen == written { // all that there is was seen: more, now and then over a rotation
			write(written)
			written++
		}
		return nil
	})
	if err != done {
		t.Errorf("Follow ended with %v after %d", err, seen)
	}
}

func TestSummaryAndFind(t *testing.T) {
	log, path := openTest(t)
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for i, verdict := range []string{"allow", "ask", "deny", "deny"} {
		e := Entry{Tool: "send", Server: "mail", Verdict: verdict, ID: fmt.Sprint("id", i/2), Time: at.Add(time.Duration(i) * time.Hour), Contract: "sink_gate", Answer: map[string]string{"deny": "timeout"}[verdict],
			Reason: "r\x1b[2J", Args: []byte(`{"to":"x"}`), Evidence: []Evidence{{Param: "to", Destination: "a@b.example", Kind: "email", Origin: "untrusted", Server: "mail", Tool: "read", Call: "c", Field: "text", Snippet: "write to a@b.example"}}}
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Summarise(path, Query{By: []string{"tool", "destination"}, Filter: Filter{Since: at.Add(time.Hour)}})
	if err != nil || s.Lines != 3 || len(s.Groups) != 1 || s.Groups[0].Ask != 1 || s.Groups[0].Deny != 2 || s.Groups[0].Keys[1] != "a@b.example" || !s.First.Equal(at.Add(time.Hour)) {
		t.Errorf("summary %+v, %v", s, err)
	}
	if _, err := Summarise(path, Query{By: []string{"colour"}}); err == nil {
		t.Error("by colour is no error")
	}
	found, err := Find(path, "id1")
	if err != nil || len(found) != 2 {
		t.Fatalf("Find: %d, %v", len(found), err)
	}
	story := Story(found)
	for _, want := range []string{"of server \u201cmail\u201d", "denied, and never reached", "nobody answered in time", "first seen in what mail/read returned", "write to a@b.example", `\u{1b}`} {
		if !strings.Contains(story, want) {
			t.Errorf("the story lacks %q:\n%s", want, story)
		}
	}
	if got, err := Tail(path, 10, Filter{Verdict: "deny"}); err != nil || len(got) != 2 {
		t.Errorf("Tail of denials: %d, %v", len(got), err)
	}
	if none, err := Find(path, "id9"); err != nil || none != nil {
		t.Errorf("Find of nothing: %v, %v", none, err)
	}
}
