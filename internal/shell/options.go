package shell

import "strings"

// option is one option of a program, with its value where it has one.
type option struct {
	name  string // as written: -o, --output
	value word
}

// grammar says which options of a program take a value. The rest are switches. To take a switch for an option with a
// value would hide a word; the other mistake only shows one word too many, so a grammar has what is certain.
type grammar struct {
	short  string          // letters
	long   map[string]bool // names without the dashes
	single bool            // long options have one dash: find -name, openssl -connect
}

func grammarOf(short, long string) grammar {
	g := grammar{short: short, long: map[string]bool{}}
	for _, name := range strings.Fields(long) {
		g.long[name] = true
	}
	return g
}

func singleDash(long string) grammar {
	g := grammarOf("", long)
	g.single = true
	return g
}

// parse splits arguments into options and operands. With stop, the first operand ends the options, as for sudo or env.
func (g grammar) parse(args []word, stop bool) (opts []option, operands []word) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		t := a.text
		next := func() word {
			if i++; i < len(args) {
				return args[i]
			}
			return word{}
		}
		switch {
		case t == "--":
			return opts, append(operands, args[i+1:]...)
		case len(t) < 2 || t[0] != '-' || t[1] == hole:
			if stop {
				return opts, append(operands, args[i:]...)
			}
			operands = append(operands, a)
		case t[1] == '-' || g.single:
			name, v, has := strings.Cut(t, "=")
			switch {
			case has:
				opts = append(opts, option{name, word{v, a.many}})
			case g.long[strings.TrimLeft(name, "-")]:
				opts = append(opts, option{name, next()})
			default:
				opts = append(opts, option{name: name})
			}
		default:
			for j := 1; j < len(t); j++ {
				name := "-" + t[j:j+1]
				if strings.IndexByte(g.short, t[j]) < 0 {
					opts = append(opts, option{name: name})
					continue
				}
				if j+1 < len(t) {
					opts = append(opts, option{name, word{t[j+1:], a.many}})
				} else {
					opts = append(opts, option{name, next()})
				}
				break
			}
		}
	}
	return opts, operands
}

// loose holds for words whose number is not known: any of them may be an option or a destination of its own.
func loose(args []word) bool {
	for _, a := range args {
		if a.many {
			return true
		}
	}
	return false
}

// value returns the last value of an option under any of its names.
func valueOf(opts []option, names ...string) (word, bool) {
	for i := len(opts) - 1; i >= 0; i-- {
		for _, n := range names {
			if opts[i].name == n {
				return opts[i].value, true
			}
		}
	}
	return word{}, false
}
