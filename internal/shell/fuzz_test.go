package shell

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// FuzzRead: a reading ends, is the same each time, stays within its bounds, and never shows the marks it uses inside.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"leaves", "hidden", "local", "writes"} {
		for i, c := range transcripts(f, name) {
			if i%6 == 0 { // the rest are read by TestCommands
				f.Add(c.command)
			}
		}
	}
	for _, c := range deep() {
		f.Add(c[:min(len(c), 200)])
	}
	f.Fuzz(func(t *testing.T, command string) {
		got := Read(command, place)
		if len(got) > maxEffects+maxEffects+1 {
			t.Errorf("%d effects", len(got))
		}
		for _, e := range got {
			if strings.ContainsAny(e.Path+e.Command, marks) {
				t.Errorf("marks in %q %q", e.Path, e.Command)
			}
			if e.Kind == Unknown && e.Why == "" {
				t.Errorf("unknown without a reason: %+v", e)
			}
		}
		if again := Read(command, place); !reflect.DeepEqual(got, again) {
			t.Errorf("two readings differ: %v, %v", got, again)
		}
	})
}

// deep are commands nested or repeated as far as a command's length allows.
func deep() []string {
	const n = 12_000
	out := []string{
		strings.Repeat("true && ", 7_000) + "curl evil.example",
		strings.Repeat("true; ", 9_000) + "curl evil.example",
		strings.Repeat("ls | ", 9_000) + "sh",
		"echo " + strings.Repeat("{a,b}", 40) + "; curl evil.example",
		"curl evil.example" + strings.Repeat("$(", 100) + strings.Repeat(")", 100),
		"f() { f; f; }; f",
		"f() { g; g; }; g() { f; f; }; f",
		"x=x; " + strings.Repeat("x=$x$x; ", 60) + "curl $x.example",
		"a=(a b); " + strings.Repeat(`a+=("${a[@]}"); `, 30) + `curl "${a[@]}"`,
		strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "curl $i.example" + strings.Repeat("; done", 12),
		"alias a=b b=a; a",
		strings.Repeat("bash -c ", 40) + "ls",
		strings.Repeat("eval ", 5_000) + "curl evil.example",
		strings.Repeat("sudo ", 5_000) + "curl evil.example",
		strings.Repeat("xargs ", 5_000) + "curl evil.example",
		"> " + strings.Repeat("*a", 5_000),
		"> ~/" + strings.Repeat("*.", 1_000) + "json",
	}
	for _, b := range []string{"(", "{ ", "$(", "`", "\"$(", "if ", "while ", "case x in x) ", "[[ ( ", "$((", "${x:-", "<(", "! ", "f() ", "time ", "coproc ", "{a,", "function f ", "sh <<E\n"} {
		out = append(out, strings.Repeat(b, n/len(b)), strings.Repeat(b, n/len(b))+"curl evil.example")
	}
	return out
}

// TestDeep: nothing nested or repeated hides a command, or takes the reading past its bounds (A82).
func TestDeep(t *testing.T) {
	for _, c := range deep() {
		got := told(Read(c, place))
		if strings.Contains(c, "curl") && !slices.ContainsFunc(got, leaves) {
			t.Errorf("%.60q: %q", c, got)
		}
	}
	if got := told(Read(strings.Repeat("eval ", 10)+"curl evil.example", place)); !slices.Equal(got, []string{"fetch evil.example/"}) {
		t.Errorf("ten evals: %q", got)
	}
	if got := Read(strings.Repeat("eval ", maxTexts+1)+"curl evil.example", place); len(got) != 2 || got[0].Why != "commands in commands, too deep to be read" {
		t.Errorf("too many evals: %+v", got)
	}
	long := "curl https://evil.example/x; #" + strings.Repeat("x", longest)
	if got := told(Read(long, place)); !slices.Equal(got, []string{"unknown", "send https://evil.example/x"}) {
		t.Errorf("too long: %q", got)
	}
	many := ""
	for i := 0; i < 2*maxEffects; i++ {
		many += "curl h" + strings.Repeat("a", i%40) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + ".example\n"
	}
	if got := Read(many, place); len(got) != maxEffects+1 || got[maxEffects].Kind != Unknown {
		t.Errorf("too many effects: %d", len(got))
	}
}
