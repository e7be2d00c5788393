// Command bench measures what standing between a client and a server costs: Bouncer with everything on, next to the
// server alone, byte relays in C and Go, and a proxy built from the official SDK, all in one shuffled run. Only ratios
// of one run mean anything.
//
//	go run ./bench [-rounds N] [-sizes LIST] [-conc LIST] [-calls LIST] [-only LABELS] [-json FILE] [-page FILE]
//
// It must not import the packages that it measures: what it drives are the programs that users run.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

type options struct {
	rounds, starts            int
	sizes, conc, calls, only  string
	json, from, bouncer, dir  string
	server, against, page     string
	settle, think             time.Duration
	markdown, print, complain bool
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 5, "how often everything is measured")
	flag.IntVar(&o.starts, "starts", 3, "how many starts are timed in each round")
	flag.StringVar(&o.sizes, "sizes", "100,10240,1048576", "bytes of text in an answer")
	flag.StringVar(&o.conc, "conc", "1,64", "calls in flight")
	flag.StringVar(&o.calls, "calls", "2000,800,60", "calls of each size in one round; the last number goes on")
	flag.StringVar(&o.only, "only", "", "labels to measure (default: all); "+yardstick+" is always measured")
	flag.StringVar(&o.json, "json", "", "write every measurement to this `FILE`, one JSON object a line")
	flag.StringVar(&o.from, "from", "", "measure nothing; tabulate the rows in this `FILE`")
	flag.StringVar(&o.page, "page", "", "put the tables into the generated part of this `FILE`")
	flag.StringVar(&o.bouncer, "bouncer", "", "measure this `BINARY` instead of building one")
	flag.StringVar(&o.against, "against", "", "further builds of Bouncer to measure: LABEL=BINARY,...")
	flag.StringVar(&o.server, "server", "", "put this null server `BINARY` behind the programs instead of building one")
	flag.StringVar(&o.dir, "dir", "", "build in this directory and leave it there (default: a temporary one)")
	flag.DurationVar(&o.settle, "settle", 100*time.Millisecond, "pause before each measurement")
	flag.DurationVar(&o.think, "think", 0, "pause before each call")
	flag.BoolVar(&o.markdown, "markdown", false, "print the tables for a page")
	flag.BoolVar(&o.complain, "stderr", false, "show what the programs say")
	flag.BoolVar(&o.print, "print-commands", false, "measure nothing; build, and print each label and its command line (needs -dir)")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(o options, out io.Writer) error {
	if o.from != "" {
		f, err := os.Open(o.from)
		if err != nil {
			return err
		}
		defer f.Close()
		rows, err := readRows(f)
		if err != nil {
			return fmt.Errorf("read %s: %w", o.from, err)
		}
		return show(o, out, rows)
	}
	p, err := planOf(o)
	if err != nil {
		return err
	}
	programs, done, err := prepare(o)
	if err != nil {
		return err
	}
	defer done()
	if o.print {
		return printCommands(out, programs)
	}
	rows, err := measureAll(o, programs, p)
	if err != nil {
		return err
	}
	return show(o, out, rows)
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// planOf reads the lists of numbers.
func planOf(o options) (plan, error) {
	var lists [3][]int
	for i, list := range []string{o.sizes, o.conc, o.calls} {
		for field := range strings.SplitSeq(list, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(field))
			if err != nil || n <= 0 {
				return plan{}, fmt.Errorf("%q is no list of positive numbers", list)
			}
			lists[i] = append(lists[i], n)
		}
	}
	p := plan{starts: o.starts, settle: o.settle}
	for i, size := range lists[0] {
		for _, conc := range lists[1] {
			p.batches = append(p.batches, batch{Size: size, Conc: conc, Calls: lists[2][min(i, len(lists[2])-1)], think: o.think})
		}
	}
	return p, nil
}

// prepare builds the programs. done removes what it built.
func prepare(o options) (programs []program, done func(), err error) {
	dir, done := o.dir, func() {}
	switch {
	case dir != "":
		err = os.MkdirAll(dir, 0o700)
	case o.print:
		return nil, nil, fmt.Errorf("-print-commands needs -dir: the commands must still be there afterwards")
	default:
		if dir, err = os.MkdirTemp("", "bouncer-bench-"); err == nil {
			done = func() { os.RemoveAll(dir) }
		}
	}
	if err != nil {
		return nil, nil, err
	}
	programs, err = build(dir, o.bouncer, o.server, list(o.against))
	if err == nil {
		programs, err = choose(programs, list(o.only))
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	if o.complain {
		for i := range programs {
			programs[i].stderr = os.Stderr
		}
	}
	return programs, done, nil
}

// printCommands prints a label, a tab, and a command line without spaces in its words, for other drivers.
func printCommands(out io.Writer, programs []program) error {
	for _, p := range programs {
		words := p.argv
		if len(p.env) > 0 {
			words = append(append([]string{"env"}, p.env...), words...)
		}
		for _, w := range words {
			if strings.ContainsAny(w, " \t\n") {
				return fmt.Errorf("cannot print a command line with a blank in it: %q", w)
			}
		}
		if _, err := fmt.Fprintf(out, "%s\t%s\n", p.label, strings.Join(words, " ")); err != nil {
			return err
		}
	}
	return nil
}

func measureAll(o options, programs []program, p plan) (rows []row, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var log io.Writer = io.Discard
	if o.json != "" {
		f, err := os.Create(o.json)
		if err != nil {
			return nil, err
		}
		defer func() {
			if closeErr := f.Close(); err == nil {
				err = closeErr
			}
		}()
		log = f
	}
	enc := json.NewEncoder(log)
	for n := 1; n <= o.rounds; n++ {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", n, o.rounds)
		got, err := round(n, programs, p)
		if err != nil {
			return nil, fmt.Errorf("round %d: %w", n, err)
		}
		for _, r := range got {
			if err := enc.Encode(r); err != nil {
				return nil, err
			}
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

// order is how programs are listed.
var order = []string{"direct", yardstick, goYardstick, "bouncer", "bouncer-no-rule", "go-sdk"}

func show(o options, out io.Writer, rows []row) error {
	if len(rows) == 0 {
		return fmt.Errorf("nothing was measured")
	}
	tables := results{rows}.tables(order)
	if o.page != "" {
		var body strings.Builder
		body.WriteString(machine(len(results{rows}.rounds())))
		for _, t := range tables {
			t.markdown(&body)
		}
		if err := updatePage(o.page, body.String()); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if o.markdown {
			t.markdown(out)
		} else {
			t.text(out)
		}
	}
	return nil
}
