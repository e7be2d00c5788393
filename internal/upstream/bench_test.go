package upstream

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"
)

// BenchmarkRoundTrip compares one message at a time through a Process with the same through os/exec's pipes, which go
// through the runtime's poller. The server is the same. Only the ratio means anything.
func BenchmarkRoundTrip(b *testing.B) {
	message := append(make([]byte, 150), '\n')
	turn := func(b *testing.B, in io.Writer, out io.Reader) {
		r := bufio.NewReader(out)
		for b.Loop() {
			if _, err := in.Write(message); err != nil {
				b.Fatal(err)
			}
			if _, err := r.ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("blocking", func(b *testing.B) {
		p, err := Start(Spec{Command: self(b), Env: roleEnv("echo")}, os.Stderr)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = p.Stop(cancelled()) }()
		turn(b, p.Stdin(), p.Stdout())
	})
	b.Run("poller", func(b *testing.B) {
		cmd := exec.Command(self(b))
		cmd.Env = roleEnv("echo")
		in, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		defer func() { _, _ = in.Close(), cmd.Wait() }()
		turn(b, in, out)
	})
}
