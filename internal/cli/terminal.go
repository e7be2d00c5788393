package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/mattn/go-isatty"
)

// desk is a person at an interactive terminal: what an agent's shell or a pipe is not.
type desk struct {
	in  *bufio.Reader
	out io.Writer
}

// errNoTerminal is what a command gets that only a person may use.
var errNoTerminal = errors.New("this needs a person at an interactive terminal: a pipe, a script or an agent's shell cannot do it")

// atTerminal opens the terminal of this process. Standard input has to be one as well: who pipes something in has a program
// answer.
func atTerminal() (desk, func(), error) {
	if !isatty.IsTerminal(os.Stdin.Fd()) {
		return desk{}, nil, errNoTerminal
	}
	if runtime.GOOS == "windows" {
		return desk{bufio.NewReader(io.LimitReader(os.Stdin, 64<<10)), os.Stderr}, func() {}, nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0) // the controlling one, whatever stdin was made to be
	if err != nil {
		return desk{}, nil, errNoTerminal
	}
	return desk{bufio.NewReader(io.LimitReader(tty, 64<<10)), tty}, func() { tty.Close() }, nil
}

// ask reads one of words, three times at most. Enter is none of them, and neither is a hang-up.
func (d desk) ask(prompt string, words map[string]string) (string, bool) {
	for range 3 {
		fmt.Fprint(d.out, prompt)
		line, err := d.in.ReadString('\n')
		if err != nil {
			fmt.Fprintln(d.out)
			return "", false
		}
		line = strings.Join(strings.Fields(strings.ToLower(line)), " ")
		if word, ok := words[line]; ok {
			return word, true
		}
		if line != "" {
			fmt.Fprintf(d.out, "%q is none of the answers.\n", line)
		}
	}
	return "", false
}
