package upstream

import (
	"strings"
	"testing"
)

func TestBatchCommandLine(t *testing.T) {
	const head = `cmd.exe /d /v:off /s /c "`
	for _, tc := range []struct {
		script string
		args   []string
		want   string
	}{
		{`C:\n\npx.cmd`, nil, `"C:\n\npx.cmd""`},
		{`C:\Program Files\npx.cmd`, []string{"-y", "pkg"}, `"C:\Program Files\npx.cmd" "-y" "pkg""`},
		{`C:\npx.cmd`, []string{"", "a b", "a&calc", "a|b>c<d^e", "!x!", "(1)"}, `"C:\npx.cmd" "" "a b" "a&calc" "a|b>c<d^e" "!x!" "(1)""`},
		{`C:\npx.cmd`, []string{`C:\dir\`, `a\\`}, `"C:\npx.cmd" "C:\dir\\" "a\\\\""`},
	} {
		got, err := batchCommandLine(tc.script, tc.args)
		if err != nil || got != head+tc.want {
			t.Errorf("%q: got %s, %v", tc.args, got, err)
		}
	}
}

// A83: what would leave its quotes is refused, and the message does not repeat it.
func TestBatchCommandLineRefuses(t *testing.T) {
	for _, arg := range []string{`"&calc`, `secret"`, "%PATH%", "secret%20x", "secret\ncalc", "secret\r", "secret\x00"} {
		got, err := batchCommandLine(`C:\npx.cmd`, []string{"-y", arg})
		if err == nil {
			t.Errorf("%q became %s", arg, got)
		} else if strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "argument 2") {
			t.Errorf("%q: %v", arg, err)
		}
	}
	if _, err := batchCommandLine(`C:\%X%\npx.cmd`, nil); err == nil {
		t.Error("a script path with % is accepted")
	}
}
