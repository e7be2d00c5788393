//go:build unix

package upstream

import (
	"os"
	"os/exec"
	"syscall"
)

// group is the server's process group. npx starts a shell that starts node; a signal to npx alone leaves the server
// running (B08), so signals go to the group.
//
// A process that leaves the group (setsid, a daemon) escapes it. What reaches such a one is the end of its stdin.
type group struct{ id int }

// newGroup prepares cmd to start as the leader of a group of its own. That also keeps the terminal's Ctrl-C from
// reaching the server before Bouncer has answered its client.
func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	setParentDeathSignal(cmd.SysProcAttr)
	return &group{}
}

// adopt learns the group's number. The child called setpgid before it executed the server.
func (g *group) adopt(p *os.Process) error {
	g.id = p.Pid
	return nil
}

// terminate asks the group to end. It reports whether asking is possible here at all.
func (g *group) terminate() bool {
	g.signal(syscall.SIGTERM)
	return true
}

func (g *group) kill() { g.signal(syscall.SIGKILL) }

func (g *group) signal(sig syscall.Signal) error {
	if g.id <= 1 {
		// kill(-0) is Bouncer's own group and the client's, kill(-1) is everything the user runs.
		panic("upstream: signal to a group that was not adopted")
	}
	return syscall.Kill(-g.id, sig)
}

// viaInterpreter has nothing to do: the kernel reads the #! line.
func viaInterpreter(*exec.Cmd) error { return nil }
