package audit

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mcp-bouncer/bouncer/internal/jsonrpc"
)

// writer is what verify has read of one writer.
type writer struct {
	name   string
	seq    uint64 // its last line in order
	hash   string
	at     position
	before *writer // as it was before the last gap
	told   bool    // that line was reported already: a link to it that does not fit says nothing new
	sealed uint64
	closed bool
	doubt  *doubt
	gaps   []gap
}

// doubt is a link that does not fit: either the line it names was changed, or the line it stands in. The next link
// decides.
type doubt struct {
	at  position
	seq uint64
}

// gap is a run of lines that were not there when they were due.
type gap struct {
	from, to uint64
	before   position // of the line that came instead
	prev     string   // what that line says of the last of them
}

// chain checks one line against its writer's line before.
func (v *verify) chain(line []byte, hash string, t tail) {
	w := v.writers[t.writer]
	switch {
	case w == nil:
		v.appear(line, t, hash)
	case t.seq == w.seq+1:
		v.link(w, t)
		w.seq, w.hash, w.at, w.told = t.seq, hash, v.at, false
	case t.seq > w.seq+1:
		v.skip(w, w.seq+1, t)
		w.decide(v, true)
		w.seq, w.hash, w.at, w.told = t.seq, hash, v.at, false
	default:
		v.late(w, t, hash)
	}
}

// link checks that a line names the one before it.
func (v *verify) link(w *writer, t tail) {
	fits := t.prev == w.hash
	if w.doubt != nil {
		// The doubtful line was w's last one. If this line vouches for it, the one before it was changed; if it does
		// not, it was changed itself, and nothing is wrong with the line before.
		w.decide(v, fits)
		return
	}
	if !fits && !w.told {
		w.doubt = &doubt{w.at, w.seq}
	}
}

// decide ends a doubt: the earlier line was changed, or w's last.
func (w *writer) decide(v *verify, earlier bool) {
	if w.doubt == nil {
		return
	}
	at, seq := w.at, w.seq
	if earlier {
		at, seq = w.doubt.at, w.doubt.seq
	}
	v.finding("changed", at, w.name, seq, "it is not the line that the next one of its writer names")
	w.doubt = nil
}

// appear is a writer's first line in what is left of the log.
func (v *verify) appear(line []byte, t tail, hash string) {
	w := &writer{name: t.writer, seq: t.seq, hash: hash, at: v.at}
	explained := slices.ContainsFunc(v.removed, func(h head) bool { return h.writer == t.writer && h.seq == t.seq-1 && h.hash == t.prev })
	if t.seq > 1 && !explained {
		v.skip(w, 1, t)
	}
	if t.seq == 1 {
		v.introduced(line, t)
	}
	v.writers[t.writer] = w
}

// introduced checks what a writer's first line says of where it came in.
func (v *verify) introduced(line []byte, t tail) {
	value, err := jsonrpc.DecodeLenient(line)
	if err != nil {
		return // its digest tells
	}
	after, _ := value.Get("after")
	m := mark{integer(after, "size"), text(after, "line")}
	if v.key != nil {
		signed, err := openNote(text(value, "opened"), v.key)
		if err != nil || signed != openedText(t.writer, m) {
			v.finding("inserted", v.at, t.writer, t.seq, "the writer's first line is not signed by %s", v.report.Key)
			return
		}
	}
	switch {
	case v.legacy > max(m.size, 0):
		v.finding("inserted", v.at, t.writer, t.seq, "lines without a chain stand where this writer found %d bytes", m.size)
	case m.size <= 0, m.size <= v.offset && endsAt(v.ends, m):
	default:
		v.finding("truncated", v.at, t.writer, t.seq, "when this writer came, a line ended at %d with digest %.16s; none does", m.size, m.line)
	}
}

// skip notes that lines of w are missing before the present one.
func (v *verify) skip(w *writer, from uint64, t tail) {
	was := *w
	w.before = &was
	w.before.before = nil
	w.gaps = append(w.gaps, gap{from, t.seq - 1, v.at, t.prev})
	v.missed++
}

// late is a line that comes after its successor: it was moved, or it is a copy.
func (v *verify) late(w *writer, t tail, hash string) {
	if b := w.before; b != nil && t.seq == b.seq+2 && t.seq < w.gaps[len(w.gaps)-1].to && t.prev != w.hash {
		// Nobody goes on from the line that seemed to come too early, and the one that should have stood there is
		// missing: its number was changed.
		v.finding("changed", w.at, w.name, b.seq+1, "it says that it is number %d, and its neighbours say otherwise", w.seq)
		gaps := w.gaps[:len(w.gaps)-1]
		*w = writer{name: w.name, seq: t.seq, hash: hash, at: v.at, sealed: w.sealed, closed: w.closed, gaps: gaps}
		return
	}
	for i, g := range w.gaps {
		if t.seq < g.from || t.seq > g.to {
			continue
		}
		f := v.finding("moved", v.at, t.writer, t.seq, "its successor stands before it, at %s:%d", filepath.Base(g.before.file), g.before.line)
		if t.seq == g.to && hash != g.prev {
			f.What += "; and it was changed"
		}
		w.gaps = slices.Delete(w.gaps, i, i+1)
		if g.from < t.seq {
			w.gaps = append(w.gaps, gap{g.from, t.seq - 1, v.at, t.prev})
		}
		if t.seq < g.to {
			w.gaps = append(w.gaps, gap{t.seq + 1, g.to, g.before, g.prev})
		}
		return
	}
	what := "a second line with this number"
	if hash == w.hash {
		what = fmt.Sprintf("a copy of line %d", w.at.line)
	}
	v.finding("repeated", v.at, t.writer, t.seq, "%s", what)
}

// known checks that the log has a line that somebody else has seen.
func (v *verify) known(h head, who string) {
	w := v.writers[h.writer]
	if w == nil {
		if slices.ContainsFunc(v.removed, func(r head) bool { return r.writer == h.writer && r.seq >= h.seq }) {
			return
		}
		v.finding("missing", v.at, h.writer, 1, "the lines of this writer are gone; %s knows them", who).Last = h.seq
		v.writers[h.writer] = &writer{name: h.writer, seq: h.seq, hash: h.hash, at: v.at, told: true, sealed: h.seq}
		return
	}
	switch {
	case w.seq < h.seq:
		at := position{file: v.at.file}
		v.finding("truncated", at, h.writer, w.seq+1, "missing at the end; %s knows them", who).Last = h.seq
		w.decide(v, true)
		w.seq, w.hash, w.told = h.seq, h.hash, true
	case w.seq == h.seq && w.hash != h.hash && !w.told:
		if w.doubt != nil {
			w.decide(v, false)
		} else {
			v.finding("changed", w.at, h.writer, h.seq, "it is not the line that %s knows", who)
		}
		w.told = true
	}
}

// finish reports what only the end of the log could tell.
func (v *verify) finish() {
	signed := false
	names := make([]string, 0, len(v.writers))
	for name := range v.writers {
		names = append(names, name)
	}
	slices.Sort(names)
	v.report.Writers = len(names)
	for _, name := range names {
		w := v.writers[name]
		w.decide(v, true)
		for _, g := range w.gaps {
			v.finding("missing", g.before, name, g.from, "missing before this line").Last = g.to
		}
		if !w.closed && w.seq > w.sealed && v.key != nil {
			v.note("unsealed", w.at, name, w.sealed+1, "%d lines after its last checkpoint: it is running, or was stopped; that more followed cannot be ruled out", w.seq-w.sealed)
		}
		signed = true
	}
	if signed && v.key == nil {
		v.finding("signature", position{file: v.path}, "", 0, "signatures cannot be checked: %v", v.keyErr)
	}
}
