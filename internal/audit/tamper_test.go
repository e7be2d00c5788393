package audit

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// world writes a log of three writers in 5,000 lines and some rotations, and returns its path.
func world(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "audit.jsonl")
	opts := Options{MaxSize: 400 << 10, Every: 100, Idle: time.Hour, Keep: 100}
	var logs []*Log
	for range 3 {
		log, err := Open(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, log)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		e := Entry{Tool: "send", Args: fmt.Appendf(nil, `{"n":%d,"pad":%q}`, i, bytes.Repeat([]byte("y"), random.IntN(200))), Verdict: "allow", ID: NewID(), Time: time.Unix(int64(i), 0)}
		if err := logs[random.IntN(3)].Append(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, log := range logs {
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestTampering: whatever is done to a line at any of 200 places is found, and nothing is found where nothing was done.
func TestTampering(t *testing.T) {
	path := world(t, t.TempDir())
	files, err := Files(path)
	if err != nil || len(files) < 4 {
		t.Fatalf("files %q, %v: want some rotations", files, err)
	}
	r := mustBeClean(t, path)
	if r.Entries != 5000 || r.Writers != 3 || len(r.Notes) != 0 {
		t.Errorf("report %+v", r)
	}
	var where []position // every line
	text := map[string][]byte{}
	starts := map[string][]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text[file] = data
		at := 0
		for line := range bytes.Lines(data) {
			where = append(where, position{file, len(starts[file])})
			starts[file] = append(starts[file], at)
			at += len(line)
		}
		starts[file] = append(starts[file], at)
	}
	random := rand.New(rand.NewPCG(3, 4))
	missed := 0
	step := 1
	if raceOn || testing.Short() {
		step = 13 // the detector makes it seven times as slow, and there is no concurrency in here
	}
	all := os.Getenv("BOUNCER_SOAK") != "" // else each place gets every third kind, in turn
	for i := 0; i < 200; i += step {
		p := where[i*len(where)/200]
		switch i { // the ends are where chains are weakest
		case 0:
			p = where[0]
		case 195:
			p = where[len(where)-1]
		case 182:
			p = where[len(where)-2]
		}
		data, start := text[p.file], starts[p.file]
		from, to := start[p.line], start[p.line+1]
		line := data[from:to]
		splice := func(a, b int, with []byte) []byte { return append(append(bytes.Clone(data[:a]), with...), data[b:]...) }
		tampered := map[string][]byte{"deleted": splice(from, to, nil), "duplicated": splice(from, from, line), "truncated": data[:from],
			"cut": data[:from+random.IntN(to-from)], "inserted": splice(from, from, []byte(`{"tool": "x", "args": null}`+"\n")), "torn in": splice(from, from, []byte(`{"tool": "x", "ar`+"\n"))}
		flipped := bytes.Clone(data)
		flipped[from+random.IntN(to-from)] ^= 1 << random.IntN(7)
		tampered["flipped"] = flipped
		forged := bytes.Replace(line, []byte(`"allow"`), []byte(`"deny "`), 1)
		if !bytes.Equal(forged, line) {
			tampered["forged beside"] = splice(to, to, forged)
			tampered["forged"] = splice(from, to, forged)
		}
		if p.line+2 < len(start) {
			next := data[to:start[p.line+2]]
			tampered["swapped"] = splice(from, start[p.line+2], append(bytes.Clone(next), line...))
		}
		far := where[random.IntN(len(where))]
		if far.file == p.file && far.line > p.line+1 {
			tampered["moved"] = append(append(append(bytes.Clone(data[:from]), data[to:start[far.line]]...), line...), data[start[far.line]:]...)
		}
		for k, what := range slices.Sorted(maps.Keys(tampered)) {
			if !all && k%3 != i%3 && p.line+2 < len(start) && p.line > 0 {
				continue
			}
			with := tampered[what]
			if err := os.WriteFile(p.file, with, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Verify(path)
			if err != nil {
				t.Fatal(err)
			}
			if r.Clean() {
				missed++
				t.Errorf("%s %s:%d is not found; notes %v", what, filepath.Base(p.file), p.line+1, r.Notes)
			} else if len(r.Findings) > 8 {
				t.Errorf("%s %s:%d: %d findings, the first %v", what, filepath.Base(p.file), p.line+1, len(r.Findings), r.Findings[:3])
			}
			if missed > 20 {
				t.FailNow()
			}
		}
		if err := os.WriteFile(p.file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustBeClean(t, path)
	for _, file := range files {
		data := text[file]
		os.Remove(file)
		if r, err := Verify(path); err == nil && r.Clean() {
			t.Errorf("without %s the log is clean", filepath.Base(file))
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForgedWriter: who has no key can neither add a writer of their own nor sign with another.
func TestForgedWriter(t *testing.T) {
	log, path := openTest(t)
	if err := log.Append(Entry{Tool: "a"}); err != nil {
		t.Fatal(err)
	}
	log.Close()
	elsewhere, other := openTest(t)
	if err := elsewhere.Append(Entry{Tool: "b"}); err != nil {
		t.Fatal(err)
	}
	elsewhere.Close()
	data, _ := os.ReadFile(path)
	forged, _ := os.ReadFile(other)
	if err := os.WriteFile(path, append(bytes.Clone(data), forged...), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(path); err != nil || r.Clean() {
		t.Errorf("a writer with another key: %+v, %v", r, err)
	}
	// The whole of another log verifies with its own key only.
	mustBeClean(t, other)
	if r, err := Verify(other, filepath.Join(filepath.Dir(path), pubFile)); err != nil || r.Clean() {
		t.Errorf("with another public key: %+v, %v", r, err)
	}
	os.Remove(filepath.Join(filepath.Dir(other), pubFile))
	if r, err := Verify(other); err != nil || r.Clean() {
		t.Errorf("without a public key: %+v, %v", r, err)
	}
}

// TestRetention: D20, what retention takes is told apart from what somebody else takes.
func TestRetention(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	opts := Options{MaxSize: 8 << 10, Every: 10, Keep: 2}
	idle, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	busy, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	write := func(log *Log) {
		t.Helper()
		if err := log.Append(Entry{Tool: "t", Time: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	write(idle)
	for i := range 600 {
		if i%10 == 0 { // a writer that comes and goes
			guest, err := Open(path, opts)
			if err != nil {
				t.Fatal(err)
			}
			write(guest)
			guest.Close()
		}
		write(busy)
		if i%50 == 0 {
			mustBeClean(t, path)
		}
	}
	write(idle) // its only line before went long ago
	idle.Close()
	busy.Close()
	mustBeClean(t, path)
	files, err := Files(path)
	if err != nil || len(files) != 3 {
		t.Fatalf("files %q, %v: want two and the current one", files, err)
	}
	heads, err := os.ReadDir(headsDir(path))
	if err != nil || len(heads) > 40 {
		t.Errorf("%d heads, %v: those of removed files stay for ever", len(heads), err)
	}
	os.Remove(files[0])
	if r, err := Verify(path); err != nil || r.Clean() {
		t.Errorf("a file that retention did not take: %+v, %v", r, err)
	}
}

// TestOlderLines: a log of a version without a chain goes on; what stands in it is pinned by the first new line.
func TestOlderLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	old := []byte(`{"tool": "a", "args": null}` + "\n" + `{"tool": "b", "args": null}` + "\n")
	if err := os.WriteFile(path, old, 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != fs.FileMode(0o600) {
		t.Errorf("mode %v, want it tightened", info.Mode())
	}
	if err := log.Append(Entry{Tool: "c"}); err != nil {
		t.Fatal(err)
	}
	log.Close()
	if r := mustBeClean(t, path); len(r.Notes) != 1 || r.Notes[0].Kind != "unchained" {
		t.Errorf("notes %v", r.Notes)
	}
	data, _ := os.ReadFile(path)
	for _, with := range []string{`{"tool": "a"}` + "\n" + string(data), string(data[28:]), "x" + string(data[1:])} {
		if err := os.WriteFile(path, []byte(with), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := Verify(path); err != nil || r.Clean() && with[0] != 'x' {
			t.Errorf("%.40q: %+v, %v", with, r, err)
		}
	}
}

// TestChain: the digest is that of the line as it stands, and a repeated run spells it the same.
func TestChain(t *testing.T) {
	c := chain{writer: "w"}
	one := c.finish([]byte(`{"tool": "a"`), 0, 0)
	two := c.finish([]byte(`{"tool": "b"`), 0, int64(len(one)))
	sum := sha256.Sum256(one[:len(one)-1])
	want := fmt.Sprintf(`{"tool": "b", "v": 1, "writer": "w", "seq": 2, "at": %d, "prev": "%x"}`+"\n", len(one), sum)
	if string(two) != want {
		t.Errorf("line %s want %s", two, want)
	}
	for _, bad := range []string{"", "{}", want, want[:len(want)-2], `, "v": 1, "writer": "w", "seq": 2, "at": 0, "prev": ""}`, `, "v": 1, "writer": "w", "seq": 0, "at": 0, "prev": ""}`} {
		if tail, ok := readTail([]byte(bad)); ok {
			t.Errorf("readTail(%q) = %+v", bad, tail)
		}
	}
}
