package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// resident returns the resident memory in kB of a process and everything that it started, but for processes whose
// program has the name except. ok is false where that cannot be known.
func resident(root int, except string) (kb int, ok bool) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil { // it ended meanwhile
			continue
		}
		pid, parent, ok := parseStat(stat)
		if ok {
			children[parent] = append(children[parent], pid)
		}
	}
	for todo := []int{root}; len(todo) > 0; {
		pid := todo[0]
		todo = append(todo[1:], children[pid]...)
		exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		if err != nil || filepath.Base(exe) == except {
			continue
		}
		n, found := statusKB(pid)
		kb += n
		ok = ok || found
	}
	return kb, ok
}

// parseStat reads pid and parent; the name between them is in brackets and may hold anything.
func parseStat(stat []byte) (pid, parent int, ok bool) {
	open, closing := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || closing < open {
		return 0, 0, false
	}
	rest := bytes.Fields(stat[closing+1:])
	if len(rest) < 2 {
		return 0, 0, false
	}
	pid, err1 := strconv.Atoi(string(bytes.TrimSpace(stat[:open])))
	parent, err2 := strconv.Atoi(string(rest[1]))
	return pid, parent, err1 == nil && err2 == nil
}

func statusKB(pid int) (int, bool) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			n, err := strconv.Atoi(string(bytes.Fields(value)[0]))
			return n, err == nil
		}
	}
	return 0, false
}
