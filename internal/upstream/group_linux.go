package upstream

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// setParentDeathSignal is the net for a Bouncer that was killed with SIGKILL and could not stop anything: the kernel
// ends the server. It reaches the direct child only, and not one that is setuid or ignores SIGTERM; most others end
// because their stdin does. What remains are grandchildren that neither read stdin nor care that their parent died.
func setParentDeathSignal(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// alive reports whether a member of the group still runs. Zombies do not count: in a container whose first process
// reaps nobody they stay in the group for ever, and kill(2) takes them for members.
func (g *group) alive() bool {
	if g.signal(0) == syscall.ESRCH {
		return false
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	seen := false
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // gone meanwhile
		}
		state, pgrp := parseStat(stat)
		if pgrp != g.id {
			continue
		}
		if seen = true; state != 'Z' && state != 'X' {
			return true
		}
	}
	// No member seen at all: /proc hides it, or it has just ended. The kernel has the last word.
	return !seen && g.signal(0) != syscall.ESRCH
}

// parseStat reads state and process group from /proc/PID/stat. They stand behind the command name, which is in
// parentheses and may itself contain any byte: a process named "x) R 1 7" must not pass for another group's.
func parseStat(stat []byte) (state byte, pgrp int) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 || len(fields[0]) != 1 {
		return 0, 0
	}
	pgrp, err := strconv.Atoi(string(fields[2]))
	if err != nil {
		return 0, 0
	}
	return fields[0][0], pgrp
}
