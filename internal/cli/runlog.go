package cli

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-bouncer/bouncer/internal/audit"
)

// logFlags say what the log keeps, and for how long. What is not given is the log's own default.
type logFlags struct {
	noArgs  bool
	maxSize byteSize
	maxAge  span
	keep    int
	keepFor span
	mask    []string
}

func (f *logFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.noArgs, "no-args", false, "leave the arguments of calls out of the log")
	flags.StringArrayVar(&f.mask, "mask", nil, "an argument of this `NAME` holds a secret, at any depth and however it is spelled; may be repeated")
	flags.Var(&f.maxSize, "log-max-size", "rotate the log at this `SIZE`, such as 10MiB (default 64MiB)")
	flags.Var(&f.maxAge, "log-max-age", "and when it is of this `AGE`, such as 12h or 7d (default 30d)")
	flags.IntVar(&f.keep, "log-keep", 10, "`NUMBER` of rotated files that are kept")
	flags.Var(&f.keepFor, "log-keep-for", "and no file for longer than this `TIME`, such as 90d (default: until there are too many)")
}

// The least that is taken. Below it the log would be a window of a few calls: enough to lose the one that mattered.
const (
	leastSize = 1 << 20
	leastAge  = time.Hour
)

// options returns what the flags say. The error is for the user.
func (f *logFlags) options() (audit.Options, error) {
	switch {
	case f.maxSize != 0 && f.maxSize < leastSize:
		return audit.Options{}, errors.New("--log-max-size is at least 1MiB")
	case f.maxAge != 0 && time.Duration(f.maxAge) < leastAge:
		return audit.Options{}, errors.New("--log-max-age is at least 1h")
	case f.keepFor != 0 && time.Duration(f.keepFor) < leastAge:
		return audit.Options{}, errors.New("--log-keep-for is at least 1h")
	case f.keep < 1:
		return audit.Options{}, fmt.Errorf("--log-keep is at least 1, not %d", f.keep)
	}
	for _, name := range f.mask {
		// Names are compared by their ASCII letters and digits: one without any would be every such name, or none.
		if !strings.ContainsFunc(name, func(r rune) bool { return r < 0x80 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') }) {
			return audit.Options{}, fmt.Errorf("--mask takes the name of an argument, with ASCII letters or digits in it; %q has none", name)
		}
	}
	return audit.Options{NoArgs: f.noArgs, MaskNames: f.mask, MaxSize: int64(f.maxSize), MaxAge: time.Duration(f.maxAge),
		Keep: f.keep, KeepFor: time.Duration(f.keepFor)}, nil
}

// byteSize is a flag that takes a number of bytes: 1048576, 500KB, 10MiB, 2GiB.
type byteSize int64

var (
	sizeForm = regexp.MustCompile(`^(\d{1,18})([KMG]i?B)?$`)
	spanForm = regexp.MustCompile(`^(\d{1,6})d$`)
)

func (s *byteSize) Set(text string) error {
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return errors.New("it is a number of bytes, KB, MB, GB, KiB, MiB or GiB")
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return err
	}
	unit := map[string]int64{"": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[m[2]]
	if n > math.MaxInt64/4/unit { // the log adds to it
		return errors.New("it is more than any disk holds")
	}
	if n == 0 {
		return errors.New("it is nothing")
	}
	*s = byteSize(n * unit)
	return nil
}

func (s *byteSize) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

func (s *byteSize) Type() string { return "size" }

// span is a flag that takes a time in days as well: 30d, 36h.
type span time.Duration

func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if m := spanForm.FindStringSubmatch(text); m != nil {
		days, _ := strconv.Atoi(m[1])
		d, err = time.Duration(min(days, 100*365))*24*time.Hour, nil // a century is for ever, and an int64 holds it
	}
	if err != nil || d <= 0 {
		return errors.New("it is a time such as 12h or 30d")
	}
	*s = span(d)
	return nil
}

func (s *span) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

func (s *span) Type() string { return "time" }
