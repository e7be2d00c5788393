package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRelayed is BenchmarkRelay's honesty: what it measures works, at every size and depth.
func TestRelayed(t *testing.T) {
	s := relayed(t)
	for _, b := range []batch{{Size: 100, Conc: 1, Calls: 20}, {Size: 100, Conc: 64, Calls: 200}, {Size: 1 << 20, Conc: 3, Calls: 7}, {Size: 100, Conc: 64, Calls: 3}} {
		each, all, err := s.run(b)
		if err != nil {
			t.Fatalf("%+v: %v", b, err)
		}
		if len(each) != b.Calls || all <= 0 {
			t.Errorf("%+v: %d calls timed in %s", b, len(each), all)
		}
	}
}

// scripted is a driver whose program has already said everything.
func scripted(answers string) *driver {
	return newDriver(struct {
		io.Writer
		io.Closer
	}{io.Discard, io.NopCloser(nil)}, strings.NewReader(answers))
}

// Each of these would be a fast "answer", and count as a good one.
func TestRunRefusesWhatIsNoAnswer(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct{ name, answers, want string }{
		{"a denial", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"[bouncer blocked] no` + long + `"}]}}` + "\n", "not the answer"},
		{"too short", `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", "not the answer"},
		{"an unknown id", `{"jsonrpc":"2.0","id":7,"result":"` + long + `"}` + "\n", "no open call"},
		{"an id from before", `{"jsonrpc":"2.0","id":0,"result":"` + long + `"}` + "\n", "no open call"},
		{"no id", `{"jsonrpc":"2.0","result":"` + long + `"}` + "\n", "no open call"},
		{"the same twice", strings.Repeat(`{"jsonrpc":"2.0","id":1,"result":"`+long+`"}`+"\n", 2), "no open call"},
		{"the end", "", "the program ended"},
		{"the end inside a line", `{"jsonrpc":"2.0","id":1,"result":"` + long, "the program ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := scripted(c.answers).run(batch{Size: 100, Conc: 2, Calls: 2})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestRunTakesAnswersInAnyOrder(t *testing.T) {
	long := strings.Repeat("x", 200)
	s := scripted(`{"result":"` + long + `","id":2}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"id":1}}` + "\n" +
		`{"jsonrpc":"2.0","id": 1,"result":"` + long + `"}` + "\n")
	each, _, err := s.run(batch{Size: 100, Conc: 2, Calls: 2})
	if err != nil || len(each) != 2 {
		t.Errorf("%d calls, error %v", len(each), err)
	}
}

func TestLineGrowsItsBuffer(t *testing.T) {
	long := strings.Repeat("y", 9<<20)
	s := scripted("short\n" + long + "\nlast\n")
	for _, want := range []string{"short", long, "last"} {
		line, err := s.line()
		if err != nil || string(line) != want {
			t.Fatalf("line of %d bytes, error %v, want %d bytes", len(line), err, len(want))
		}
	}
}

func TestConnectSaysWhatDidNotWork(t *testing.T) {
	if _, _, err := connect(program{label: "none", argv: []string{filepath.Join(t.TempDir(), "none")}}); err == nil {
		t.Error("a program that does not exist was started")
	}
	if _, _, err := connect(program{label: "mute", argv: []string{os.Args[0]}, env: []string{asServer + "=mute"}}); err == nil || !strings.Contains(err.Error(), "mute") {
		t.Errorf("error %v, want one that names the program", err)
	}
	s, took, err := connect(program{label: "null", argv: []string{os.Args[0]}, env: []string{asServer + "=1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if took <= 0 {
		t.Errorf("it started in %s", took)
	}
}

// A program that never answers is killed, and the error says why.
func TestGuard(t *testing.T) {
	_, _, err := connect(program{label: "deaf", argv: []string{os.Args[0]}, env: []string{asServer + "=deaf"}, patience: 10 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "nothing for") {
		t.Errorf("error %v, want one about patience", err)
	}
}

// One round through the real driver, with the test binary in place of the programs.
func TestRound(t *testing.T) {
	self := func(label string) program {
		return program{label: label, argv: []string{os.Args[0]}, env: []string{asServer + "=1"}}
	}
	p := plan{batches: []batch{{Size: 100, Conc: 1, Calls: 5}, {Size: 100, Conc: 4, Calls: 9}}, starts: 2, settle: time.Millisecond}
	rows, err := round(3, []program{self(yardstick), self("other")}, p)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range rows {
		count[r.Label+" "+r.Kind]++
		if r.Round != 3 || r.Kind == "batch" && (r.P50 <= 0 || r.P99 < r.P50 || r.PerSec <= 0) || r.Kind == "start" && r.StartMs <= 0 {
			t.Errorf("row %+v", r)
		}
	}
	for _, label := range []string{yardstick, "other"} {
		if count[label+" batch"] != 2 || count[label+" start"] != 2 {
			t.Errorf("rows of %s: %v", label, count)
		}
	}
}

// The programs themselves: built, started, and asked for every size once.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds six programs")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		if _, err := exec.LookPath("cc"); err != nil {
			t.Skip("no C compiler")
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("the C programs are for Unix")
	}
	programs, err := build(t.TempDir(), "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	p := plan{batches: []batch{{Size: 100, Conc: 4, Calls: 9}, {Size: 1 << 20, Conc: 2, Calls: 2}}}
	rows, err := round(1, programs, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		if n := len(slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Label != program.label || r.Kind != "batch" })); n != 2 {
			t.Errorf("%s has %d rows", program.label, n)
		}
	}
	if _, err := build(t.TempDir(), "x", "", []string{"label-without-binary"}); err == nil {
		t.Error("a build without a binary was accepted")
	}
}

func TestResults(t *testing.T) {
	at := func(label string, round int, p50 float64) row {
		return row{Label: label, Kind: "batch", Round: round, batch: batch{Size: 100, Conc: 1}, P50: p50}
	}
	rs := results{[]row{
		at(yardstick, 1, 10), at("b", 1, 20), // the machine is fast
		at(yardstick, 2, 100), at("b", 2, 300), // and slow
		at(yardstick, 3, 20), at("b", 3, 40),
		at("b", 4, 1), // nothing to compare with
	}}
	every := func(row) bool { return true }
	if got := rs.ratio("b", yardstick, every, p50); got != 2 {
		t.Errorf("ratio %v, want the median of 2, 3 and 2", got)
	}
	if got := rs.pick("b", every, p50); got != 30 {
		t.Errorf("median %v, want 30", got)
	}
	if got := rs.ratio("b", "absent", every, p50); got != 0 {
		t.Errorf("ratio to nothing is %v", got)
	}
	if diff := cmp.Diff([]string{"b", yardstick}, rs.labels([]string{"b", "absent"})); diff != "" {
		t.Error(diff)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}} {
		if got := median(c.of); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.of, got, c.want)
		}
	}
}

func TestReadRows(t *testing.T) {
	rows, err := readRows(strings.NewReader(`{"Label":"2:c-relay","Kind":"batch","Size":100,"Conc":1,"P50":5.5,"PerSec":10,"RSSIdleKB":7}` + "\n\n" +
		`{"label":"a:b","kind":"start","round":4,"startms":2}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []row{
		{Label: "c-relay", Kind: "batch", Round: 2, batch: batch{Size: 100, Conc: 1}, P50: 5.5, PerSec: 10, IdleKB: 7},
		{Label: "a:b", Kind: "start", Round: 4, StartMs: 2},
	}
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(row{}, batch{})); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"{", `{"label":"x","kind":"fail"}`} {
		if _, err := readRows(strings.NewReader(bad)); err == nil {
			t.Errorf("%s was taken for rows", bad)
		}
	}
}

func TestPlanOf(t *testing.T) {
	p, err := planOf(options{sizes: "100, 200,300", conc: "1,8", calls: "50,5"})
	if err != nil {
		t.Fatal(err)
	}
	want := []batch{{Size: 100, Conc: 1, Calls: 50}, {Size: 100, Conc: 8, Calls: 50}, {Size: 200, Conc: 1, Calls: 5}, {Size: 200, Conc: 8, Calls: 5}, {Size: 300, Conc: 1, Calls: 5}, {Size: 300, Conc: 8, Calls: 5}}
	if diff := cmp.Diff(want, p.batches, cmp.AllowUnexported(batch{})); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "0", "-1", "x", "1,"} {
		if _, err := planOf(options{sizes: bad, conc: "1", calls: "1"}); err == nil {
			t.Errorf("sizes %q were accepted", bad)
		}
	}
}

func TestChoose(t *testing.T) {
	all := []program{{label: "direct"}, {label: yardstick}, {label: "bouncer"}}
	got, err := choose(all, []string{"bouncer"})
	if err != nil || len(got) != 2 || got[0].label != yardstick || got[1].label != "bouncer" {
		t.Errorf("%v, error %v", got, err)
	}
	if _, err := choose(all, []string{"bounce"}); err == nil {
		t.Error("an unknown label was accepted")
	}
}

func TestPrintCommands(t *testing.T) {
	var out bytes.Buffer
	if err := printCommands(&out, []program{{label: "a", argv: []string{"/x/y", "-z"}}, {label: "b", argv: []string{"w"}, env: []string{"H=1"}}}); err != nil {
		t.Fatal(err)
	}
	if want := "a\t/x/y -z\nb\tenv H=1 w\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if printCommands(&out, []program{{label: "a", argv: []string{"/x y"}}}) == nil {
		t.Error("a blank was printed as if it separated words")
	}
}

func TestShowNothing(t *testing.T) {
	if show(options{}, io.Discard, nil) == nil {
		t.Error("no rows made a table")
	}
}

func TestUpdatePage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	for _, c := range []struct {
		name, page, want string // want "" is an error, and an unchanged page
	}{
		{"one part", "a\n" + pageBegin + "old\n" + pageEnd + "b\n", "a\n" + pageBegin + "\nnew\n" + pageEnd + "b\n"},
		{"no part", "a\n", ""},
		{"no end", "a\n" + pageBegin + "old\n", ""},
		{"end first", pageEnd + pageBegin, ""},
		{"two parts", pageBegin + pageEnd + pageBegin + pageEnd, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(c.page), 0o600); err != nil {
				t.Fatal(err)
			}
			err := updatePage(path, "new\n")
			if (err == nil) != (c.want != "") {
				t.Errorf("error %v", err)
			}
			if c.want == "" {
				c.want = c.page
			}
			got, readErr := os.ReadFile(path)
			if readErr != nil || string(got) != c.want {
				t.Errorf("page %q, want %q, error %v", got, c.want, readErr)
			}
		})
	}
}
