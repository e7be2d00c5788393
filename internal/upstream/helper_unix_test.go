//go:build unix

package upstream

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

var politeSignals = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

func init() {
	roles["parent"] = func() { // a server with a child of its own that reads nothing; both ignore EOF
		child := spawn("idle", false)
		fmt.Println(child)
		sleepForever()
	}
	roles["parent-leaves"] = func() { fmt.Println(spawn("stubborn", false)) }
	roles["escaped"] = func() { // its child leaves the group and holds all three pipes
		fmt.Println(spawn("silent", true))
	}
	roles["bouncer"] = func() { // a Bouncer that gets no chance to stop anything
		p, err := Start(Spec{Command: must(os.Executable()), Env: append(os.Environ(), roleVar+"=idle")}, os.Stderr)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		_, _ = io.ReadFull(p.Stdout(), make([]byte, len("ready\n")))
		fmt.Println(p.Pid())
		sleepForever()
	}
	roles["write-to-nobody"] = func() { // its stdout and stderr have no reader
		_, out := Stdio()
		_, outErr := out.Write([]byte("x\n"))
		_, errErr := Stderr().Write([]byte("x\n"))
		if isEPIPE(outErr) && isEPIPE(errErr) {
			os.Exit(7)
		}
		os.Exit(1)
	}
	roles["nonblocking-stdin"] = func() { // says what it reads through Stdio
		in, out := Stdio()
		_, _ = out.WriteString("ready\n")
		data, err := io.ReadAll(in)
		fmt.Fprintf(out, "%q %v\n", data, err)
	}
}

func spawn(role string, leave bool) int {
	cmd := exec.Command(must(os.Executable()))
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: leave}
	if leave {
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		return cmd.Process.Pid
	}
	out := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	_, _ = io.ReadFull(out, make([]byte, len("ready\n"))) // signals are set up
	return cmd.Process.Pid
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// running reports whether pid is more than a zombie: orphans go to the first process, which may reap late or never.
func running(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	if runtime.GOOS != "linux" {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	return !bytes.HasPrefix(after, []byte(" Z"))
}
