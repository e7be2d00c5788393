package cli

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/audit"
	"github.com/mcp-bouncer/bouncer/internal/clientconfig"
)

// parseLog reads flags as bouncer run does.
func parseLog(args ...string) (audit.Options, error) {
	var f logFlags
	cmd := &cobra.Command{}
	f.add(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		return audit.Options{}, err
	}
	return f.options()
}

func TestLogFlags(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		args string
		want audit.Options
	}{
		{"", audit.Options{Keep: 10}}, // the rest is the log's own default
		{"--no-args", audit.Options{Keep: 10, NoArgs: true}},
		{"--mask ssn --mask a,b", audit.Options{Keep: 10, MaskNames: []string{"ssn", "a,b"}}},
		{"--log-max-size 1048576 --log-max-age 1h --log-keep 1 --log-keep-for 90d",
			audit.Options{MaxSize: 1 << 20, MaxAge: time.Hour, Keep: 1, KeepFor: 90 * day}},
		{"--log-max-size 10MiB --log-max-age 7d", audit.Options{MaxSize: 10 << 20, MaxAge: 7 * day, Keep: 10}},
		{"--log-max-size 2GB", audit.Options{MaxSize: 2e9, Keep: 10}},
		{"--log-keep-for 999999d", audit.Options{KeepFor: 36_500 * day, Keep: 10}},
	} {
		got, err := parseLog(strings.Fields(tt.args)...)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.args, err, diff)
		}
	}
}

// A log that holds next to nothing, for ever too little time, or a mask that means nothing, is not what a user wants.
func TestLogFlagsRefuse(t *testing.T) {
	for _, args := range [][]string{
		{"--log-max-size", "1023KiB"}, {"--log-max-size", "0"}, {"--log-max-size", "-1"}, {"--log-max-size", ""}, {"--log-max-size", "1e9"},
		{"--log-max-size", "9999999999GiB"}, {"--log-max-size", "99999999999999999999"}, {"--log-max-size", "10 MiB"}, {"--log-max-size", "10mib"},
		{"--log-max-age", "59m"}, {"--log-max-age", "0"}, {"--log-max-age", "0d"}, {"--log-max-age", "-30d"}, {"--log-max-age", "30"}, {"--log-max-age", "1.5d"},
		{"--log-keep-for", "1s"}, {"--log-keep-for", "never"}, {"--log-keep", "0"}, {"--log-keep", "-1"},
		{"--mask", ""}, {"--mask", "  "}, {"--mask", "пароль"}, {"--mask", "ok", "--mask", "-"},
	} {
		if got, err := parseLog(args...); err == nil {
			t.Errorf("%q is taken: %+v", args, got)
		}
	}
}

// TestSwitchesAreKnown: clientconfig reads the command lines of bouncer run in config files, and has to know which of its
// flags have no value: taken for one that has, a switch hides the flag that follows it.
func TestSwitchesAreKnown(t *testing.T) {
	cmd := newRun()
	cmd.InitDefaultHelpFlag()
	names := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1)
	if len(names) < 10 {
		t.Fatalf("bouncer run has %d flags", len(names))
	}
	for _, name := range names {
		if got, want := clientconfig.TakesValue("--"+name[1]), cmd.Flags().Lookup(name[1]).NoOptDefVal == ""; got != want {
			t.Errorf("--%s takes a value: clientconfig says %t, cobra %t", name[1], got, want)
		}
	}
}
