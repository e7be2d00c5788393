package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Processes is the system's process table.
var Processes Table = kernTable{}

type kernTable struct{}

const zombie = 5 // SZOMB

func (kernTable) Process(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, errNoProcess
	}
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) { // an answer of no length: there is none
		return Process{}, errNoProcess
	}
	if err != nil {
		return Process{}, err
	}
	if int(k.Proc.P_pid) != pid || k.Proc.P_stat == zombie {
		return Process{}, errNoProcess
	}
	name, _, _ := bytes.Cut(k.Proc.P_comm[:], []byte{0})
	p := Process{PID: pid, Parent: int(k.Eproc.Ppid), Name: string(name), Title: string(name),
		Start: uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec)}
	if raw, err := unix.SysctlRaw("kern.procargs2", pid); err == nil {
		if path, args, ok := procArgs(raw); ok {
			p.Name, p.Args = filepath.Base(path), args
		}
	}
	return p, nil
}

// procArgs takes apart what the kernel keeps of a command line: the number of arguments, the program's path, zero bytes, and
// the arguments, each with one behind it.
func procArgs(raw []byte) (path string, args []string, ok bool) {
	if len(raw) < 4 {
		return "", nil, false
	}
	n := int(binary.LittleEndian.Uint32(raw))
	program, rest, ok := bytes.Cut(raw[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range min(n, 64) {
		var arg []byte
		if arg, rest, ok = bytes.Cut(rest, []byte{0}); !ok {
			break
		}
		args = append(args, string(arg))
	}
	return string(program), args, len(program) > 0
}

func (kernTable) Realm() string { return realm() }

// realm is this boot.
var realm = sync.OnceValue(func() string {
	boot, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return "unknown/"
	}
	return strconv.FormatInt(boot.Sec, 10) + "/"
})
