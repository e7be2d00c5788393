package upstream

import (
	"fmt"
	"strings"
)

// batchCommandLine is the command line with which cmd.exe runs a batch file and hands args on unchanged. cmd.exe does
// not know the usual quoting: inside quotes it still expands %NAME%, and a quote ends them, after which & starts another
// command (A83). What cannot be said safely is refused, not approximated. The error names no value.
//
// It is here, and not beside its only caller, so that it is tested on every platform.
func batchCommandLine(script string, args []string) (string, error) {
	var b strings.Builder
	// /d: no AutoRun command from the registry. /v:off: "!" is a character. /s: strip exactly the outer quotes.
	b.WriteString(`cmd.exe /d /v:off /s /c "`)
	for i, arg := range append([]string{script}, args...) {
		if at := strings.IndexAny(arg, "\"%\r\n\x00"); at >= 0 {
			return "", fmt.Errorf("argument %d contains %q, which cmd.exe would interpret in a batch file; "+
				"configure the program that the batch file starts (for npx: node, then the path of npx-cli.js)", i, arg[at])
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		b.WriteString(arg)
		// The program behind the batch file reads \" as a quote, so backslashes before the closing one are doubled.
		if i > 0 {
			b.WriteString(arg[len(strings.TrimRight(arg, `\`)):])
		}
		b.WriteByte('"')
	}
	b.WriteByte('"')
	return b.String(), nil
}
