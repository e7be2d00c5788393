package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Processes is the system's process table.
var Processes Table = procTable{}

type procTable struct{}

// Process reads /proc/PID/stat. The name in it may hold blanks and brackets; what follows the last bracket does not.
func (procTable) Process(pid int) (Process, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return Process{}, errNoProcess
	}
	if err != nil {
		return Process{}, err
	}
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return Process{}, fmt.Errorf("%s/stat cannot be read", dir)
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 20 {
		return Process{}, fmt.Errorf("%s/stat cannot be read", dir)
	}
	if state := fields[0]; state == "Z" || state == "X" {
		return Process{}, errNoProcess
	}
	p := Process{PID: pid, Title: string(stat[open+1 : end])}
	p.Name = p.Title
	p.Parent, err = strconv.Atoi(fields[1])
	if err == nil {
		p.Start, err = strconv.ParseUint(fields[19], 10, 64)
	}
	if err != nil {
		return Process{}, fmt.Errorf("%s/stat cannot be read: %w", dir, err)
	}
	if exe, err := os.Readlink(dir + "/exe"); err == nil {
		p.Name = filepath.Base(strings.TrimSuffix(exe, " (deleted)"))
	}
	if line, err := os.ReadFile(dir + "/cmdline"); err == nil {
		p.Args = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	}
	return p, nil
}

func (procTable) Realm() string { return realm() }

// realm is this boot, and the namespace that process numbers count in: a container has one of its own.
var realm = sync.OnceValue(func() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	id := strings.ReplaceAll(strings.TrimSpace(string(boot)), "-", "")
	return id[:min(len(id), 12)] + "/" + strings.Trim(space, "pid:[]")
})
