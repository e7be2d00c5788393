package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// position is a line of a file.
type position struct {
	file string
	line int
}

// verify is one run over a log.
type verify struct {
	path    string
	report  Report
	key     note.Verifier
	keyErr  error
	writers map[string]*writer
	removed []head // last lines of writers in files that retention took away, as the log's own statements say

	// the file being read
	at       position
	offset   int64 // where the line begins
	ends     []mark
	previous []mark // of the file before
	odd      []position
	oddText  [][]byte
	deficit  int64
	chained  bool // a chained line has been read
	legacy   int64
	shifted  []Finding
	missed   int // gaps found so far
}

// Verify reads the whole log at path, rotated files included, and says whether a line was changed, left out, moved,
// repeated, added or cut off. Signatures are checked with pub, a public key file; by default with the one beside the
// log. The error is about files that cannot be read; what is wrong with the log is in the report.
func Verify(path string, pub ...string) (Report, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	files, err := Files(path)
	if err != nil {
		return Report{}, err
	}
	v := &verify{path: path, writers: map[string]*writer{}}
	public := filepath.Join(filepath.Dir(path), pubFile)
	if len(pub) > 0 && pub[0] != "" {
		public = pub[0]
	}
	if v.key, v.keyErr = verifier(public); v.keyErr == nil {
		v.report.Key = fmt.Sprintf("%s+%08x", v.key.Name(), v.key.KeyHash())
	} else if len(pub) > 0 && pub[0] != "" {
		return Report{}, v.keyErr
	}
	if err := v.statements(files); err != nil {
		return Report{}, err
	}
	for i, file := range files {
		if err := v.file(file, i, files); err != nil {
			return Report{}, fmt.Errorf("read audit log %s: %w", file, err)
		}
	}
	v.heads()
	v.finish()
	return v.report, nil
}

// statements collects what the files' first lines say was removed: it is needed before the lines that refer to it.
func (v *verify) statements(files []string) error {
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		first, _ := firstLine(f)
		f.Close()
		h, _ := readHeader(first)
		for _, s := range h.removed {
			v.note("removed", position{file: s.file}, "", 0, "removed by retention, says %s: %d bytes, last line %.16s", filepath.Base(file), s.size, s.line)
			v.removed = append(v.removed, s.heads...)
		}
		v.removed = append(v.removed, h.carried...)
	}
	return nil
}

func (v *verify) file(file string, i int, files []string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	v.report.Files = append(v.report.Files, file)
	v.at, v.offset, v.deficit, v.legacy = position{file: file}, 0, 0, 0
	v.previous, v.ends = v.ends, nil
	v.odd, v.oddText, v.shifted = nil, nil, nil
	before, missed := len(v.report.Findings), v.missed
	v.chained = i > 0
	err = eachLine(f, func(line []byte, end int64, whole bool) error {
		v.at.line++
		v.report.Lines++
		sum := sha256.Sum256(line)
		hash := hex.EncodeToString(sum[:])
		v.line(line, hash, whole, i, files)
		if whole {
			v.ends = append(v.ends, mark{end, hash})
		}
		v.offset = end
		return nil
	})
	if err != nil {
		return err
	}
	if v.at.line == 0 && i > 0 {
		v.finding("truncated", v.at, "", 0, "the file is empty")
	}
	if !v.chained {
		v.unchained()
	}
	v.settle(false)
	// A missing or longer line moves all that follow: that they stand elsewhere is not worth a finding of its own then.
	if len(v.report.Findings) == before && v.missed == missed {
		v.report.Findings = append(v.report.Findings, v.shifted...)
	}
	return nil
}

func (v *verify) line(line []byte, hash string, whole bool, i int, files []string) {
	if v.at.line == 1 {
		v.first(line, i, files)
	}
	t, ok := readTail(line)
	if !ok {
		if !whole {
			v.note("unfinished", v.at, "", 0, "the last line has no end: its writer was stopped while it wrote, or is writing")
			return
		}
		v.odd, v.oddText = append(v.odd, v.at), append(v.oddText, bytes.Clone(line[:min(len(line), 64)]))
		return
	}
	if !v.chained {
		v.unchained()
	}
	v.chained = true
	if len(v.odd) > 0 {
		v.settle(bytes.Contains(line[len(line)-min(len(line), 1024):], []byte(`, "healed": true`)))
	}
	if short := t.at - v.offset; short > v.deficit {
		v.deficit = short
		v.shifted = append(v.shifted, Finding{Kind: "moved", File: filepath.Base(v.at.file), Line: v.at.line, Writer: t.writer, Seq: t.seq,
			What: fmt.Sprintf("it was written when the file had %d bytes, and stands at %d", t.at, v.offset)})
	}
	v.chain(line, hash, t)
	switch {
	case bytes.HasPrefix(line, []byte(`{"checkpoint": `)):
		v.checkpoint(line, t)
	case bytes.HasPrefix(line, []byte(`{"tool": `)):
		v.report.Entries++
	}
}

// settle decides about lines that are none of this program's. What a crash left is followed by a line that says it
// healed it, in its own chained bytes; everything else was put there.
func (v *verify) settle(healed bool) {
	for i, at := range v.odd {
		if healed && (len(v.oddText[i]) < 2 || bytes.HasPrefix(v.oddText[i], []byte(`{"`))) {
			v.note("unfinished", at, "", 0, "a line without an end, which a crash or a full disk left; the next writer closed it off")
			continue
		}
		v.finding("inserted", at, "", 0, "not a line of this log: %s", v.oddText[i])
	}
	v.odd, v.oddText = nil, nil
}

// unchained decides about what stands before the first chained line: an older version wrote lines without a chain.
func (v *verify) unchained() {
	if len(v.odd) > 0 {
		v.note("unchained", v.odd[0], "", 0, "%d lines of an older version, which nothing protects but where they end", len(v.odd))
		v.legacy = v.offset
	}
	v.odd, v.oddText = nil, nil
}

// first checks a file's first line against the file before it.
func (v *verify) first(line []byte, i int, files []string) {
	number := segmentNumber(v.path, filepath.Base(v.at.file))
	h, ok := readHeader(line)
	if !ok {
		if i > 0 {
			v.finding("file", v.at, "", 0, "it does not begin with the line that ties it to %s", filepath.Base(files[i-1]))
		} else if number > 1 {
			v.finding("file", v.at, "", 0, "the files before it are gone, and nothing says that retention took them")
		}
		return
	}
	if number > 0 && number != h.number {
		v.finding("file", v.at, "", 0, "it calls itself number %d", h.number)
	}
	if i == 0 || filepath.Base(files[i-1]) != h.previous.file {
		if !slices.ContainsFunc(v.report.Notes, func(n Finding) bool { return n.Kind == "removed" && n.File == h.previous.file }) {
			v.finding("file", v.at, "", 0, "%s, which it follows, is gone, and nothing says that retention took it", h.previous.file)
		}
		return
	}
	if h.previous.size > 0 && !endsAt(v.previous, mark{h.previous.size, h.previous.line}) {
		v.finding("truncated", position{file: files[i-1]}, "", 0, "it is not what it was when it was rotated: a line ended at %d with digest %.16s", h.previous.size, h.previous.line)
	}
	for _, known := range h.previous.heads {
		v.known(known, "the line that begins "+filepath.Base(v.at.file))
	}
}

func endsAt(ends []mark, m mark) bool {
	i, ok := slices.BinarySearchFunc(ends, m, func(a, b mark) int { return int(a.size - b.size) })
	return ok && ends[i].line == m.line
}

// checkpoint checks a statement's signature, and the statement against what has been read.
func (v *verify) checkpoint(line []byte, t tail) {
	value, err := jsonrpc.DecodeLenient(line)
	if err != nil {
		return // its digest tells
	}
	if v.key == nil {
		return // finish says so
	}
	s, err := readStatement(text(value, "checkpoint"), v.key)
	if err != nil {
		v.finding("signature", v.at, t.writer, t.seq, "the checkpoint's signature is not that of %s: %v", v.report.Key, err)
		return
	}
	w := v.writers[t.writer]
	if s.writer != t.writer || s.seq >= t.seq || s.seq == t.seq-1 && s.head != t.prev {
		v.finding("signature", v.at, t.writer, t.seq, "the checkpoint is about another place: writer %s, seq %d", s.writer, s.seq)
		return
	}
	v.report.Checkpoints++
	w.sealed, w.closed = max(w.sealed, t.seq), w.closed || s.closed
	for _, known := range s.seen {
		v.known(known, fmt.Sprintf("writer %s, seq %d", t.writer, t.seq))
	}
}

// heads compares the log with the checkpoints that are kept outside it.
func (v *verify) heads() {
	dir := headsDir(v.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if v.report.Checkpoints > 0 {
			v.note("heads", position{file: dir}, "", 0, "not there: that lines are missing at the end of the log would not be seen")
		}
		if !errors.Is(err, fs.ErrNotExist) {
			v.finding("file", position{file: dir}, "", 0, "%v", err)
		}
		return
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") { // one that a kill left unfinished
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		line, _, whole := bytes.Cut(content, []byte("\n"))
		t, ok := readTail(line)
		where := position{file: entry.Name()}
		if err != nil || !ok || !whole || t.writer != entry.Name() {
			v.finding("file", where, entry.Name(), 0, "it is not the head of this writer")
			continue
		}
		if v.key != nil {
			value, _ := jsonrpc.DecodeLenient(line)
			if s, err := readStatement(text(value, "checkpoint"), v.key); err != nil || s.writer != t.writer {
				v.finding("signature", where, t.writer, t.seq, "the head is not signed by %s", v.report.Key)
				continue
			}
		}
		sum := sha256.Sum256(line)
		v.known(head{writer: t.writer, seq: t.seq, hash: hex.EncodeToString(sum[:])}, "its last checkpoint")
	}
}
